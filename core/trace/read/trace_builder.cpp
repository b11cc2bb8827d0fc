#include "core/trace/read/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace strato::trace {
namespace {

bool comes_before(const Event& a, const Event& b) {
  return std::tuple(a.start, b.duration, a.lane, a.name, a.correlation) <
         std::tuple(b.start, a.duration, b.lane, b.name, b.correlation);
}

bool is_same(const Event& a, const Event& b) {
  return a.start == b.start && a.duration == b.duration && a.lane == b.lane && a.name == b.name &&
         a.correlation == b.correlation && a.kind == b.kind;
}

}  // namespace

std::string counted(std::int64_t count, std::string_view what) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return fmt::format("{} {}{}", digits, what, count == 1 ? "" : "s");
}

TraceBuilder::TraceBuilder(std::string file, Format format, std::stop_token stop)
    : stop_(std::move(stop)) {
  trace_.file = std::move(file);
  trace_.format = format;
}

LaneId TraceBuilder::lane(bool on_device, std::int64_t process, std::int64_t thread) {
  const auto [found, is_new] =
      lanes_.try_emplace({on_device, process, thread}, trace_.lanes.next_id());
  if (is_new) trace_.lanes.push_back({on_device, process, thread, ""});
  return found->second;
}

GroupId TraceBuilder::group(const Group& known) {
  const auto [found, is_new] = groups_.try_emplace(known.name, trace_.groups.next_id());
  if (is_new) trace_.groups.push_back({known.name, "", 0, {}});
  Group& group = trace_.groups[found->second];
  if (group.description.empty()) group.description = known.description;
  if (group.size == 0) group.size = known.size;
  if (group.ranks.empty()) {
    group.ranks = known.ranks;
    std::ranges::sort(group.ranks);
  }
  return found->second;
}

void TraceBuilder::add(Event event) {
  if (stop_.stop_requested()) throw ReadingStopped{};
  if (event.duration < Nanos(0)) {
    ++negative_;
    return;
  }
  if (trace_.events.size() == kMostEvents)
    throw InputError(trace_.file, "", fmt::format("has more than {} events", kMostEvents),
                     "record fewer steps");
  constexpr Nanos most(2'000'000'000'000'000'000);
  if (event.duration > most - total_)
    throw InputError(trace_.file, "", "has durations of more than 63 years altogether",
                     "record it again");
  total_ += event.duration;
  trace_.events.push_back(event);
}

void TraceBuilder::drop_repeated() {
  std::vector<Event>& events = trace_.events;
  const auto last = std::unique(events.begin(), events.end(), is_same);
  const auto repeated = events.end() - last;
  // An order of nodes without times tells nothing of repetitions.
  if (repeated == 0 || !trace_.timed) return;
  events.erase(last, events.end());
  remark(fmt::format("{} there more than once; one of each was used.",
                     counted(repeated, "event") + (repeated == 1 ? " is" : " are")));
}

// A stream runs one kernel after the other; clocks that are corrected afterwards say otherwise.
void TraceBuilder::remark_on_overlaps() {
  IdVector<LaneId, Nanos> ends(trace_.lanes.size(), Nanos(INT64_MIN));
  std::int64_t overlaps = 0;
  for (const Event& event : trace_.events) {
    if (!runs_on_device(event.kind)) continue;
    Nanos& end = ends[event.lane];
    overlaps += event.start < end ? 1 : 0;
    end = std::max(end, event.end());
  }
  if (overlaps > 0)
    remark(
        fmt::format("{} before the one before on the same stream ends; time that several take is "
                    "counted once.",
                    counted(overlaps, "kernel") + (overlaps == 1 ? " starts" : " start")));
}

void TraceBuilder::drop_absurd_times() {
  const auto absurd = [](Nanos time) {
    constexpr Nanos first(-400'000'000'000'000'000), last(2'500'000'000'000'000'000);  // 2049
    return time < first || time > last;
  };
  const auto dropped =
      std::erase_if(trace_.events, [&](const Event& event) { return absurd(event.start); });
  std::erase_if(trace_.memory, [&](const MemorySample& sample) { return absurd(sample.at); });
  if (dropped > 0)
    remark(fmt::format(
        "{} left out: their times are of no year that a profiler saw.",
        counted(static_cast<std::int64_t>(dropped), "event") + (dropped == 1 ? " was" : " were")));
}

Trace TraceBuilder::finish() {
  drop_absurd_times();
  if (trace_.timed) {
    std::ranges::sort(trace_.events, comes_before);
    std::ranges::stable_sort(trace_.memory, {}, &MemorySample::at);
    drop_repeated();
    remark_on_overlaps();
  }
  if (negative_ > 0)
    remark(fmt::format("{} a negative duration; {} left out.",
                       counted(negative_, "event") + (negative_ == 1 ? " has" : " have"),
                       negative_ == 1 ? "it was" : "they were"));
  return std::move(trace_);
}

}  // namespace strato::trace
