// The strategy that delta lowering lowered last, with its tasks (internal to core/program). Not
// thread safe.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/program/delta/dirty_ops.h"
#include "core/program/delta/op_blocks.h"
#include "core/program/lower/op_lowering.h"

namespace strato {

class LoweredStrategy {
 public:
  LoweredStrategy(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                  std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost);
  // From the strategy before to this one: what changed, or anew.
  const DeltaLowering::Change& lower(const CompleteStrategy& strategy);
  void forget() { valid_ = false; }

  bool is_valid() const { return valid_; }
  const Strategy& strategy() const { return **strategy_; }
  const Program& store() const { return store_; }
  const OpBlocks& blocks() const { return blocks_; }
  std::size_t task_count() const { return alive_; }
  Bytes resident(DeviceId device) const { return dirty_.resident(device); }
  // Into the program, with all parts of the store.
  void list_residents(Program& program) {
    ops_.list_residents(program);
    program.parts = store_.parts;
  }

 private:
  void lower_all();
  void lower_changes();
  void lower_again(OpId op);
  void list_outputs(OpId op, std::vector<Instance>& outputs);

  OpLowering ops_;
  Program store_;
  DirtyOps dirty_;
  OpBlocks blocks_;
  DeltaLowering::Change change_;
  bool valid_ = false;
  std::optional<CompleteStrategy> strategy_;  // none: none was lowered yet
  std::size_t alive_ = 0;                     // tasks
};

// Of all ops: more are lowered anew.
inline bool are_few(std::size_t changed, std::size_t all) { return 3 * changed <= all; }

}  // namespace strato
