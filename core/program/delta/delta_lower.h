// Delta lowering: after a change of some groups, lowers again only the ops whose tasks can differ.
//
// Tasks live in a store that only grows; a task keeps its handle for as long as it means the same:
// the same shard of the same op in the same layout, or the same exchange. An op is lowered again
// when its layout changed, or when an exchange that it reads from can change: exchanges of a tensor
// depend on the layouts of its producer and of all its consumers, a parameter's update on all its
// readers. Everything else is left untouched. Emission order is (rank of the op, place in its block
// of tasks): no task is renumbered.
//
// The program that the tasks make up is equal to Lowering::lower()'s, task by task, when it is
// written out in emission order: program(). Strategies with buckets or priorities are not for this
// class. Not thread safe: one per thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/program/delta/dirty_ops.h"
#include "core/program/delta/op_blocks.h"
#include "core/program/lower/op_lowering.h"

namespace strato {

class DeltaLowering {
 public:
  DeltaLowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost);

  using Change = TaskChange;
  // The change from the last strategy to this one. Starts anew when more than a part of all ops is
  // to be lowered again.
  const Change& lower(const CompleteStrategy& strategy);

  void forget() { valid_ = false; }  // the next strategy is lowered anew

  static bool is_plain(const Strategy& strategy);  // no buckets, priorities, split ops, variables
  // Can lower() follow the change from one to the other, as far as a comparison of the decisions
  // can tell? And from the last one that was lowered to this one?
  static bool are_near(const Strategy& a, const Strategy& b, const Grouping& grouping);
  bool is_near(const CompleteStrategy& strategy) const;

  // All tasks that were lowered, rows of tasks that are gone included. Dependencies are handles,
  // reads and writes are buffers' handles; rows of dependencies and reads are sorted by handle.
  const Program& store() const { return store_; }
  std::size_t row(TaskId task) const {  // of a task that is not gone
    return static_cast<std::size_t>(blocks_.row(task));
  }
  // All that are not gone, in emission order.
  void list_tasks(std::vector<TaskId>& tasks) const { blocks_.list_tasks(tasks); }
  std::size_t task_count() const { return alive_; }  // not gone
  Bytes resident(DeviceId device) const { return dirty_.resident(device); }
  const std::shared_ptr<const Grouping>& grouping() const { return grouping_; }

  // The program as Lowering::lower() would have it; ids[i] is the handle of its task i.
  Program program(std::vector<TaskId>& ids);

 private:
  void lower_all();
  void lower_changes();
  void lower_again(OpId op);
  void list_outputs(OpId op, std::vector<Instance>& outputs);

  std::shared_ptr<const Grouping> grouping_;
  OpLowering ops_;
  Program store_;
  DirtyOps dirty_;
  OpBlocks blocks_;
  Change change_;
  bool valid_ = false;
  std::optional<CompleteStrategy> strategy_;  // none: none was lowered yet
  std::size_t alive_ = 0;                     // tasks
};

}  // namespace strato
