#include "core/sim/engine/delta.h"

#include <utility>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/program/lower/lower.h"
#include "core/sim/engine/replay.h"
#include "core/sim/memory/memory_account.h"

namespace strato {

struct DeltaEvaluator::Parts {
  // What the last result is of. Nothing: there is none, or an exception left it half done.
  enum class Last : std::uint8_t {
    Nothing,
    Anew,     // lowered anew into the store
    Delta,    // the store after a change
    Outside,  // not by delta lowering: all is in `timeline`
  };

  Parts(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : full(graph, grouping, cluster, cost), lowering(graph, grouping, cluster, cost) {}

  void evaluate(const CompleteStrategy& strategy);
  void evaluate_outside(const CompleteStrategy& strategy);

  Lowering full;
  DeltaLowering lowering;
  Simulator simulator;
  Replay replay;
  MemoryAccount memory;
  Last last = Last::Nothing;
  Timeline timeline;                 // of Outside
  std::shared_ptr<Program> program;  // of Outside
  Result result;
};

// Into a program that is used again, unless somebody was given it.
void DeltaEvaluator::Parts::evaluate_outside(const CompleteStrategy& strategy) {
  timeline.program.reset();
  if (program.use_count() != 1) program = std::make_shared<Program>();
  full.lower(strategy, *program);
  simulator.simulate(program, {}, timeline);
  static_cast<SimulatedStep&>(result) = timeline;
  result.full = true;
  result.tasks = result.lowered = timeline.tasks.size();
  last = Last::Outside;
}

void DeltaEvaluator::Parts::evaluate(const CompleteStrategy& strategy) {
  const Last before = std::exchange(last, Last::Nothing);
  if (!DeltaLowering::is_plain(*strategy)) return evaluate_outside(strategy);
  const bool is_next = before == Last::Anew && lowering.is_near(strategy);
  if (before != Last::Delta && !is_next) lowering.forget();
  const DeltaLowering::Change& change = lowering.lower(strategy);
  change.everything ? replay.start(lowering) : replay.follow(lowering, change);
  reset_devices(*lowering.store().cluster, result);
  for (const DeviceId device : result.devices.ids())
    result.devices[device].resident = lowering.resident(device);
  take_figures(replay.rows(lowering), replay.schedule(), memory, result);
  result.full = change.everything;
  result.tasks = lowering.task_count();
  result.lowered = change.added.size() + change.changed.size();
  last = change.everything ? Last::Anew : Last::Delta;
}

DeltaEvaluator::DeltaEvaluator(std::shared_ptr<const Graph> graph,
                               std::shared_ptr<const Grouping> grouping,
                               std::shared_ptr<const Cluster> cluster,
                               std::shared_ptr<const CostModel> cost)
    : parts_(std::make_unique<Parts>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost))) {}
DeltaEvaluator::~DeltaEvaluator() = default;

const DeltaEvaluator::Result& DeltaEvaluator::evaluate(const CompleteStrategy& strategy) {
  parts_->evaluate(strategy);
  return parts_->result;
}

bool DeltaEvaluator::is_near(const CompleteStrategy& strategy) const {
  return parts_->lowering.is_near(strategy);
}

const DeltaEvaluator::Result& DeltaEvaluator::result() const { return parts_->result; }

Feedback DeltaEvaluator::feedback() const {
  const Parts& parts = *parts_;
  if (parts.last == Parts::Last::Outside)
    return strato::feedback(parts.timeline, *parts.lowering.grouping());
  return parts.replay.feedback(parts.lowering, parts.result);
}

Timeline DeltaEvaluator::timeline() const {
  Parts& parts = *parts_;
  if (parts.last == Parts::Last::Outside) return parts.timeline;
  std::vector<TaskId> ids;
  Timeline timeline;
  timeline.program = std::make_shared<const Program>(parts.lowering.program(ids));
  static_cast<SimulatedStep&>(timeline) = parts.result;
  for (const TaskId id : ids) timeline.tasks.push_back(parts.replay.schedule().times[id]);
  return timeline;
}

}  // namespace strato
