// Projects the tasks of a program onto ranks, one task after the other (internal to core/program):
// every rank that takes part in a task gets an instruction, on the values that stand for the
// buffers there. The parts are those that the program's buffers have.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/program/draft/rank_draft.h"
#include "core/program/project/buffer_values.h"
#include "core/program/rank/rank_program.h"
#include "core/program/value/program_task.h"

namespace strato {

// All of the task's tensor along an axis.
inline AxisRange all_of(const ProgramTask& at, int axis) {
  return range_along(*at.program.graph, at.task().tensor, {}, axis);
}

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
  using Kind = InstructionKind;
  using Range = std::pair<std::int32_t, std::int32_t>;
  struct Placed {  // what a task became on one device
    DeviceId device;
    RankDraft::Index index;
  };

  // The instruction that the task becomes on a rank.
  static Instruction instruction(const ProgramTask& at, Kind kind, const Part& part);
  void emit(const ProgramTask& at, DeviceId device, const Instruction& what,
            std::span<const ValueId> reads, std::span<const ValueId> writes,
            std::span<const DeviceId> members = {}, std::span<const std::int32_t> cuts = {});
  // Throws InvariantError unless the ranges, in some order, follow each other from end to end.
  void expect_sum(const ProgramTask& at, TensorId tensor, std::span<const Part> terms,
                  const Part& sum) const {
    at.expect(add_up(at, tensor, terms, sum), tensor,
              "its terms are of other slices, overlap, leave a gap, or are not all of it");
  }
  AxisRange gathered_range(const ProgramTask& at, int axis) const;

  void find_losses();
  void compute(const ProgramTask& at);
  void split(const ProgramTask& at);
  Part split_source(const ProgramTask& at) const;
  void concat(const ProgramTask& at);
  std::vector<Part> concat_parts(const ProgramTask& at, const Part& made) const;
  void decode(const ProgramTask& at);
  void sum(const ProgramTask& at);
  void add_in_place(const ProgramTask& at);

  // rank_builder_communication.cpp
  void transfer(const ProgramTask& at);
  void receive(const ProgramTask& at, const Part& part);
  void all_reduce(const ProgramTask& at);
  void all_gather(const ProgramTask& at);
  std::vector<Part> gathered_parts(const ProgramTask& at, std::span<const DeviceId> members) const;
  void gather_records(const ProgramTask& at);
  void reduce_scatter(const ProgramTask& at);
  void all_to_all(const ProgramTask& at);
  void host_copy(const ProgramTask& at);

  const Program& program_;
  const bool folded_;
  RankDrafts drafts_;
  BufferValues values_;
  std::vector<Placed> placed_;
  IdVector<TaskId, Range> placed_of_;                                // by task: in placed_
  std::map<std::pair<DeviceId, bool>, RankDraft::Index> last_copy_;  // to the host, and back
  // By part of the loss: the first of the devices that compute it.
  std::map<std::pair<TensorId, PartId>, DeviceId> first_with_;
};

}  // namespace strato
