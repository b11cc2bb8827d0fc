#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/program/lower/verify.h"
#include "core/program/value/collective.h"
#include "core/program/value/program_task.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

// They follow each other in `whole`, perhaps with gaps.
bool are_apart_in(std::vector<AxisRange> ranges, const AxisRange& whole) {
  std::ranges::sort(ranges);
  std::int32_t next = whole.begin;
  for (const AxisRange& range : ranges) {
    if (range.begin < next) return false;
    next = range.end;
  }
  return next <= whole.end;
}

class PartVerifier {
 public:
  explicit PartVerifier(const Program& program) : program_(program), graph_(*program.graph) {
    for (const Buffer& buffer : program.buffers) holds_.push_back(program.parts[buffer.part]);
    for (std::size_t i = 0; i < program.tasks.size(); ++i)
      if (program.tasks[TaskId(i)].keeps) keep({program, TaskId(i)});
    check_kept();
  }

  void check(const ProgramTask& at) {
    switch (at.task().kind) {
      case TaskKind::Compute:
      case TaskKind::Update:
        return check_op(at);
      case TaskKind::Split:
      case TaskKind::Transfer:
        return check_taken(at);
      case TaskKind::Concat:
      case TaskKind::AllGather:
        return check_joined(at);
      case TaskKind::Sum:
      case TaskKind::AllReduce:
      case TaskKind::ReduceScatter:
      case TaskKind::Reduce:
        return check_sums(at);
      case TaskKind::AllToAll:
        return check_swapped(at);
      case TaskKind::Broadcast:
        return;
      case TaskKind::Offload:
      case TaskKind::Fetch:
        return check_copied(at);
    }
  }

 private:
  // ---- what stands from step to step

  void keep(const ProgramTask& at) {
    std::vector<Part>& parts = kept_[{at.task().device, at.task().tensor}];
    parts.push_back(stated_part(at, at.task().tensor));
    at.expect(std::ranges::count(parts, parts.back()) == 1, at.task().tensor, "it is kept twice");
    at.expect(std::ranges::count(
                  program_.residents_of(at.task().tensor, at.task().device), parts.back(),
                  [&](const Resident& here) -> const Part& { return program_.part_of(here); }) == 1,
              at.task().tensor, "it is kept nowhere");
  }
  // What an op makes is resident only because a Split keeps it.
  void check_kept() const {
    for (const Resident& resident : program_.residents) {
      if (!graph_.tensor(resident.tensor).producer.valid()) continue;
      const auto kept = kept_.find({resident.device, resident.tensor});
      CHECK(kept != kept_.end() &&
                std::ranges::find(kept->second, program_.part_of(resident)) != kept->second.end(),
            "nothing keeps " + graph_.tensor(resident.tensor).name);
    }
  }

  void check_op(const ProgramTask& at) const {
    const std::vector<TensorId>& inputs = at.op().inputs;
    const std::vector<Part> needed = input_parts(at);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      at.expect(!inputs[i].valid() || has(at, inputs[i], needed[i]), inputs[i],
                "the part that its op needs is not there");
    if (at.writes().empty()) return;
    const std::vector<Part> made = output_parts(at);
    const std::vector<TensorId>& outputs = at.op().outputs;
    for (const BufferId buffer : at.writes()) {
      const TensorId tensor = program_.buffers[buffer].tensor;
      const auto output =
          static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
      at.expect(output < outputs.size(), tensor, "its op does not make it");
      at.expect(holds_[buffer] == made[output], tensor, "its op makes another part");
    }
  }

  // ---- what is there

  // The task reads it, or a tensor that it is a view of, or that is resident.
  bool has(const ProgramTask& at, TensorId tensor, const Part& part) const {
    const DeviceId device = at.task().device;
    for (const BufferId buffer : at.reads())
      if (const Buffer& of = program_.buffers[buffer];
          of.device == device && of.tensor == tensor && holds_[buffer] == part)
        return true;
    const OpId producer = graph_.tensor(tensor).producer;
    if (!producer.valid() || kept_.contains({device, tensor}))
      return is_standing(tensor, part, device);
    if (is_alias(graph_, producer))
      return has(at, viewed(graph_, producer), part_viewed(graph_, producer, part));
    return graph_.op(producer).phase == Phase::Update;  // what it makes is resident, in place
  }
  // What no buffer holds: what is resident, or what the step before kept of a gradient.
  bool is_standing(TensorId tensor, const Part& part, DeviceId device) const {
    if (const auto kept = kept_.find({device, tensor}); kept != kept_.end())
      return std::ranges::any_of(kept->second,
                                 [&](const Part& all) { return is_cut_from(part, all); });
    const OpId producer = graph_.tensor(tensor).producer;
    if (producer.valid())
      return is_alias(graph_, producer) &&
             is_standing(viewed(graph_, producer), part_viewed(graph_, producer, part), device);
    return std::ranges::any_of(program_.residents_of(tensor, device), [&](const Resident& here) {
      return !here.on_host && contains(program_.part_of(here), part);
    });
  }

  // ---- what is moved

  // What the buffer holds as a part of the task's tensor, which may be a view of the buffer's.
  Part held(const ProgramTask& at, BufferId buffer) const {
    return part_in_view(graph_, program_.buffers[buffer].tensor, at.task().tensor, holds_[buffer]);
  }

  std::optional<Part> written(const ProgramTask& at) const {
    return at.writes().empty() ? std::nullopt : std::optional(holds_[at.writes().front()]);
  }

  // Between device and host: what is there arrives as it is.
  void check_copied(const ProgramTask& at) const {
    const Task& task = at.task();
    for (const auto row : {at.reads(), at.writes()})
      for (const BufferId buffer : row)
        at.expect(holds_[buffer] == program_.part_of(task), task.tensor,
                  "it is another part than the task says");
    const auto on_host = task.kind == TaskKind::Offload ? at.writes() : at.reads();
    if (!on_host.empty()) return;
    const auto standing = program_.residents_of(task.tensor, task.device);
    at.expect(
        std::ranges::any_of(
            standing, [&](const Resident& here) { return here.on_host && here.part == task.part; }),
        task.tensor, "it rests in no host's memory");
  }

  // A Split or a Transfer: of one buffer, or of what stands there.
  void check_taken(const ProgramTask& at) const {
    const Task& task = at.task();
    const Part part = stated_part(at, task.tensor);
    at.expect(at.reads().size() <= 1 && at.writes().size() <= 1, task.tensor,
              "it is taken from several, or into several");
    at.expect(written(at).value_or(part) == part, task.tensor,
              "it is another part than the task says");
    if (at.reads().empty())
      return at.expect(is_standing(task.tensor, part, task.device), task.tensor,
                       "what it is taken from is not there");
    const Part from = held(at, at.reads().front());
    const bool whole = task.kind == TaskKind::Transfer || task.keeps;
    at.expect(whole ? from == part : is_cut_from(part, from), task.tensor,
              "what it is taken from is another part");
  }

  // Just one message is decoded.
  void check_decoded(const ProgramTask& at) const {
    at.expect(at.reads().size() == 1 && written(at) == holds_[at.reads().front()], at.task().tensor,
              "it is decoded to another part");
  }

  // A Concat or an AllGather. What no buffer holds stands there.
  void check_joined(const ProgramTask& at) {
    const Task& task = at.task();
    if (task.encoding != Encoding::None)
      return task.kind == TaskKind::AllGather ? check_sums(at) : check_decoded(at);
    for (const BufferId buffer : at.writes())
      at.expect(holds_[buffer] == *written(at), task.tensor, "it is not the same everywhere");
    const Part part = written(at).value_or(Part());
    const int axis = at.reads().empty() ? program_.range_of(task).axis
                                        : joined_axis(held(at, at.reads().front()), part);
    at.expect(at.stream() != Stream::TensorCommunication || axis != kBatchAxis, task.tensor,
              "samples are put together on the stream of a row");
    const AxisRange all = range_along(graph_, task.tensor, part, axis);
    std::vector<AxisRange> ranges;
    for (const BufferId buffer : at.reads()) {
      const Part piece = held(at, buffer);
      const AxisRange* own = piece.along(axis);
      at.expect(own && piece.without(axis) == part.without(axis), task.tensor,
                "a piece is no slice of it");
      ranges.push_back(*own);
    }
    at.expect(make_up(ranges, all) || (are_apart_in(ranges, all) && stands_somewhere(at)),
              task.tensor, "its pieces overlap, or are not all of it");
  }
  bool stands_somewhere(const ProgramTask& at) const {
    const TensorId tensor = root_of(graph_, at.task().tensor);
    if (graph_.tensor(tensor).producer.valid()) return false;
    const MemberBuffers read(program_, at.reads());
    std::vector<DeviceId> devices = members_of(program_, at.id);
    if (devices.empty()) devices = {at.task().device};
    return std::ranges::all_of(devices, [&](DeviceId device) {
      return (!read.of(device).empty() && devices.size() > 1) ||
             !program_.residents_of(tensor, device).empty();
    });
  }

  // Members have all of it in parts along one axis, and then along another one.
  void check_swapped(const ProgramTask& at) const {
    const TensorId tensor = at.task().tensor;
    const Part all = program_.part_of(at.task());
    const int from = parted_axis(at, at.reads(), all), to = parted_axis(at, at.writes(), all);
    at.expect(from != to, tensor, "it is swapped for parts along the same axis");
    at.expect(at.stream() == Stream::TensorCommunication, tensor, "its stream is another one's");
  }
  int parted_axis(const ProgramTask& at, std::span<const BufferId> buffers, const Part& all) const {
    const TensorId tensor = at.task().tensor;
    at.expect(buffers.size() == members_of(program_, at.id).size(), tensor,
              "a member has no part of it, or several");
    const int axis = joined_axis(held(at, buffers.front()), all);
    std::vector<AxisRange> ranges;
    for (const BufferId buffer : buffers) {
      const Part part = held(at, buffer);
      const AxisRange* own = part.along(axis);
      at.expect(own && part.without(axis) == all.without(axis) && !part.is_partial_sum(), tensor,
                "a member's part is no slice of it");
      ranges.push_back(*own);
    }
    at.expect(make_up(ranges, range_along(graph_, tensor, all, axis)), tensor,
              "its parts overlap, or are not all of it");
    return axis;
  }

  // ---- what is summed up

  // On each device, or over all of them, the terms of each buffer add up to the total.
  void check_sums(const ProgramTask& at) {
    const Task& task = at.task();
    if (task.kind == TaskKind::Sum && task.encoding != Encoding::None && at.reads().size() == 1)
      return check_decoded(at);
    if (task.kind == TaskKind::Sum && at.writes().empty()) return check_added(at);
    if (task.kind == TaskKind::Sum) return check_sum(at, at.reads());
    const std::vector<DeviceId> members = members_of(program_, at.id);
    const MemberBuffers read(program_, at.reads());
    const std::size_t count = read.of(members.front()).size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<BufferId> terms;
      for (const DeviceId member : members) {
        at.expect(read.of(member).size() == count, task.tensor, "its members have other terms");
        terms.push_back(read.of(member)[i]);
      }
      // Gradients of weights are summed up over positions and samples at once.
      const bool in_row = at.stream() == Stream::TensorCommunication;
      const bool of_weight = graph_.tensor(task.tensor).batch.kind == BatchKind::Partial;
      at.expect(held(at, terms.front()).sums_letter() == in_row || (!in_row && of_weight),
                task.tensor, "it is on another stream than its terms say");
      check_sum(at, terms);
      if (at.writes().empty())  // in place
        for (const BufferId term : terms) holds_[term] = sum_in_place(at, holds_[term]);
    }
    if (task.kind == TaskKind::ReduceScatter) check_scattered(at);
  }
  // A term of the micro-batch that follows those of the sum.
  void check_added(const ProgramTask& at) {
    const TensorId tensor = at.task().tensor;
    at.expect(at.reads().size() == 2, tensor, "what is added to is no sum and a term");
    Part& sum = holds_[at.reads()[0]];
    const Part& term = holds_[at.reads()[1]];
    at.expect(program_.buffers[at.reads()[0]].tensor == tensor &&
                  program_.buffers[at.reads()[1]].tensor == tensor,
              tensor, "another tensor is added");
    sum = sum_with_next(at, sum, term);
  }
  void check_sum(const ProgramTask& at, std::span<const BufferId> terms) const {
    const TensorId tensor = at.task().tensor;
    std::vector<Part> parts;
    for (const BufferId term : terms) parts.push_back(held(at, term));
    at.expect(parts.front().is_partial_sum(), tensor, "its terms are no partial sums");
    const Part sum = sum_of(at, parts.front());
    at.expect(add_up(at, program_.buffers[terms.front()].tensor, parts, sum), tensor,
              "its terms leave a gap, one is there twice, or they are of several slices");
    if (sum.sums_samples())
      at.expect(sum.period() == parts.front().period() && sum.times() == parts.front().times(),
                tensor, "its sum is of other micro-batches than its terms");
    if (at.task().kind == TaskKind::ReduceScatter) return;
    at.expect(sum.summed_up() == parts.front().summed_up(), tensor, "its sum is another part");
    for (const BufferId buffer : at.writes())
      at.expect(holds_[buffer] == sum, tensor, "its sum is another part");
  }
  // What its buffers say; of what is scattered, without the axis.
  Part sum_of(const ProgramTask& at, const Part& term) const {
    if (at.writes().empty()) return sum_in_place(at, term);
    const Part sum = *written(at);
    if (at.task().kind != TaskKind::ReduceScatter) return sum;
    return with_all_of(scattered_axis(sum, term), sum, term);
  }
  void check_scattered(const ProgramTask& at) const {
    const TensorId tensor = at.task().tensor;
    const Part term = held(at, at.reads().front()), sum = sum_of(at, term);
    const int axis = scattered_axis(written(at).value_or(Part()), term);
    const Part all = term.summed_up();
    const bool adds_up = sum.summed_up() == all;  // or is at a station
    std::vector<AxisRange> ranges;
    for (const BufferId buffer : at.writes()) {
      const AxisRange* range = holds_[buffer].along(axis);
      at.expect(range && holds_[buffer].without(axis) == sum && adds_up, tensor,
                "a part of the sum is no slice of it");
      ranges.push_back(*range);
    }
    at.expect(make_up(ranges, range_along(graph_, tensor, all, axis)), tensor,
              "a part of the sum is lost, or there twice");
  }

  const Program& program_;
  const Graph& graph_;
  IdVector<BufferId, Part> holds_;                                   // now
  std::map<std::pair<DeviceId, TensorId>, std::vector<Part>> kept_;  // from step to step
};

}  // namespace

void verify_parts(const Program& program) {
  PartVerifier verifier(program);
  for (std::size_t i = 0; i < program.tasks.size(); ++i) verifier.check({program, TaskId(i)});
}

}  // namespace strato
