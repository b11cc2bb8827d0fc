// Projects the tasks of a program onto ranks, one task after the other (internal to core/program):
// every rank that takes part in a task gets an instruction, on the values that stand for the
// buffers there. The pieces are those that the program's buffers have.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/program/draft/rank_drafts.h"
#include "core/program/project/buffer_values.h"
#include "core/program/project/program_task.h"
#include "core/program/project/resident_parts.h"
#include "core/program/rank/rank_program.h"

namespace strato {

class RankBuilder {
 public:
  // `only`: the device whose program is wanted; invalid: all of them. `folded`: a program whose
  // AllReduces lack members (see symmetry.h).
  explicit RankBuilder(const Program& program, DeviceId only = {}, bool folded = false);
  // After all that it depends on. Throws InvariantError naming the task when what it reads is not
  // there.
  void add(TaskId task);
  RankPrograms finish() &&;

 private:
  using Range = std::pair<std::int32_t, std::int32_t>;
  struct Placed {  // what a task became on one device
    DeviceId device;
    RankDraft::Index index;
  };

  void emit(const ProgramTask& at, DeviceId device, const RankDraft::Entry& entry);

  void compute(const ProgramTask& at);
  ValueId gradient(const ProgramTask& at, const Part& part);
  void split(const ProgramTask& at);
  Part split_source(const ProgramTask& at) const;
  void concat(const ProgramTask& at);
  std::vector<Part> concat_parts(const ProgramTask& at, const Part& made) const;
  void decode(const ProgramTask& at);
  void sum(const ProgramTask& at);

  // rank_builder_communication.cpp
  void transfer(const ProgramTask& at);
  void receive(const ProgramTask& at, const Part& part);
  void all_reduce(const ProgramTask& at);
  void all_gather(const ProgramTask& at);
  std::vector<Part> gathered_parts(const ProgramTask& at, std::span<const DeviceId> members) const;
  void gather_records(const ProgramTask& at);
  void reduce_scatter(const ProgramTask& at);

  const Program& program_;
  const bool folded_;
  const ResidentParts residents_;
  RankDrafts drafts_;
  BufferValues values_;
  std::vector<Placed> placed_;
  IdVector<TaskId, Range> placed_of_;  // by task: in placed_
};

}  // namespace strato
