// The schedule of delta lowering's store, followed from change to change: after one only what can
// differ is scheduled again.
//
// First in, first out on exclusive resources is list scheduling (simulation_engine.cpp): a task's
// times depend only on tasks that come before it. Let B be the earliest of: the ready times of
// tasks that are gone, and of tasks that are new, or have other dependencies or another place among
// equals, before the change and, as far as their dependencies are untouched, after it. Then every
// task that was ready before B has the times that it had: its dependencies and the tasks before it
// on its resources were ready before B, too; and none of the changed tasks is ready before B,
// because its last dependency either is untouched, or is itself not ready before B. The engine goes
// on from the last checkpoint before B, without building a program. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/sim/engine/simulation_engine.h"
#include "core/sim/timeline/feedback.h"

namespace strato {

class Replay {
 public:
  Replay() { schedule_.keeps_checkpoints = true; }
  void start(const DeltaLowering& lowering);  // everything was lowered anew
  void follow(const DeltaLowering& lowering, const DeltaLowering::Change& change);

  const TaskSchedule& schedule() const { return schedule_; }
  TaskRows rows(const DeltaLowering& lowering) const { return {lowering.store(), rows_}; }
  Feedback feedback(const DeltaLowering& lowering, const SimulatedStep& figures) const;

 private:
  void index(const DeltaLowering& lowering);
  void set_task(const DeltaLowering& lowering, TaskId task);
  Nanos ready_of(const Program& store, TaskId task) const;
  Nanos first_change(const Program& store, const DeltaLowering::Change& change);
  std::size_t last_checkpoint(Nanos before) const;
  void collect_rest(const DeltaLowering& lowering, std::size_t taken);

  SimulationEngine engine_;
  TaskSchedule schedule_;
  // By handle. Empty after start(), when handles are rows: often the next strategy starts anew.
  std::vector<std::int32_t> rows_;    // -1: gone
  std::vector<std::int32_t> places_;  // in the schedule's order; -1: new
  std::vector<GroupTask> group_tasks_;
  std::vector<TaskId> rest_;  // in emission order
};

}  // namespace strato
