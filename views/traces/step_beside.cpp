#include "views/traces/step_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/quantity_text.h"
#include "views/timeline/timeline_rows.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

using Means = std::array<double, kLooks>;

trace::Collective collective_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::AllReduce:
      return trace::Collective::AllReduce;
    case TaskKind::AllGather:
      return trace::Collective::AllGather;
    case TaskKind::ReduceScatter:
      return trace::Collective::ReduceScatter;
    case TaskKind::AllToAll:
      return trace::Collective::AllToAll;
    case TaskKind::Reduce:
      return trace::Collective::Reduce;
    case TaskKind::Broadcast:
      return trace::Collective::Broadcast;
    default:
      return trace::Collective::SendReceive;
  }
}

struct DeviceWork {
  std::vector<trace::Interval> computing, other;
  std::vector<trace::Stretch> communication;
};

// What a device of a simulated step does, by the rows of the timeline.
std::vector<DeviceWork> work_of(const TimelineRows& rows) {
  const Program& program = *rows.timeline->program;
  std::vector<DeviceWork> work(program.cluster->device_count());
  for (const TimelineRow& row : rows.rows) {
    if (row.kind != RowKind::Compute && row.kind != RowKind::Communication) continue;
    DeviceWork& its = work[row.device.index()];
    for (std::size_t i = 0; i < row.slices.size(); ++i) {
      const trace::Interval time{Nanos(row.slices.start[i]), Nanos(row.slices.end[i])};
      const TaskKind kind = program.tasks[row.slices.task[i]].kind;
      if (kind == TaskKind::Offload || kind == TaskKind::Fetch)
        its.other.push_back(time);
      else if (is_communication(kind))
        its.communication.push_back({time, trace::Activity::Communicating, collective_of(kind)});
      else
        its.computing.push_back(time);
    }
  }
  return work;
}

void add(const RangeTimes& times, Means& sums) {
  for (std::size_t look = 0; look < kLooks; ++look)
    sums[look] += static_cast<double>(times.by[look].value);
}

// Idle for any reason but the host is one cause.
Means divided(Means sums, double count) {
  sums[kIdle] += std::exchange(sums[kKernelWait], 0);
  for (double& each : sums) each /= std::max(1.0, count);
  return sums;
}

Nanos total_of(const Means& means) {
  double sum = 0;
  for (const double each : means) sum += each;
  return Nanos(std::llround(sum));
}

std::string words_of(std::size_t look) {
  if (look == kHostWait) return "waiting for the host";
  if (look == kIdle) return "idle time";
  const std::string name = name_of_look(static_cast<std::uint8_t>(look)).toStdString();
  return look >= kFirstCollective && look < kOther ? "exposed " + name : name;
}

Cause cause_of(std::size_t look, Nanos from, Nanos to) {
  Cause cause;
  cause.reason = look == kComputing  ? Reason::Compute
                 : look < kOther     ? Reason::Collective
                 : look == kHostWait ? Reason::Process
                                     : Reason::Reshuffle;
  cause.text = words_of(look);
  cause.from = from;
  cause.to = to;
  return cause;
}

// What is lost by rounding goes to the last cause with time.
std::vector<Cause> causes_of(const Means& from, const Means& to) {
  std::vector<Cause> causes;
  Nanos from_left = total_of(from), to_left = total_of(to);
  for (std::size_t look = 0; look < kLooks; ++look) {
    if (look == kIdle) continue;
    const Nanos a(std::llround(from[look])), b(std::llround(to[look]));
    from_left -= a;
    to_left -= b;
    if (a != b) causes.push_back(cause_of(look, a, b));
  }
  if (from_left != to_left) causes.push_back(cause_of(kIdle, from_left, to_left));
  std::ranges::stable_sort(causes, std::greater(),
                           [](const Cause& cause) { return std::abs(cause.change().value); });
  return causes;
}

}  // namespace

std::vector<RankRow> simulated_rows(const std::shared_ptr<const Timeline>& timeline) {
  const TimelineRows rows = make_rows(timeline);
  std::vector<RankRow> result;
  for (DeviceWork& work : work_of(rows)) {
    std::ranges::stable_sort(work.communication, {},
                             [](const trace::Stretch& each) { return each.time.begin; });
    trace::Course course =
        make_course(trace::merged(std::move(work.computing)), std::move(work.communication),
                    trace::merged(std::move(work.other)));
    result.push_back(make_rank_row(static_cast<std::int64_t>(result.size()), course, Nanos(0)));
  }
  for (std::size_t d = 0; timeline->is_outline() && d < result.size(); ++d) {
    const std::size_t like = timeline->like[DeviceId(d)].index();
    if (like == d) continue;
    result[d] = result[like];
    result[d].rank = static_cast<std::int64_t>(d);
  }
  return result;
}

std::optional<PlanComparison> compare_step(const Timeline& timeline,
                                           const std::vector<RankRow>& simulated,
                                           const std::string& label, const RecordedRun& run) {
  Means recorded{}, planned{};
  double steps = 0;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const Nanos shift = run.rows[i].shift;
    for (const trace::Step& step : run.analysis.ranks[i].steps.steps) {
      if (!step.steady) continue;
      add(times_in(run.rows[i], step.time.begin + shift, step.time.end + shift), recorded);
      ++steps;
    }
  }
  if (steps == 0) return std::nullopt;
  for (const RankRow& row : simulated) add(times_in(row, Nanos(0), timeline.step_time), planned);
  const Means from = divided(planned, static_cast<double>(simulated.size())),
              to = divided(recorded, steps);
  PlanComparison comparison;
  comparison.plans.from.label = label;
  comparison.plans.from.step_time = total_of(from);
  comparison.plans.to.label = "Recorded";
  comparison.plans.to.step_time = total_of(to);
  comparison.causes = causes_of(from, to);
  comparison.sentence = sentence_of_step(comparison);
  return comparison;
}

std::string sentence_of_step(const PlanComparison& comparison) {
  const Nanos from = comparison.plans.from.step_time, to = comparison.plans.to.step_time;
  const Nanos change = to - from;
  std::string text = fmt::format("A recorded step takes {}", time_text(to));
  if (change == Nanos(0)) return text + ", as simulated.";
  text += fmt::format(", {} {} than simulated", time_text(Nanos(std::abs(change.value))),
                      change > Nanos(0) ? "more" : "less");
  if (from > Nanos(0)) text += fmt::format(" ({})", percent_text(std::abs(change / from)));
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(most, comparison.causes.size()); ++i) {
    const Nanos part = comparison.causes[i].change();
    text += fmt::format("{}{} {} {}", i == 0 ? ": " : ", ", time_text(Nanos(std::abs(part.value))),
                        part > Nanos(0) ? "more" : "less", comparison.causes[i].text);
  }
  return text + ".";
}

}  // namespace strato
