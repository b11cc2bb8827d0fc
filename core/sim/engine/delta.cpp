#include "core/sim/engine/delta.h"

#include <utility>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/program/lower/lower.h"
#include "core/sim/engine/replay.h"
#include "core/sim/engine/replay_meter.h"
#include "core/sim/timeline/feedback.h"

namespace strato {

struct DeltaEvaluator::State {
  enum class Last : std::uint8_t {
    None,
    Full,     // lowered anew into the store, simulated: times are in `timeline`
    Delta,    // times are in `replay`
    Outside,  // not by delta lowering: all is in `timeline`
  };

  State(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster_, std::shared_ptr<const CostModel> cost)
      : cluster(std::move(cluster_)),
        full(graph, grouping, cluster, cost),
        lowering(graph, grouping, cluster, cost) {}

  void evaluate(const Strategy& strategy);
  void evaluate_outside(const Strategy& strategy);
  void simulate();
  void follow(const DeltaLowering::Change& change);
  void take(const Timeline& from);
  void take_replay();

  const std::shared_ptr<const Cluster> cluster;
  Lowering full;
  DeltaLowering lowering;
  Simulator simulator;
  Replay replay;
  ReplayMeter meter;
  bool replay_ready = false;  // it stands where the lowering stands
  Last last = Last::None;
  Timeline timeline;
  std::shared_ptr<Program> program;  // of Outside
  Result result;
};

void DeltaEvaluator::State::take(const Timeline& from) {
  result.step_time = from.step_time;
  result.devices = from.devices;
  result.link_busy = from.link_busy;
  result.feasible = from.feasible;
  result.tasks = result.lowered = from.tasks.size();
  result.full = true;
}

void DeltaEvaluator::State::take_replay() {
  const Cluster& cluster = *lowering.store().cluster;
  const Program& store = lowering.store();
  result.step_time = replay.step_time();
  result.feasible = true;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const DeviceId device(d);
    DeviceUse& use = result.devices[device];
    use.compute_busy = Nanos(replay.busy(store.compute_stream(device)));
    use.communication_busy = Nanos(replay.busy(store.communication_stream(device)));
    use.resident = lowering.resident(device);
    use.peak = meter.peaks()[device].bytes;
    use.peak_at = meter.peaks()[device].moment;
    result.feasible = result.feasible && use.fits();
  }
  for (std::size_t l = 0; l < cluster.links().size(); ++l)
    result.link_busy[LinkId(l)] = Nanos(replay.busy(store.link(LinkId(l))));
  result.tasks = lowering.task_count();
  result.full = false;
}

// The store as a program: right after everything was lowered anew.
void DeltaEvaluator::State::simulate() {
  timeline = simulator.simulate(
      std::shared_ptr<const Program>(std::shared_ptr<void>(), &lowering.store()));
  replay_ready = false;
  last = Last::Full;
  take(timeline);
}

// Into a program that is used again, unless somebody was given it.
void DeltaEvaluator::State::evaluate_outside(const Strategy& strategy) {
  last = Last::None;
  timeline.program.reset();
  if (program.use_count() != 1) program = std::make_shared<Program>();
  full.lower(strategy, *program);
  timeline = simulator.simulate(program);
  last = Last::Outside;
  take(timeline);
}

void DeltaEvaluator::State::follow(const DeltaLowering::Change& change) {
  replay.follow(lowering, change);
  meter.follow(lowering, change);
  meter.measure(lowering, replay);
  last = Last::Delta;
  replay_ready = true;
  take_replay();
  result.lowered = change.added.size() + change.changed.size();
}

void DeltaEvaluator::State::evaluate(const Strategy& partial) {
  const Strategy strategy = complete(partial, *cluster);
  if (!DeltaLowering::is_plain(strategy)) return evaluate_outside(strategy);
  if (last == Last::Full && !replay_ready && lowering.is_near(strategy)) {
    replay.start(lowering, timeline.tasks);
    meter.start(lowering);
    replay_ready = true;
  }
  const bool ready = std::exchange(replay_ready, false);
  last = Last::None;
  if (!ready) lowering.forget();
  const DeltaLowering::Change& change = lowering.lower(strategy);
  change.everything ? simulate() : follow(change);
}

DeltaEvaluator::DeltaEvaluator(std::shared_ptr<const Graph> graph,
                               std::shared_ptr<const Grouping> grouping,
                               std::shared_ptr<const Cluster> cluster,
                               std::shared_ptr<const CostModel> cost)
    : state_(std::make_unique<State>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost))) {}
DeltaEvaluator::~DeltaEvaluator() = default;

const DeltaEvaluator::Result& DeltaEvaluator::evaluate(const Strategy& strategy) {
  state_->evaluate(strategy);
  return state_->result;
}

bool DeltaEvaluator::is_near(const Strategy& strategy) const {
  return state_->lowering.is_near(complete(strategy, *state_->cluster));
}

const DeltaEvaluator::Result& DeltaEvaluator::result() const { return state_->result; }

Feedback DeltaEvaluator::feedback() const {
  const State& state = *state_;
  if (state.last != State::Last::Delta)
    return strato::feedback(state.timeline, *state.lowering.grouping());
  // Feedback on devices and links needs no tasks, that on groups was measured with memory.
  auto program = std::make_shared<Program>();
  program->graph = state.lowering.store().graph;
  program->cluster = state.lowering.store().cluster;
  Timeline timeline;
  timeline.program = std::move(program);
  timeline.step_time = state.result.step_time;
  timeline.devices = state.result.devices;
  timeline.link_busy = state.result.link_busy;
  Feedback feedback = strato::feedback(timeline, *state.lowering.grouping());
  feedback.groups = state.meter.groups();
  return feedback;
}

Timeline DeltaEvaluator::timeline() const {
  const State& state = *state_;
  if (state.last == State::Last::Outside) return state.timeline;
  std::vector<TaskId> ids;
  auto program = std::make_shared<const Program>(state.lowering.program(ids));
  Timeline timeline;
  if (state.last == State::Last::Full) timeline = state.timeline;
  if (state.last == State::Last::Delta) {
    timeline.step_time = state.result.step_time;
    timeline.devices = state.result.devices;
    timeline.link_busy = state.result.link_busy;
    timeline.feasible = state.result.feasible;
    for (const TaskId id : ids) {
      const Replay::Times& times = state.replay.times(id.index());
      timeline.tasks.push_back({Nanos(times.ready),
                                Nanos(times.end - state.replay.duration(id.index())),
                                Nanos(times.end)});
    }
  }
  timeline.program = std::move(program);
  return timeline;
}

}  // namespace strato
