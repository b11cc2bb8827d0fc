#include "core/sim/engine/simulate.h"

#include "core/sim/engine/event_engine.h"
#include "core/sim/engine/fifo_engine.h"

namespace strato {
namespace {

// Everything that an engine does not set, so that a reused timeline keeps nothing.
void reset(Timeline& timeline, std::shared_ptr<const Program> program,
           const SimulateOptions& options) {
  timeline.program = std::move(program);
  timeline.options = options;
  timeline.step_time = Nanos(0);
  timeline.feasible = true;
  const Cluster& cluster = *timeline.program->cluster;
  timeline.devices.assign(cluster.device_count(), DeviceUse());
  for (std::size_t d = 0; d < timeline.devices.size(); ++d)
    timeline.devices[DeviceId(d)].capacity = cluster.gpu(DeviceId(d)).memory;
}

void spread(const std::vector<Nanos>& busy, Timeline& timeline) {
  const Program& program = *timeline.program;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    DeviceUse& use = timeline.devices[DeviceId(d)];
    use.compute_busy = busy[program.compute_stream(DeviceId(d)).index()];
    use.communication_busy = busy[program.communication_stream(DeviceId(d)).index()];
    timeline.feasible = timeline.feasible && use.fits();
  }
  timeline.link_busy.assign(busy.begin() + static_cast<std::ptrdiff_t>(2 * timeline.devices.size()),
                            busy.end());
}

}  // namespace

struct Simulator::State {
  FifoEngine fifo;
  EventEngine events;
  std::vector<Nanos> busy;  // by resource
};

Simulator::Simulator() : state_(std::make_unique<State>()) {}
Simulator::~Simulator() = default;

void Simulator::simulate(std::shared_ptr<const Program> program, const SimulateOptions& options,
                         Timeline& timeline) {
  reset(timeline, std::move(program), options);
  const Program& simulated = *timeline.program;
  if (options.fair_links || !state_->fifo.run(simulated, timeline, state_->busy))
    state_->events.run(simulated, timeline, state_->busy);
  spread(state_->busy, timeline);
}

Timeline Simulator::simulate(std::shared_ptr<const Program> program,
                             const SimulateOptions& options) {
  Timeline timeline;
  simulate(std::move(program), options, timeline);
  return timeline;
}

}  // namespace strato
