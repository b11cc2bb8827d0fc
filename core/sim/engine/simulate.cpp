#include "core/sim/engine/simulate.h"

#include <utility>

#include "core/sim/engine/simulation_engine.h"
#include "core/sim/memory/memory_account.h"

namespace strato {

struct Simulator::Parts {
  SimulationEngine engine;
  TaskSchedule schedule;
  MemoryAccount memory;
};

Simulator::Simulator() : parts_(std::make_unique<Parts>()) {}
Simulator::~Simulator() = default;

void Simulator::simulate(std::shared_ptr<const Program> program, const SimulateOptions& options,
                         Timeline& timeline) {
  timeline.program = std::move(program);
  timeline.options = options;
  const Program& simulated = *timeline.program;
  reset_devices(*simulated.cluster, timeline);
  for (const Resident& resident : simulated.residents)
    (resident.on_host ? timeline.hosts[simulated.cluster->device(resident.device).machine].resident
                      : timeline.devices[resident.device].resident) += resident.bytes;
  TaskSchedule& schedule = parts_->schedule;
  std::swap(schedule.times, timeline.tasks);  // whose array is used again
  parts_->engine.run(simulated, options, schedule);
  take_figures(TaskRows(simulated), schedule, parts_->memory, timeline);
  std::swap(schedule.times, timeline.tasks);
}

Timeline Simulator::simulate(std::shared_ptr<const Program> program,
                             const SimulateOptions& options) {
  Timeline timeline;
  simulate(std::move(program), options, timeline);
  return timeline;
}

}  // namespace strato
