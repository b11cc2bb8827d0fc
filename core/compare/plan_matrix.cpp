#include "core/compare/plan_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/compare/changes.h"
#include "core/search/run/problem_change.h"

namespace strato {
namespace {

MatrixPlan matrix_plan(const PlanToCompare& plan) {
  const Timeline& timeline = *plan.outcome.timeline;
  MatrixPlan result;
  result.figures = plan_figures(plan);
  result.price = plan_price(plan);
  if (const DeviceId fullest = fullest_device(timeline); fullest.valid()) {
    result.fullest = timeline.program->cluster->device(fullest).name;
    result.peak = timeline.devices[fullest].peak;
    result.capacity = timeline.devices[fullest].capacity;
  }
  for (const TrafficChange& traffic : traffic_changes(timeline, timeline))
    (traffic.inside ? result.sent_inside : result.sent_between) += traffic.bytes.to;
  return result;
}

Nanos spread_of(const std::vector<Nanos>& times) {
  if (times.empty()) return {};
  const auto [least, most] = std::ranges::minmax(times);
  return most - least;
}

constexpr auto kSpread = [](const auto& row) { return row.spread(); };

// A plan's side of a row of the reference, of so many plans.
void note(MatrixRow& row, std::size_t plan, std::size_t plans, const std::string& decision,
          Nanos time, bool differs) {
  row.decisions.resize(plans, "-");
  row.times.resize(plans);
  row.decisions[plan] = decision;
  row.times[plan] = time;
  row.differs |= differs;
}

// By what names them in the comparison of each plan with the reference.
template <class Key>
std::vector<MatrixRow> sorted(std::map<Key, MatrixRow> rows) {
  for (auto& [key, row] : rows)
    row.differs |= std::ranges::adjacent_find(row.decisions, std::ranges::not_equal_to()) !=
                   row.decisions.end();
  return largest_first(rows, kSpread);
}

std::string percent_more(double above) {
  return above < 0.0005 ? "as long" : percent_text(above) + " longer";
}

std::string named_fastest(const PlanFigures& fastest, std::size_t plans, std::size_t fitting) {
  if (plans == 1) return "There is one plan, " + fastest.label;
  if (fitting == 1) return fastest.label + " is the only plan that fits";
  const bool all = fitting == 0 || fitting == plans;
  return fmt::format("{} is the fastest of {} plans{}", fastest.label, all ? plans : fitting,
                     all ? "" : " that fit");
}

}  // namespace

Nanos MatrixRow::spread() const { return spread_of(times); }
Nanos MatrixCause::spread() const { return spread_of(times); }

double MatrixPlan::seconds_per_sample() const {
  return to_seconds(figures.step_time) /
         static_cast<double>(std::max<std::int64_t>(1, figures.batch));
}

double PlanMatrix::above_best(std::size_t plan) const {
  const double least = plans[best()].seconds_per_sample();
  return least > 0 ? plans[plan].seconds_per_sample() / least - 1 : 0;
}

std::size_t PlanMatrix::best() const {
  const auto better = [](const MatrixPlan& a, const MatrixPlan& b) {
    if (a.figures.fits != b.figures.fits) return a.figures.fits;
    return a.seconds_per_sample() < b.seconds_per_sample();
  };
  return static_cast<std::size_t>(std::ranges::min_element(plans, better) - plans.begin());
}

PlanMatrix compare_many(std::span<const PlanToCompare> plans) {
  CHECK(!plans.empty(), "there is a reference");
  const PlanToCompare& reference = plans.back();
  const std::vector<PathPiece> reference_path = path_pieces(*reference.outcome.timeline);
  PlanMatrix matrix;
  std::map<std::pair<Reason, std::string>, MatrixCause> causes;
  std::map<GroupId, MatrixRow> groups;
  std::map<OpId, MatrixRow> variables;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const PlanToCompare& plan = plans[p];
    const OpMatch match = match_ops(*plan.problem.graph, *reference.problem.graph);
    matrix.plans.push_back(matrix_plan(plan));
    matrix.plans.back().unmatched_ops = match.only_from.size();
    matrix.same_model &= match.same_graph;
    matrix.same_cluster &= plan.problem.cluster->digest() == reference.problem.cluster->digest();
    const Pair<std::vector<PathPiece>> paths{path_pieces(*plan.outcome.timeline), reference_path};
    for (const Cause& cause :
         step_causes(*plan.outcome.timeline, paths.from, *plan.outcome.timeline, paths.from)) {
      MatrixCause& all = causes[{*cause.reason, cause.text}];
      all.text = cause.text;
      all.times.resize(plans.size());
      all.times[p] += cause.from;
    }
    for (const GroupChange& each : group_changes(plan, reference, match, paths)) {
      if (!each.group.valid()) continue;
      MatrixRow& row = groups[each.group];
      row.group = each.group;
      row.name = each.name;
      note(row, p, plans.size(), each.decision.from, each.on_path.from, each.differs);
    }
    for (const VariableChange& each : variable_changes(plan, reference, match)) {
      if (!each.update.valid()) continue;
      MatrixRow& row = variables[each.update];
      row.update = each.update;
      row.name = each.name;
      note(row, p, plans.size(), each.synchronised.from, each.communication.from, each.differs);
    }
  }
  matrix.causes = largest_first(causes, kSpread);
  matrix.groups = sorted(std::move(groups));
  matrix.variables = sorted(std::move(variables));
  return matrix;
}

// The others in the order of their times; those that do not fit are told apart.
std::string sentence_of(const PlanMatrix& matrix) {
  const std::size_t best = matrix.best();
  const MatrixPlan& fastest = matrix.plans[best];
  std::vector<std::size_t> others;
  std::string too_large;
  std::size_t fitting = 0;
  bool same_batch = true;
  for (std::size_t p = 0; p < matrix.plans.size(); ++p) {
    const PlanFigures& figures = matrix.plans[p].figures;
    same_batch &= figures.batch == fastest.figures.batch;
    fitting += figures.fits ? 1 : 0;
    if (p != best && figures.fits == fastest.figures.fits) others.push_back(p);
    if (!figures.fits)
      too_large += fmt::format(" {} does not fit into memory: {}.", figures.label, figures.why_not);
  }
  std::ranges::stable_sort(others, {}, [&](std::size_t p) { return matrix.above_best(p); });
  const bool none_fits = fitting == 0;
  std::string text = named_fastest(fastest.figures, matrix.plans.size(), fitting);
  text += fmt::format(": {} a step", time_text(fastest.figures.step_time));
  text += same_batch ? std::string(".") : fmt::format(" of {} samples.", fastest.figures.batch);
  for (std::size_t i = 0; i < others.size(); ++i)
    text += fmt::format("{} {}{} {}",
                        i > 0        ? ","
                        : same_batch ? ""
                                     : " By the sample,",
                        matrix.plans[others[i]].figures.label, i == 0 ? " takes" : "",
                        percent_more(matrix.above_best(others[i])));
  if (!others.empty()) text += ".";
  return text + (none_fits ? " None of them fits into memory." : too_large);
}

}  // namespace strato
