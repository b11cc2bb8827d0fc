#include "views/traces/range_figures.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "core/base/parallel.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

struct FigureWords {
  Q_DECLARE_TR_FUNCTIONS(FigureWords)
};

// Of all ranks by name.
std::vector<trace::KernelTime> together(const std::vector<std::vector<trace::KernelTime>>& ranks) {
  std::map<std::string_view, trace::KernelTime> sums;
  for (const auto& rank : ranks) {
    for (const trace::KernelTime& each : rank) {
      const auto [found, is_new] = sums.try_emplace(each.name, each);
      if (is_new) continue;
      trace::KernelTime& sum = found->second;
      sum.count += each.count;
      sum.total += each.total;
      sum.longest = std::max(sum.longest, each.longest);
    }
  }
  std::vector<trace::KernelTime> result;
  for (auto& [name, sum] : sums) result.push_back(std::move(sum));
  std::ranges::stable_sort(result, std::greater(), &trace::KernelTime::total);
  return result;
}

FigureCell time_cell(Nanos time, Nanos whole = Nanos(0)) {
  FigureCell cell{time == Nanos(0) ? QStringLiteral("–") : style::time(time),
                  static_cast<double>(time.value)};
  if (whole > Nanos(0)) cell.tip = FigureWords::tr("%1 of it").arg(style::percent(time / whole));
  return cell;
}

FigureCell count_cell(std::int64_t count) {
  return {QString::number(count), static_cast<double>(count)};
}

FigureCell bytes_cell(Bytes bytes) {
  return {bytes > Bytes(0) ? style::bytes(bytes) : QStringLiteral("–"),
          static_cast<double>(bytes.value)};
}

QString exposed_tip(const RangeTimes& times) {
  QStringList lines;
  for (int look = kFirstCollective; look < kOther; ++look) {
    const Nanos time = times.by[static_cast<std::size_t>(look)];
    if (time > Nanos(0))
      lines << QStringLiteral("%1: %2").arg(name_of_look(static_cast<std::uint8_t>(look)),
                                            style::time(time));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

RangeFigures figures_in(const RecordedRun& run, const std::optional<TimeRange>& range,
                        const std::optional<std::size_t>& only_rank) {
  RangeFigures figures;
  const std::size_t count = run.rows.size();
  const TimeRange stretch = range.value_or(TimeRange{Nanos(0), run.length});
  figures.ranks.resize(count);
  std::vector<std::vector<trace::KernelTime>> kernels(count);
  std::vector<std::vector<trace::CommunicationTime>> communication(count);
  parallel_for(count, 0, [&](std::size_t i) {
    const trace::Trace& trace = run.set.traces[i];
    figures.ranks[i] = times_in(run.rows[i], stretch.begin, stretch.end);
    if (only_rank && *only_rank != i) return;
    if (!trace.timed) {
      communication[i] = run.analysis.ranks[i].communication;
      return;
    }
    const trace::Interval own{stretch.begin - run.rows[i].shift, stretch.end - run.rows[i].shift};
    const auto found = trace::kernels_of(trace, range ? &own : nullptr);
    kernels[i] = trace::longest_kernels(trace, found, found.size());
    communication[i] = trace::communication(trace, found);
  });
  figures.kernels = together(kernels);
  figures.communication = trace::communication_of_all(run.set.traces, communication);
  return figures;
}

FigureRows rank_rows(const RecordedRun& run, const RangeFigures& figures) {
  FigureRows table;
  table.long_words = false;
  table.headers = {
      FigureWords::tr("Rank"),   FigureWords::tr("Computing"), FigureWords::tr("Exposed"),
      FigureWords::tr("Hidden"), FigureWords::tr("Other"),     FigureWords::tr("Host wait"),
      FigureWords::tr("Idle"),   FigureWords::tr("Last at"),   FigureWords::tr("Others waited")};
  table.tips = {{},
                FigureWords::tr("At least one computation runs"),
                FigureWords::tr("Communication runs, and nothing computes"),
                FigureWords::tr("Communication runs under computation"),
                FigureWords::tr("Only copies and the like run"),
                FigureWords::tr("Nothing runs: the next kernel had not been launched"),
                FigureWords::tr("Nothing runs, for another reason"),
                FigureWords::tr("Collectives of the whole run that it was the last to begin"),
                FigureWords::tr("For this rank, in the whole run, all together")};
  const auto& arrivals = run.analysis.arrivals;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const RangeTimes& times = figures.ranks[i];
    const bool late = run.is_late(i);
    const QString rank = QString::number(run.rows[i].rank);
    std::vector<FigureCell> row = {{late ? FigureWords::tr("%1 ▲ late").arg(rank) : rank,
                                    static_cast<double>(run.rows[i].rank) + 1},
                                   time_cell(times.by[kComputing], times.whole),
                                   time_cell(times.exposed(), times.whole),
                                   time_cell(times.hidden, times.whole),
                                   time_cell(times.by[kOther], times.whole),
                                   time_cell(times.by[kHostWait], times.whole),
                                   time_cell(times.by[kKernelWait] + times.by[kIdle], times.whole)};
    if (times.exposed() > Nanos(0)) row[2].tip += QLatin1Char('\n') + exposed_tip(times);
    if (arrivals.empty()) {
      for (int i = 0; i < 2; ++i) row.push_back({QStringLiteral("–")});
    } else {
      row.push_back({FigureWords::tr("%1 of %2").arg(arrivals[i].last).arg(arrivals[i].matched),
                     static_cast<double>(arrivals[i].last)});
      row.push_back(time_cell(arrivals[i].held_up));
    }
    table.rows.push_back(std::move(row));
    table.strong.push_back(late);
  }
  return table;
}

FigureRows kernel_rows(const RecordedRun& run, const RangeFigures& figures) {
  FigureRows table;
  table.words = 2;
  if (!run.timed()) {
    table.headers = {FigureWords::tr("Operator"), FigureWords::tr("Kind"), FigureWords::tr("Calls"),
                     FigureWords::tr("Time")};
    for (const trace::OperatorCount& each : run.analysis.operators)
      table.rows.push_back({{text(each.name)},
                            {FigureWords::tr("operator")},
                            count_cell(each.count),
                            time_cell(each.time)});
    return table;
  }
  table.headers = {FigureWords::tr("Kernel"), FigureWords::tr("Kind"), FigureWords::tr("Calls"),
                   FigureWords::tr("Total"), FigureWords::tr("Longest")};
  for (const trace::KernelTime& each : figures.kernels)
    table.rows.push_back({{text(each.name)},
                          {QString::fromUtf8(name_of(each.type))},
                          count_cell(each.count),
                          time_cell(each.total),
                          time_cell(each.longest)});
  return table;
}

FigureRows communication_rows(const RangeFigures& figures) {
  FigureRows table;
  table.words = 2;
  table.headers = {FigureWords::tr("Group"),   FigureWords::tr("Collective"),
                   FigureWords::tr("Calls"),   FigureWords::tr("Time"),
                   FigureWords::tr("Exposed"), FigureWords::tr("Sent")};
  table.tips = {{},
                {},
                {},
                FigureWords::tr("Of all ranks together"),
                FigureWords::tr("Beside which nothing computes"),
                {}};
  for (const trace::CommunicationSum& each : figures.communication)
    table.rows.push_back({{text(each.group)},
                          {QString::fromUtf8(name_of(each.collective))},
                          count_cell(each.count),
                          time_cell(each.busy),
                          time_cell(each.exposed),
                          bytes_cell(each.sent)});
  return table;
}

}  // namespace strato
