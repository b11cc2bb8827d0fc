#include "core/trace/analyse/course.h"

#include <algorithm>

#include "core/trace/analyse/communication.h"
#include "core/trace/device/breakdown.h"
#include "core/trace/device/launches.h"

namespace strato::trace {
namespace {

// One after the other; of one kind and without a gap they are one.
std::vector<Stretch> in_line(std::vector<Stretch> any) {
  std::vector<Stretch> line;
  for (Stretch& each : any) {
    if (!line.empty()) each.time.begin = std::max(each.time.begin, line.back().time.end);
    if (each.time.begin >= each.time.end) continue;
    if (!line.empty() && line.back().time.end == each.time.begin &&
        line.back().collective == each.collective)
      line.back().time.end = each.time.end;
    else
      line.push_back(each);
  }
  return line;
}

// Adds what of `line` is outside of `computing` to `course`, and what is inside to what is hidden.
void divide(const std::vector<Stretch>& line, const Intervals& computing, Course& course) {
  std::size_t from = 0;
  for (Stretch rest : line) {
    while (from < computing.size() && computing[from].end <= rest.time.begin) ++from;
    const auto cut = [&](Nanos end, std::vector<Stretch>& into) {
      if (end > rest.time.begin) into.push_back(rest), into.back().time.end = end;
      rest.time.begin = std::max(rest.time.begin, end);
    };
    for (std::size_t i = from; i < computing.size() && computing[i].begin < rest.time.end; ++i) {
      cut(computing[i].begin, course.stretches);
      cut(std::min(computing[i].end, rest.time.end), course.hidden);
    }
    cut(rest.time.end, course.stretches);
  }
}

void add(const Intervals& times, Activity activity, std::vector<Stretch>& into) {
  for (const Interval& each : times) into.push_back({each, activity, Collective::Unknown});
}

Intervals times_of(std::span<const Stretch> stretches) {
  std::vector<Interval> times;
  for (const Stretch& each : stretches) times.push_back(each.time);
  return merged(std::move(times));
}

}  // namespace

Course make_course(const Intervals& computing, std::vector<Stretch> communication,
                   const Intervals& other) {
  for (Stretch& each : communication) each.activity = Activity::Communicating;
  const std::vector<Stretch> line = in_line(std::move(communication));
  Course course;
  divide(line, computing, course);
  add(computing, Activity::Computing, course.stretches);
  add(minus(minus(other, computing), times_of(line)), Activity::Other, course.stretches);
  const Intervals busy = times_of(course.stretches);
  if (!busy.empty())
    add(minus({{busy.front().begin, busy.back().end}}, busy), Activity::Idle, course.stretches);
  std::ranges::sort(course.stretches, {}, [](const Stretch& each) { return each.time.begin; });
  return course;
}

Course course_of(const Trace& trace, std::span<const Kernel> kernels) {
  std::vector<Stretch> communication;
  for (const Kernel& kernel : kernels) {
    if (kernel.type != KernelType::Communication) continue;
    communication.push_back({{kernel.event->start, kernel.event->end()},
                             Activity::Communicating,
                             collective_of(trace, *kernel.event)});
  }
  Course course =
      make_course(busy(kernels, KernelType::Computation), std::move(communication), busy(kernels));
  const Launches launches(trace);
  auto next = kernels.begin();
  for (Stretch& each : course.stretches) {
    if (each.activity != Activity::Idle) continue;
    while (next != kernels.end() && next->event->start < each.time.end) ++next;
    const Event* launch = next == kernels.end() ? nullptr : launches.of(*next->event);
    if (launch != nullptr && launch->start > each.time.begin)
      each.activity = Activity::HostWait;
    else if (each.time.length() < kConsecutiveDelay)
      each.activity = Activity::KernelWait;
  }
  return course;
}

}  // namespace strato::trace
