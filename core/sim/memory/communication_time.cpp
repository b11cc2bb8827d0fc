#include "core/sim/memory/communication_time.h"

#include <array>

#include "core/sim/timeline/spans.h"

namespace strato {
namespace {

// By stream, in the order of starts.
using DeviceSpans = std::array<Spans, kStreams>;

Spans& of(DeviceSpans& spans, Stream stream) { return spans[static_cast<std::size_t>(stream)]; }

IdVector<DeviceId, DeviceSpans> spans_of(const TaskRows& tasks, const TaskSchedule& schedule,
                                         std::size_t devices) {
  const Program& program = tasks.program();
  IdVector<DeviceId, DeviceSpans> spans(devices);
  const auto computes = [&](std::int32_t only) {
    const ResourceId resource(static_cast<std::size_t>(only));
    return !program.is_link(resource) && Program::kind_of(resource) == Stream::Compute;
  };
  for (const TaskSchedule::Taken& taken : schedule.order) {
    if (taken.stream >= 0 && computes(taken.stream)) continue;
    const auto row = static_cast<std::size_t>(tasks.row(static_cast<std::size_t>(taken.task)));
    const TaskTimes& times = schedule.times[TaskId(static_cast<std::size_t>(taken.task))];
    for (const ResourceId resource : program.resources[row]) {
      if (program.is_link(resource)) break;
      of(spans[Program::device_of(resource)], Program::kind_of(resource))
          .push_back({times.start, times.end});
    }
  }
  return spans;
}

}  // namespace

void take_communication_time(const TaskRows& tasks, const TaskSchedule& schedule,
                             IdVector<DeviceId, DeviceUse>& devices) {
  const Program& program = tasks.program();
  bool both = false;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto busy = [&](Stream stream) {
      return Nanos(schedule.resources[program.stream(DeviceId(d), stream).index()].busy);
    };
    const Nanos one = busy(Stream::Communication), other = busy(Stream::TensorCommunication);
    devices[DeviceId(d)].communication_busy = one + other;
    both = both || (one > Nanos(0) && other > Nanos(0));
  }
  if (!both) return;
  IdVector<DeviceId, DeviceSpans> spans = spans_of(tasks, schedule, devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    DeviceSpans& own = spans[DeviceId(d)];
    devices[DeviceId(d)].communication_busy -=
        overlap(of(own, Stream::Communication), of(own, Stream::TensorCommunication));
  }
}

}  // namespace strato
