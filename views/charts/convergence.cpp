#include "views/charts/convergence.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "views/charts/convergence_view.h"
#include "views/style/text.h"

namespace strato {
namespace {

ConvergenceLine line_of_run(const ConvergenceRun& run, ConvergenceOver over, ConvergenceOf of) {
  ConvergenceLine line{run.name, {}};
  const auto put = [&](double x, std::int64_t best_ns) {
    const double y = of == ConvergenceOf::StepTime
                         ? static_cast<double>(best_ns) * 1e-6
                         : static_cast<double>(run.baseline.value) / static_cast<double>(best_ns);
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    x = std::max(x, line.points.empty() ? 0.0 : line.points.back().x());  // clocks may step back
    if (!line.points.empty() && line.points.back().y() != y)
      line.points.emplace_back(x, line.points.back().y());
    line.points.emplace_back(x, y);
  };
  if (of == ConvergenceOf::Speedup && run.baseline <= Nanos(0)) return line;
  for (const HistoryPoint& point : run.history) {
    if (point.best_ns <= 0) continue;
    put(over == ConvergenceOver::Evaluations ? static_cast<double>(point.evaluations)
                                             : point.elapsed_seconds,
        point.best_ns);
  }
  if (!line.points.empty()) {  // as far as it has come
    const double end =
        over == ConvergenceOver::Evaluations ? static_cast<double>(run.evaluations) : run.seconds;
    if (std::isfinite(end) && end > line.points.back().x())
      line.points.emplace_back(end, line.points.back().y());
  }
  line.points = decimated(line.points, kMostPoints / 2);
  return line;
}

constexpr double kFarWorse = 2.5;  // times

// Of what the lines settle at: where each begins is far off, and would press all others flat. So
// would a run that ends far above the best, which is beyond the end of the axis then.
StepRange y_range_of(std::vector<ConvergenceLine>& lines, ConvergenceOf of) {
  double low = INFINITY, high = -INFINITY, best = of == ConvergenceOf::StepTime ? INFINITY : 0;
  for (const ConvergenceLine& line : lines) {
    if (line.points.empty()) continue;
    const double end = line.points.back().y();
    best = of == ConvergenceOf::StepTime ? std::min(best, end) : std::max(best, end);
  }
  const auto is_far = [&](double y) {
    return of == ConvergenceOf::StepTime ? y > best * kFarWorse : y * kFarWorse < best;
  };
  for (ConvergenceLine& line : lines) {
    if (line.points.empty()) continue;
    line.outside = is_far(line.points.back().y());
    const double span = line.points.back().x() - line.points.front().x();
    const double settled = line.points.front().x() + 0.02 * span;
    for (const QPointF& point : line.points) {
      if (point.x() < settled && point != line.points.back()) continue;
      if (is_far(point.y())) continue;
      low = std::min(low, point.y());
      high = std::max(high, point.y());
    }
  }
  if (!(low <= high)) return {};
  const double spread = std::max(high - low, 0.02 * std::abs(high));
  StepRange range;
  range.tick = round_up(spread / 5);
  range.low = std::max(0.0, std::floor((low - 0.05 * spread) / range.tick) * range.tick);
  range.high = std::ceil((high + 0.05 * spread) / range.tick) * range.tick;
  if (range.high <= range.low) range.high = range.low + range.tick;
  return range;
}

}  // namespace

std::vector<ConvergenceRun> read_runs(const Workspace& workspace, const std::vector<RunRow>& runs) {
  std::map<ModelRow, QString> models;
  std::map<ClusterRow, QString> clusters;
  for (const StoredModel& model : workspace.problems().models())
    models[model.id] = text(model.name);
  for (const StoredCluster& cluster : workspace.problems().clusters())
    clusters[cluster.id] = text(cluster.name);
  std::vector<ConvergenceRun> read;
  for (const RunRow row : runs) {
    if (read.size() >= kMostLines) break;
    if (std::ranges::find(read, row, &ConvergenceRun::run) != read.end()) continue;
    const auto stored = workspace.runs().find(row);
    if (!stored) continue;
    read.push_back(
        {row, QStringLiteral("%1 #%2").arg(text(stored->planner)).arg(row),
         ConvergenceView::tr("%1 on %2").arg(models[stored->model], clusters[stored->cluster]),
         stored->state, Nanos(stored->baseline_ns), stored->evaluations, stored->wall_seconds,
         workspace.runs().history(row)});
  }
  return read;
}

std::vector<RunRow> latest_runs(const Workspace& workspace, const Digest& model,
                                const Digest& cluster, std::size_t most) {
  std::map<ModelRow, bool> models;
  std::map<ClusterRow, bool> clusters;
  for (const StoredModel& row : workspace.problems().models()) models[row.id] = row.digest == model;
  for (const StoredCluster& row : workspace.problems().clusters())
    clusters[row.id] = row.digest == cluster;
  std::vector<RunRow> rows;
  for (const StoredRun& run : workspace.runs().all())
    if (models[run.model] && clusters[run.cluster]) rows.push_back(run.id);
  if (rows.size() > most) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
  return rows;
}

ConvergenceChart chart_of(const std::vector<ConvergenceRun>& runs, ConvergenceOver over,
                          ConvergenceOf of) {
  ConvergenceChart chart;
  double last = 0;
  for (const ConvergenceRun& run : runs) {
    chart.lines.push_back(line_of_run(run, over, of));
    if (!chart.lines.back().points.empty())
      last = std::max(last, chart.lines.back().points.back().x());
  }
  if (last <= 0) last = 1;
  chart.x_range = {0, last, round_up(last / 5)};
  chart.y_range = y_range_of(chart.lines, of);
  return chart;
}

bool are_of_one_problem(const std::vector<ConvergenceRun>& runs) {
  return std::ranges::all_of(
      runs, [&](const ConvergenceRun& run) { return run.problem == runs.front().problem; });
}

}  // namespace strato
