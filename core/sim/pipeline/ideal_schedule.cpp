#include "core/sim/pipeline/ideal_schedule.h"

#include <algorithm>
#include <map>

namespace strato {

PassTimes pass_times(const StageRows& rows, const StagePlan& plan) {
  PassTimes times(plan.chunk_count());
  for (const StageRow& row : rows.rows) {
    std::size_t bubble = 0;
    for (const StageCell& cell : row.cells) {
      Nanos& time = times[at(cell.cell.chunk)][static_cast<std::size_t>(cell.cell.pass)];
      time += cell.end - cell.begin;
      while (bubble < row.bubbles.size() && row.bubbles[bubble].end <= cell.begin) ++bubble;
      for (; bubble < row.bubbles.size() && row.bubbles[bubble].end <= cell.end; ++bubble)
        time -= row.bubbles[bubble].end - row.bubbles[bubble].begin;
    }
  }
  for (auto& of_chunk : times)
    for (Nanos& time : of_chunk) time = time / std::max(1, plan.micro_batches().count);
  return times;
}

PassesLength passes_as_run(const StageRows& rows, const StagePlan& plan, const PassTimes& times) {
  PassesLength run;
  for (const StageRow& row : rows.rows)
    if (!row.cells.empty()) run.length = std::max(run.length, row.cells.back().end);
  Nanos work;
  for (const auto& of_chunk : times)
    for (const Nanos time : of_chunk) work += time * plan.micro_batches().count;
  if (run.length > Nanos(0))
    run.bubble = 1 - work / run.length / static_cast<double>(rows.rows.size());
  return run;
}

PassTimes equal_times(const PassTimes& times) {
  std::array<Nanos, 3> mean{};
  for (const auto& of_chunk : times)
    for (std::size_t pass = 0; pass < mean.size(); ++pass) mean[pass] += of_chunk[pass];
  for (Nanos& time : mean) time = time / std::max<std::int64_t>(1, std::ssize(times));
  return PassTimes(times.size(), mean);
}

PassesLength ideal_schedule(const ScheduleTable& table, const StagePlan& plan,
                            const PassTimes& times) {
  PassesLength ideal;
  std::map<ScheduleCell, Nanos> ends;
  std::vector<std::size_t> next(table.size());
  std::vector<Nanos> free(table.size());
  Nanos work;
  const auto run = [&](std::size_t row) {
    const ScheduleCell& cell = table[row][next[row]];
    Nanos start = free[row];
    for (const ScheduleCell& from : plan.awaited(cell)) {
      const auto made = ends.find(from);
      if (made == ends.end()) return false;
      start = std::max(start, made->second);
    }
    const Nanos takes = times[at(cell.chunk)][static_cast<std::size_t>(cell.pass)];
    free[row] = ends[cell] = start + takes;
    work += takes;
    return ++next[row], true;
  };
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t row = 0; row < table.size(); ++row)
      while (next[row] < table[row].size() && run(row)) goes_on = true;
  }
  for (const Nanos end : free) ideal.length = std::max(ideal.length, end);
  if (ideal.length > Nanos(0))
    ideal.bubble = 1 - work / ideal.length / static_cast<double>(table.size());
  return ideal;
}

}  // namespace strato
