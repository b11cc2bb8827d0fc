// The tasks of every op and the exchanges that it was the first to ask for, in emission order: its
// block. Lowered again, a task keeps its handle where the op's layout stays, and an exchange where
// its tensor is not dirty. Not thread safe.
#pragma once

#include <vector>

#include "core/program/delta/dirty_ops.h"
#include "core/program/lower/op_lowering.h"

namespace strato {

// What became of the tasks, by handle. Each list in emission order.
struct TaskChange {
  bool everything = false;      // all is lowered anew: `added` is every task, and no other handle
                                // means anything any more
  std::vector<TaskId> added;    // handles never used before
  std::vector<TaskId> removed;  // gone
  std::vector<TaskId> changed;  // other dependencies or reads, or another place in the order
};

class OpBlocks final : public BlockObserver {
 public:
  // `store`: the program that lowering appends to.
  OpBlocks(OpLowering& lowering, const DirtyOps& dirty, const Program& store);

  const std::vector<OpId>& ops() const { return ops_; }  // in emission order
  // All ops are lowered anew, one after the other.
  void start();
  // Around the lowering of an op: anew, where no other block of it is there; or again.
  void begin(OpId op, bool layout_stays);
  void end();
  // Adds to the change what became of the block that was lowered last.
  void compare(TaskChange& change);
  // After all were lowered anew: where each task stands in the order.
  void number_tasks();

  void list_tasks(std::vector<TaskId>& tasks) const;
  std::int32_t row(TaskId task) const { return tasks_.row_of[task]; }

  void bring(std::uint32_t ask) override;
  void compute(std::size_t shard) override;

 private:
  static constexpr std::uint32_t kNoAsk = ~std::uint32_t{0};  // of what no input brought
  struct Entry {  // a task of an op, and the input for which it was made
    TaskId task;
    std::uint32_t ask = kNoAsk;
  };
  struct Block {
    std::size_t begin = 0, end = 0;  // in entries_
  };
  const Task& task_in(std::int32_t row) const {
    return store_.tasks[TaskId(static_cast<std::size_t>(row))];
  }
  void flush();
  bool is_kept(const Entry& entry) const;
  bool rows_equal(std::int32_t before, std::int32_t now) const;

  const Tables& tables_;
  Emitter& emitter_;
  const DirtyOps& dirty_;
  const Program& store_;
  Emitter::Store tasks_;
  std::vector<OpId> ops_;
  IdVector<OpId, std::uint32_t> rank_of_;
  std::vector<Entry> entries_;
  std::vector<Block> blocks_;             // by rank
  IdVector<TaskId, std::uint64_t> ties_;  // rank and place in the block

  // The block that is lowered, from begin() to compare().
  OpId op_;
  Block old_;
  std::size_t begin_ = 0, next_old_ = 0, flushed_rows_ = 0;
  std::uint32_t ask_ = kNoAsk;
  bool stays_ = false;  // the op's layout did not change
  std::vector<TaskId> old_compute_;
  std::vector<std::int32_t> old_row_;  // of old_compute_
};

}  // namespace strato
