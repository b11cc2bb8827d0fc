#include "core/sim/memory/step_figures.h"

namespace strato {

void reset_devices(const Cluster& cluster, SimulatedStep& figures) {
  figures.devices.assign(cluster.device_count(), DeviceUse());
  for (std::size_t d = 0; d < figures.devices.size(); ++d)
    figures.devices[DeviceId(d)].capacity = cluster.gpu(DeviceId(d)).memory;
}

void take_figures(const TaskRows& tasks, const TaskSchedule& schedule, MemoryAccount& memory,
                  SimulatedStep& figures) {
  const Program& program = tasks.program();
  const auto busy = [&](ResourceId id) { return Nanos(schedule.resources[id.index()].busy); };
  memory.measure(tasks, schedule, figures.devices);
  figures.step_time = schedule.step_time;
  figures.feasible = true;
  for (std::size_t d = 0; d < figures.devices.size(); ++d) {
    DeviceUse& use = figures.devices[DeviceId(d)];
    use.compute_busy = busy(program.compute_stream(DeviceId(d)));
    use.communication_busy = busy(program.communication_stream(DeviceId(d)));
    figures.feasible = figures.feasible && use.fits();
  }
  figures.link_busy.resize(program.cluster->links().size());
  for (std::size_t l = 0; l < figures.link_busy.size(); ++l)
    figures.link_busy[LinkId(l)] = busy(program.link(LinkId(l)));
}

}  // namespace strato
