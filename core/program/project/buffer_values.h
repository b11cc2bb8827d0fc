// The values that stand for a program's buffers and residents on their ranks. A buffer's part is
// the program's word; only an AllReduce in place changes it, into the total of a partial sum, and a
// Sum in place, into one of more micro-batches.
//
// Values are looked up by what a task needs: in the buffers that it reads, in what is resident on
// the device, or through ops that make no task (views).
#pragma once

#include "core/program/draft/rank_draft.h"
#include "core/program/value/program_task.h"

namespace strato {

class BufferValues {
 public:
  BufferValues(const Program& program, RankDrafts& drafts);

  Part part_of(BufferId buffer) const;  // now
  // The same as a part of the task's tensor, which may be a view of the buffer's.
  Part part_of(const ProgramTask& at, BufferId buffer) const;
  // The same; throws InvariantError where it is none.
  Part partial_sum_of(const ProgramTask& at, BufferId buffer) const;
  Encoding encoding_of(BufferId buffer) const { return encoding_[buffer]; }
  std::int32_t record_count(BufferId buffer) const;
  ValueId value_of(BufferId buffer) const { return value_[buffer]; }

  // A value for a buffer that the task writes.
  ValueId bind(const ProgramTask& at, BufferId buffer, Encoding encoding = Encoding::None);
  // From now on the buffer holds this: the total of its partial sums, or one of more samples.
  void change_in_place(BufferId buffer, const Part& part);

  struct Wanted {
    TensorId tensor;
    Part part;
    DeviceId device;
  };
  // The part of a resident tensor that stands for the wanted one: of a parameter that is trained,
  // a slice that the device keeps, or all of it; of others the wanted one itself.
  Part standing_for(TensorId tensor, DeviceId device, const Part& wanted) const;
  // Invalid: it is not there.
  ValueId find(const ProgramTask& at, const Wanted& wanted);
  ValueId find_resident(const Wanted& wanted);
  // What the task copies from or to the memory of its host, and that stands there.
  ValueId resident_on_host(const ProgramTask& at);
  // The same as find, or something of another shape with the same bytes.
  ValueId find_bytes(const ProgramTask& at, const Wanted& wanted);
  // Throws InvariantError where it is not there.
  ValueId get(const ProgramTask& at, const Wanted& wanted);

 private:
  Value described(BufferId buffer) const;
  ValueId find_read(const ProgramTask& at, const Wanted& wanted) const;
  bool is_resident(TensorId tensor, DeviceId device, const Part& part) const;
  // What the step before left of a gradient, for a task that reads no buffer.
  ValueId find_kept(const ProgramTask& at, const Wanted& wanted);
  ValueId find_view(const ProgramTask& at, OpId op, const Wanted& wanted);

  const Program& program_;
  const Graph& graph_;
  RankDrafts& drafts_;
  IdVector<BufferId, ValueId> value_;
  IdVector<BufferId, Encoding> encoding_;
  IdVector<BufferId, std::int32_t> changed_;  // in parts_; -1: it holds what was written
  std::vector<Part> parts_;
};

}  // namespace strato
