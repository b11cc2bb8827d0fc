// Writes down once more what a cell of a pipeline did, for another micro-batch: to lower the same
// ops again gives the same tasks, of other samples (internal to core/program).
//
// Cells of the first micro-batch bring parameters to where all others find them; so it is those of
// the second one that are repeated. What a task of such a cell waits for, and reads, is
// - what its own cell or another one did for the same micro-batch: there each has its like;
// - what was there before, or came with the first micro-batch: it stays;
// - a sum over the micro-batches before, or what its device computed in the cell before: of these
//   it is said which they are.
// That holds where the passes come in one order for every micro-batch. Not thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/program/cells/cell_order.h"
#include "core/program/copies/copies.h"
#include "core/program/copies/residents.h"
#include "core/program/place/emitter.h"
#include "core/strategy/value/schedule_table.h"

namespace strato {

class RepeatedCells {
 public:
  // Of one lowering into this program; refers to all of them. `order`: null where devices compute
  // in any order.
  RepeatedCells(const Tables& tables, Emitter& emitter, Copies& copies, Residents& residents,
                CellOrder* order, Program& into, std::size_t passes);
  ~RepeatedCells() { emitter_.parameter_readers().record(nullptr); }
  RepeatedCells(const RepeatedCells&) = delete;

  // Do the passes come in one order, and are there so many micro-batches that it is worth it?
  static bool can_repeat(std::span<const ScheduleCell> cells);

  // What is lowered from here to end() is the cell of this pass and micro-batch.
  void begin(std::size_t pass, std::int32_t micro);
  // Of this cell: the task adds to the sum that the shard has of the tensor, and that was there
  // after `before`.
  void add_sum(TaskId task, TensorId sum, std::size_t shard, TaskId before) {
    sums_.push_back({task, sum, shard, before});
  }
  // false: it cannot be repeated, and the step is to be lowered again without.
  bool end();
  // The cell of a micro-batch behind the second one comes next. Sums are those of all
  // micro-batches: Layouts::enter(-1).
  void repeat(std::size_t pass, std::int32_t micro);
  // When all cells are there: the samples that devices have through the whole step.
  void repeat_residents() { residents_.repeat_samples(1); }

 private:
  struct Ref {
    std::int32_t pass;  // whose cell of the same micro-batch it is in; -1: none, it stays
    std::int32_t at;    // its place in there; else its id
  };
  struct Sum {
    TaskId task;
    TensorId sum;
    std::size_t shard;
    TaskId before;
  };
  struct Cell {  // of the second micro-batch
    std::size_t tasks = 0, buffers = 0;
    Rows<Ref> waits, reads;      // by task; without what is said when it is repeated
    std::vector<TaskId> firsts;  // tasks that wait for the cell before, ascending
    std::vector<Sum> sums;       // ascending by task
    std::vector<ParameterReaders::Read> parameters;  // ascending by task
    std::vector<std::pair<DeviceId, std::vector<TaskId>>> ends;
  };
  struct Begin {  // of a cell: its first task and buffer
    std::int32_t task = 0, buffer = 0;
  };
  struct Done {
    std::size_t pass;
    std::int32_t micro;
    Begin begin;
  };
  Begin& begin_of(std::size_t pass, std::int32_t micro) {
    return begins_[static_cast<std::size_t>(micro) * cells_.size() + pass];
  }
  void start_cell(std::size_t pass, std::int32_t micro);
  template <class Id>
  bool refer(Rows<Ref>& rows, std::span<const Id> to, Id but, std::int32_t Begin::*of) const;
  bool refer_all(Cell& cell, TaskId first) const;
  template <class Id>
  Id referred(const Ref& ref, std::int32_t Begin::*of);
  PartId shifted(PartId part);
  void repeat_buffers(const Cell& cell, Begin like);
  void find_waits(const Cell& cell, std::size_t task, TaskId like, TaskId now);
  void repeat_task(const Cell& cell, std::size_t task, Begin like, Begin now);

  const Tables& tables_;
  Emitter& emitter_;
  Copies& copies_;
  Residents& residents_;
  CellOrder* order_;
  Program& into_;
  std::vector<Cell> cells_;    // by pass
  std::vector<Begin> begins_;  // by micro-batch and pass
  std::vector<Done> done_;     // ascending: the last one is under way
  std::vector<Sum> sums_;      // of this cell, as the parameters that are read
  std::vector<ParameterReaders::Read> parameters_;
  std::size_t parts_before_ = 0;      // that residents had, of tensors in several
  IdVector<PartId, PartId> shifted_;  // of the second micro-batch: of this one; invalid: not yet
  std::int32_t micro_ = 0;            // this one
  std::size_t next_first_ = 0, next_sum_ = 0, next_parameter_ = 0;  // of the cell
  std::vector<TaskId> waits_;  // memory that is used again, as the others
  std::vector<BufferId> reads_, writes_;
  std::vector<ResourceId> resources_;
};

}  // namespace strato
