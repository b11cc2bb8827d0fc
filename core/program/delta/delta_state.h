// The state of delta lowering (internal to core/program), of which each .cpp file does one part:
//   delta_lower.cpp    from strategy to strategy: anew, or what changed
//   delta_marks.cpp    which ops can differ
//   delta_blocks.cpp   the tasks of one op, as they were and as they are
//   delta_program.cpp  all tasks written out as a program
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/program/delta/delta_lower.h"
#include "core/program/lower/lower_state.h"

namespace strato {

struct DeltaLowering::State final : BlockObserver {
  static constexpr std::uint32_t kNoAsk = ~std::uint32_t{0};  // of what no input brought

  struct Entry {  // of a block: a task of an op, and the input for which it was made
    TaskId task;
    std::uint32_t ask = kNoAsk;
  };
  struct Block {
    std::size_t begin = 0, end = 0;  // in entries
  };

  State(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : lower(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)) {
    lower.observer = this;
    lower.emitter.set_store(&tasks);
    number_ops();
    find_roots();
  }

  void number_ops();
  void find_roots();

  void lower_all();
  void lower_changes();
  void remember_layouts();

  // What can differ: sets op_dirty and tensor_dirty.
  void find_changed_ops();
  void mark_from_changes();
  void mark_op(OpId op) { op_dirty[rank_of[op]] = true; }
  void mark_tensor(TensorId tensor);
  void mark_readers(TensorId tensor, bool moved);
  void mark_parameter_readers(TensorId tensor, OpId update);
  void renew_residents(TensorId tensor);

  // One op.
  void lower_again(OpId op);
  void begin_block(OpId op, bool stays);
  void end_block(OpId op);
  void flush();
  void bring(std::uint32_t ask) override;
  void compute(std::size_t shard) override;
  bool is_kept(const Entry& entry) const;
  void list_outputs(OpId op, std::vector<Instance>& outputs);
  void compare_block(OpId op, Block before);
  void mark_readers_of_view(OpId view);

  Tables& tables() { return lower.tables; }
  const Task& task_in(std::int32_t row) const {
    return store.tasks[TaskId(static_cast<std::size_t>(row))];
  }

  LowerState lower;
  Emitter::Store tasks;
  Program store;
  Change change;

  // Emission order.
  std::vector<OpId> ops;  // by rank
  IdVector<OpId, std::uint32_t> rank_of;
  std::vector<Entry> entries;
  std::vector<Block> blocks;  // by rank
  IdVector<TaskId, std::uint64_t> ties;
  std::size_t alive = 0;

  // Of the strategy that is lowered.
  bool valid = false;
  std::uint32_t generation = 0;
  Strategy strategy;
  IdVector<OpId, LayoutId> layout_of, homes_of;
  IdVector<GroupId, bool> reduces;
  IdVector<DeviceId, Bytes> resident;

  // Of a change.
  IdVector<OpId, bool> op_changed;
  std::vector<OpId> changed_ops;
  std::vector<char> op_dirty;  // by rank
  IdVector<TensorId, char> tensor_dirty;
  std::vector<TensorId> dirty;
  IdVector<TensorId, TensorId> root;  // of views of parameters: the parameter

  // Of the block being lowered.
  Block old_block;
  std::size_t next_old = 0, flushed_rows = 0, begin = 0;
  std::uint32_t current_ask = kNoAsk;
  bool stays = false;  // the op's layout did not change
  std::vector<TaskId> old_compute;
  std::vector<std::int32_t> old_row;           // of old_compute
  std::vector<Instance> old_outputs, outputs;  // of a view
};

}  // namespace strato
