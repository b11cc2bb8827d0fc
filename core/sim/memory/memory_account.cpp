#include "core/sim/memory/memory_account.h"

#include <algorithm>
#include <limits>

#include "core/sim/memory/communication_time.h"

namespace strato {

namespace {

// The device whose compute stream this is, or the number of devices: it is none. Without a branch,
// which would be taken at random.
std::size_t computing_device(std::int32_t stream, std::size_t devices) {
  static_assert(static_cast<int>(Stream::Compute) == 0);
  const auto index = static_cast<std::uint32_t>(stream);
  const bool computes = (index < kStreams * devices) & (index % kStreams == 0);
  return computes ? index / kStreams : devices;
}

}  // namespace

inline void MemoryAccount::DeviceEvents::add(MemoryEvent event) {
  sorted = sorted && (others.empty() || !(event < others.back()));
  others.push_back(event);
}

void MemoryAccount::start(const TaskRows& tasks, const TaskSchedule& schedule,
                          const SimulatedStep& figures) {
  const std::size_t devices = figures.devices.size();
  last_readers_.assign(tasks.program().buffers.size(), LastReader());
  devices_.resize(devices + 1 + figures.hosts.size());
  for (DeviceEvents& device : devices_) {
    device.compute.clear();
    device.others.clear();
    device.sorted = true;
  }
  of_task_.resize(tasks.size());
  for (const TaskSchedule::Taken& taken : schedule.order) {
    const std::size_t device = computing_device(taken.stream, devices);
    const auto task = static_cast<std::size_t>(taken.task);
    of_task_[task] = {device < devices ? 0 : kCommunicates, 0};
    devices_[device].compute.emplace_back(task);
  }
}

void MemoryAccount::find_last_readers(const TaskRows& tasks, const TaskSchedule& schedule) {
  const Program& program = tasks.program();
  const std::size_t count = tasks.size();
  for (std::size_t task = 0; task < count; ++task) {
    const std::int32_t row = tasks.row(task);
    if (row < 0) continue;
    const std::int64_t end = schedule.times[TaskId(task)].end.value;
    for (const BufferId id : program.reads[static_cast<std::size_t>(row)])
      if (LastReader& last = last_readers_[id.index()]; end > last.end)
        last = {end, static_cast<std::int32_t>(task)};
  }
}

MemoryAccount::DeviceEvents& MemoryAccount::events_of(const Program& program,
                                                      const Buffer& buffer) {
  if (!buffer.on_host) return devices_[buffer.device.index()];
  const Cluster& cluster = *program.cluster;
  return devices_[cluster.device_count() + 1 + cluster.device(buffer.device).machine.index()];
}

void MemoryAccount::take_and_release(const TaskRows& tasks, const TaskSchedule& schedule) {
  const Program& program = tasks.program();
  const std::size_t count = tasks.size();
  for (std::size_t task = 0; task < count; ++task) {
    const std::int32_t row = tasks.row(task);
    if (row < 0) continue;
    const TaskTimes& times = schedule.times[TaskId(task)];
    for (const BufferId id : program.writes[static_cast<std::size_t>(row)]) {
      const Buffer& buffer = program.buffers[id];
      DeviceEvents& device = events_of(program, buffer);
      if (of_task_[task].taken == kCommunicates) {
        device.add(MemoryEvent::take(times.start, buffer.held()));
      } else {
        of_task_[task].taken += buffer.held().value;
      }
      LastReader last = last_readers_[id.index()];
      if (last.task < 0) last = {times.end.value, static_cast<std::int32_t>(task)};
      TaskBytes& reader = of_task_[static_cast<std::size_t>(last.task)];
      if (reader.taken == kCommunicates) {
        device.add(MemoryEvent::release(Nanos(last.end), buffer.held()));
      } else {
        reader.released += buffer.held().value;
      }
    }
  }
}

// Running sums over what the compute stream takes and releases, and the others.
MemoryPeak MemoryAccount::merge(DeviceEvents& events, const TaskSchedule& schedule,
                                Bytes resident) const {
  if (!events.sorted) std::sort(events.others.begin(), events.others.end());
  events.others.push_back({std::numeric_limits<std::int64_t>::max(), 0});
  MemoryPeak peak(resident);
  const MemoryEvent* other = events.others.data();
  const auto add = [&](MemoryEvent event) {
    while (*other < event) peak.add(*other++);
    peak.add(event);
  };
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < events.compute.size(); ++i) {
    if (i + kAhead < events.compute.size()) {
      const TaskId later = events.compute[i + kAhead];
      __builtin_prefetch(&schedule.times[later]);
      __builtin_prefetch(&of_task_[later.index()]);
    }
    const TaskTimes& times = schedule.times[events.compute[i]];
    const TaskBytes& bytes = of_task_[events.compute[i].index()];
    add(MemoryEvent::take(times.start, Bytes(bytes.taken)));
    add(MemoryEvent::release(times.end, Bytes(bytes.released)));
  }
  while (other + 1 < events.others.data() + events.others.size()) peak.add(*other++);
  return peak;
}

void MemoryAccount::measure(const TaskRows& tasks, const TaskSchedule& schedule,
                            SimulatedStep& figures) {
  start(tasks, schedule, figures);
  find_last_readers(tasks, schedule);
  take_and_release(tasks, schedule);
  const auto take = [&](std::size_t events, auto& use) {
    const MemoryPeak peak = merge(devices_[events], schedule, use.resident);
    use.peak = peak.bytes();
    use.peak_at = peak.at();
  };
  const std::size_t devices = figures.devices.size();
  for (std::size_t d = 0; d < devices; ++d) take(d, figures.devices[DeviceId(d)]);
  for (std::size_t m = 0; m < figures.hosts.size(); ++m)
    take(devices + 1 + m, figures.hosts[MachineId(m)]);
}

void reset_devices(const Cluster& cluster, SimulatedStep& figures) {
  figures.devices.assign(cluster.device_count(), DeviceUse());
  for (std::size_t d = 0; d < figures.devices.size(); ++d)
    figures.devices[DeviceId(d)].capacity = cluster.gpu(DeviceId(d)).memory;
  figures.hosts.assign(cluster.machines().size(), HostUse());
  for (const MachineId machine : figures.hosts.ids())
    figures.hosts[machine].capacity = cluster.machines()[machine].host_memory;
}

void take_figures(const TaskRows& tasks, const TaskSchedule& schedule, MemoryAccount& memory,
                  SimulatedStep& figures) {
  const Program& program = tasks.program();
  const auto busy = [&](ResourceId id) { return Nanos(schedule.resources[id.index()].busy); };
  memory.measure(tasks, schedule, figures);
  figures.step_time = schedule.step_time;
  figures.feasible = true;
  for (std::size_t d = 0; d < figures.devices.size(); ++d) {
    DeviceUse& use = figures.devices[DeviceId(d)];
    use.compute_busy = busy(program.compute_stream(DeviceId(d)));
    figures.feasible = figures.feasible && use.fits();
  }
  for (const HostUse& host : figures.hosts) figures.feasible = figures.feasible && host.fits();
  take_communication_time(tasks, schedule, figures.devices);
  figures.link_busy.resize(program.cluster->links().size());
  for (std::size_t l = 0; l < figures.link_busy.size(); ++l)
    figures.link_busy[LinkId(l)] = busy(program.link(LinkId(l)));
}

}  // namespace strato
