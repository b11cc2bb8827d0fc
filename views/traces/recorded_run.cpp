#include "views/traces/recorded_run.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/parallel.h"
#include "core/trace/analyse/communication.h"

namespace strato {
namespace {

using trace::Activity;
using trace::Interval;
using trace::Trace;

// When anything was recorded of a trace, on its own clock.
Interval window_of(const Trace& trace) {
  Interval window{Nanos::max(), Nanos(INT64_MIN)};
  bool kernels = false;
  for (const trace::Event& event : trace.events) {
    const bool on_device = runs_on_device(event.kind);
    if (kernels && !on_device) continue;
    if (on_device && !kernels) window = {Nanos::max(), Nanos(INT64_MIN)};
    kernels = on_device;
    window.begin = std::min(window.begin, event.start);
    window.end = std::max(window.end, event.end());
  }
  return window.begin < window.end ? window : Interval{Nanos(0), Nanos(0)};
}

// A rank whose clock could not be aligned begins with the others, unless it was recorded beside
// them.
std::vector<Nanos> shifts_of(const RecordedRun& run, std::vector<Interval>& windows) {
  std::vector<Nanos> shifts(windows.size());
  Nanos origin = Nanos::max();
  for (const bool aligned : {true, false}) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const bool is_first = origin == Nanos::max();
      if (run.analysis.alignment.aligned[i] != aligned) continue;
      shifts[i] = run.analysis.alignment.offset[i];
      const Interval& first = windows.front();
      const bool beside = windows[i].begin < first.end && first.begin < windows[i].end;
      if (!aligned && !is_first && !beside) shifts[i] = origin - windows[i].begin;
      origin = std::min(origin, windows[i].begin + shifts[i]);
    }
  }
  for (Nanos& shift : shifts) shift -= origin;
  return shifts;
}

std::vector<RecordedStep> steps_of(const RecordedRun& run) {
  struct Sum {
    RecordedStep step;
    std::int64_t ranks = 0;
  };
  std::map<std::int64_t, Sum> sums;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    for (const trace::Step& each : run.analysis.ranks[i].steps.steps) {
      const Nanos begin = each.time.begin + run.rows[i].shift,
                  end = each.time.end + run.rows[i].shift;
      const auto [found, is_new] =
          sums.try_emplace(each.number, Sum{{each.number, begin, end, Nanos(0), true}});
      auto& [step, ranks] = found->second;
      step.begin = std::max(Nanos(0), std::min(step.begin, begin));
      step.end = std::max(step.end, end);
      step.length += each.time.length();
      step.steady = step.steady && each.steady;
      ++ranks;
    }
  }
  std::vector<RecordedStep> steps;
  for (auto& [number, sum] : sums) {
    sum.step.length = Nanos(sum.step.length.value / sum.ranks);
    steps.push_back(sum.step);
  }
  std::ranges::stable_sort(steps, {}, &RecordedStep::begin);
  return steps;
}

// Looks of names, found once each.
class Looks {
 public:
  explicit Looks(const Trace& trace) : trace_(trace), known_(trace.names.size()) {}

  std::uint8_t of(const trace::Event& event) {
    if (!runs_on_device(event.kind)) return kHost;
    std::optional<std::uint8_t>& look = known_[event.name.index()];
    if (look && !event.call.valid()) return *look;
    look = found(event);
    return *look;
  }

 private:
  std::uint8_t found(const trace::Event& event) const {
    switch (trace::kernel_type(event.kind, trace_.name(event))) {
      case trace::KernelType::Computation:
        return kComputing;
      case trace::KernelType::Communication:
        return look_of(Activity::Communicating, trace::collective_of(trace_, event));
      default:
        return kOther;
    }
  }

  const Trace& trace_;
  std::vector<std::optional<std::uint8_t>> known_;
};

template <class Visit>  // of the part of each slice that is in [begin, end)
void visit_parts(const RecordedSlices& row, Nanos begin, Nanos end, Visit visit) {
  for (std::size_t i = row.first_after(static_cast<double>(begin.value));
       i < row.size() && row.start[i] < end.value; ++i)
    visit(row.look[i],
          Nanos(std::min(row.end[i], end.value) - std::max(row.start[i], begin.value)));
}

}  // namespace

std::uint8_t look_of(Activity activity, trace::Collective collective) {
  switch (activity) {
    case Activity::Computing:
      return kComputing;
    case Activity::Communicating:
      return static_cast<std::uint8_t>(kFirstCollective + static_cast<int>(collective));
    case Activity::Other:
      return kOther;
    case Activity::HostWait:
      return kHostWait;
    case Activity::KernelWait:
      return kKernelWait;
    case Activity::Idle:
      return kIdle;
  }
  return kIdle;
}

RankRow make_rank_row(std::int64_t rank, const trace::Course& course, Nanos shift) {
  RankRow row;
  row.rank = rank;
  row.shift = shift;
  const auto add = [&](const trace::Stretch& each, RecordedSlices& into) {
    into.add((each.time.begin + shift).value, (each.time.end + shift).value,
             look_of(each.activity, each.collective));
  };
  for (const trace::Stretch& each : course.stretches)
    add(each, each.activity < Activity::HostWait ? row.busy : row.idle);
  for (const trace::Stretch& each : course.hidden) add(each, row.hidden);
  return row;
}

bool RecordedRun::timed() const {
  return std::ranges::any_of(set.traces, [](const Trace& trace) { return trace.timed; });
}

bool RecordedRun::has_kernels() const {
  return std::ranges::any_of(rows, [](const RankRow& row) { return row.busy.size() > 0; });
}

bool RecordedRun::is_late(std::size_t index) const {
  return std::ranges::any_of(analysis.stragglers, [&](const trace::Straggler& straggler) {
    return straggler.index == index;
  });
}

std::shared_ptr<const RecordedRun> make_run(std::filesystem::path path, trace::TraceSet set) {
  auto run = std::make_shared<RecordedRun>();
  run->path = std::move(path);
  run->set = std::move(set);
  trace::AnalysisOptions options;
  options.most_kernels = 500;  // and operators
  run->analysis = trace::analyse(run->set.traces, options);
  const std::vector<Trace>& traces = run->set.traces;
  std::vector<Interval> windows(traces.size());
  for (std::size_t i = 0; i < traces.size(); ++i)
    if (traces[i].timed) windows[i] = window_of(traces[i]);
  const std::vector<Nanos> shifts = shifts_of(*run, windows);
  run->rows.resize(traces.size());
  parallel_for(traces.size(), 0, [&](std::size_t i) {
    trace::Course course;
    if (traces[i].timed) course = course_of(traces[i], trace::kernels_of(traces[i]));
    run->rows[i] = make_rank_row(traces[i].rank.value_or(0), course, shifts[i]);
  });
  for (std::size_t i = 0; i < traces.size(); ++i)
    run->length = std::max(run->length, windows[i].end + shifts[i]);
  run->steps = steps_of(*run);
  for (const RecordedStep& step : run->steps) run->length = std::max(run->length, step.end);
  return run;
}

std::vector<StreamRow> streams_of(const RecordedRun& run, std::size_t index) {
  const Trace& trace = run.set.traces[index];
  const std::int64_t shift = run.rows[index].shift.value;
  const bool on_device = std::ranges::any_of(
      trace.events, [](const trace::Event& event) { return runs_on_device(event.kind); });
  IdVector<trace::LaneId, RecordedSlices> by_lane(trace.lanes.size());
  Looks looks(trace);
  for (std::size_t i = 0; trace.timed && i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    if (runs_on_device(event.kind) != on_device) continue;
    RecordedSlices& slices = by_lane[event.lane];
    const std::int64_t end = event.end().value + shift;
    std::int64_t begin = event.start.value + shift;
    if (slices.size() > 0) begin = std::max(begin, slices.end.back());
    if (begin > end || (begin == end && event.duration > Nanos(0))) continue;
    slices.add(begin, end, looks.of(event));
    slices.event.push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<StreamRow> streams;
  for (const trace::LaneId lane : by_lane.ids())
    if (by_lane[lane].size() > 0) streams.push_back({lane, std::move(by_lane[lane])});
  return streams;
}

Nanos RangeTimes::exposed() const {
  Nanos sum;
  for (int look = kFirstCollective; look < kOther; ++look)
    sum += by[static_cast<std::size_t>(look)];
  return sum;
}

Nanos RangeTimes::idle() const { return by[kHostWait] + by[kKernelWait] + by[kIdle]; }

RangeTimes times_in(const RankRow& row, Nanos begin, Nanos end) {
  RangeTimes times;
  times.whole = end - begin;
  Nanos known;
  for (const RecordedSlices* slices : {&row.busy, &row.idle}) {
    visit_parts(*slices, begin, end, [&](std::uint8_t look, Nanos time) {
      times.by[look] += time;
      known += time;
    });
  }
  times.by[kIdle] += times.whole - known;
  visit_parts(row.hidden, begin, end, [&](std::uint8_t, Nanos time) { times.hidden += time; });
  return times;
}

}  // namespace strato
