// A task of a program whose parts are followed by the graph's rules: what it says itself, what its
// op reads for that, and how what does not fit is refused. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/program/value/op_parts.h"
#include "core/program/value/program.h"

namespace strato {

struct ProgramTask {
  const Program& program;
  TaskId id;

  const Task& task() const { return program.tasks[id]; }
  const Op& op() const { return program.graph->op(task().op); }
  Stream stream() const { return program.stream_of(id); }
  std::span<const BufferId> reads() const { return program.reads[id.index()]; }
  std::span<const BufferId> writes() const { return program.writes[id.index()]; }

  // Throws InvariantError that names the task and the tensor.
  [[noreturn]] void fail(TensorId tensor, const std::string& problem) const;
  void expect(bool holds, TensorId tensor, const char* problem) const {
    if (!holds) fail(tensor, problem);
  }
};

// The buffers that a collective reads or writes, by member: of n members it is asked n times.
class MemberBuffers {
  struct DeviceOf {
    const Program& program;
    DeviceId operator()(BufferId buffer) const { return program.buffers[buffer].device; }
  };

 public:
  MemberBuffers(const Program& program, std::span<const BufferId> buffers)
      : program_(program), buffers_(buffers.begin(), buffers.end()) {
    std::ranges::stable_sort(buffers_, {}, DeviceOf{program_});
  }
  // In the task's order.
  std::span<const BufferId> of(DeviceId member) const {
    const auto first = std::ranges::lower_bound(buffers_, member, {}, DeviceOf{program_});
    return {first, std::ranges::upper_bound(first, buffers_.end(), member, {}, DeviceOf{program_})};
  }
  BufferId one_of(const ProgramTask& at, DeviceId member, const char* problem) const {
    at.expect(of(member).size() == 1, at.task().tensor, problem);
    return of(member).front();
  }

 private:
  const Program& program_;
  std::vector<BufferId> buffers_;
};

// The part that the task says of a tensor like its own.
Part stated_part(const ProgramTask& at, TensorId tensor);
// By input of the task's op: the part that is read for that. One that is read in two ways is needed
// as a whole.
std::vector<Part> input_parts(const ProgramTask& at);
// By output of the task's op: the part that it makes.
std::vector<Part> output_parts(const ProgramTask& at);

// What a sum over some micro-batches is when the same samples of the one that follows are added to
// it; of all of them it is the total. Throws InvariantError where the term is of others.
Part sum_with_next(const ProgramTask& at, const Part& sum, const Part& term);

// What partial sums become where a collective sums them up in place: of those of a row, or of rows
// that have positions together, the sum over a letter; else over all that they are sums of.
Part sum_in_place(const ProgramTask& at, const Part& term);
// Do partial sums of a tensor add up to this one, each of them once? Over samples, over a letter,
// or over both.
bool add_up(const ProgramTask& at, TensorId tensor, std::span<const Part> terms, const Part& sum);

// The axis along which the pieces of what is put together differ from it; -1: the batch.
int joined_axis(const Part& piece, const Part& made);
// The same, not of the batch, of what is scattered of the sum of terms like this one.
int scattered_axis(const Part& piece, const Part& term);
// The part with as much along the axis as the other one has.
Part with_all_of(int axis, const Part& part, const Part& of);

// Do the ranges, in some order, follow each other from end to end?
bool make_up(std::vector<AxisRange> ranges, const AxisRange& whole);

}  // namespace strato
