#include "core/sim/engine/delta.h"

#include <utility>
#include <vector>

namespace strato {

void DeltaEvaluator::take_replay(const DeltaLowering::Change& change) {
  reset_devices(*lowering_.store().cluster, result_);
  for (std::size_t d = 0; d < result_.devices.size(); ++d)
    result_.devices[DeviceId(d)].resident = lowering_.resident(DeviceId(d));
  take_figures(replay_.rows(lowering_), replay_.schedule(), memory_, result_);
  result_.full = change.everything;
  result_.tasks = lowering_.task_count();
  result_.lowered = change.added.size() + change.changed.size();
}

// Into a program that is used again, unless somebody was given it.
void DeltaEvaluator::evaluate_outside(const CompleteStrategy& strategy) {
  timeline_.program.reset();
  if (program_.use_count() != 1) program_ = std::make_shared<Program>();
  full_.lower(strategy, *program_);
  simulator_.simulate(program_, {}, timeline_);
  static_cast<SimulatedStep&>(result_) = timeline_;
  result_.full = true;
  result_.tasks = result_.lowered = timeline_.tasks.size();
  last_ = Last::Outside;
}

const DeltaEvaluator::Result& DeltaEvaluator::evaluate(const CompleteStrategy& strategy) {
  const Last before = std::exchange(last_, Last::Nothing);
  if (!DeltaLowering::is_plain(*strategy)) {
    evaluate_outside(strategy);
    return result_;
  }
  const bool follows =
      before == Last::Delta || (before == Last::Anew && lowering_.is_near(strategy));
  if (!follows) lowering_.forget();
  const DeltaLowering::Change& change = lowering_.lower(strategy);
  change.everything ? replay_.start(lowering_) : replay_.follow(lowering_, change);
  take_replay(change);
  last_ = change.everything ? Last::Anew : Last::Delta;
  return result_;
}

Feedback DeltaEvaluator::feedback() const {
  if (last_ == Last::Outside) return strato::feedback(timeline_, *lowering_.grouping());
  return replay_.feedback(lowering_, result_);
}

Timeline DeltaEvaluator::timeline() {
  if (last_ == Last::Outside) return timeline_;
  std::vector<TaskId> ids;
  Timeline timeline;
  timeline.program = std::make_shared<const Program>(lowering_.program(ids));
  static_cast<SimulatedStep&>(timeline) = result_;
  for (const TaskId id : ids) timeline.tasks.push_back(replay_.schedule().times[id]);
  return timeline;
}

}  // namespace strato
