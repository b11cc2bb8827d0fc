#include "core/program/lower/verify_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/program/value/collective.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

// One after the other they are all of `whole`.
bool make_up(std::vector<AxisRange> ranges, const AxisRange& whole) {
  std::ranges::sort(ranges);
  std::int32_t next = whole.begin;
  for (const AxisRange& range : ranges)
    if (range.begin != next)
      return false;
    else
      next = range.end;
  return next == whole.end;
}

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

// The parts that tasks say, and those that their ops need and make by the graph's rules.
class TaskParts {
 protected:
  explicit TaskParts(const Program& program) : program_(program), graph_(*program.graph) {}

  void expect(bool holds, TaskId id, TensorId tensor, const char* problem) const {
    if (!holds)
      throw InvariantError("task " + std::to_string(id.value()) + " (" + program_.task_name(id) +
                           "), tensor " + graph_.tensor(tensor).name + ": " + problem);
  }

  std::int32_t batch() const { return static_cast<std::int32_t>(graph_.batch()); }
  AxisRange all_of(TensorId tensor, int axis) const {
    const Shape& shape = graph_.tensor(tensor).shape;
    if (axis < 0) return {kBatchAxis, 0, batch()};
    return {static_cast<std::int8_t>(axis), 0,
            static_cast<std::int32_t>(shape.at(static_cast<std::size_t>(axis)))};
  }
  bool is_trained(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    return !tensor.producer.valid() && tensor.role == TensorRole::Parameter &&
           graph_.update_of(id).valid();
  }
  Part samples(TensorId id, std::int32_t begin, std::int32_t end) const {
    const Tensor& tensor = graph_.tensor(id);
    if (is_trained(id) || tensor.batch.kind == BatchKind::Whole || end - begin == batch())
      return {};
    return tensor.batch.kind == BatchKind::Batched ? Part::samples(begin, end)
                                                   : Part::partial_sum(begin, end);
  }
  // The task's part, as a part of a tensor of which it names the axes.
  Part said(const Task& task, TensorId tensor) const {
    if (task.axis < 0) return samples(tensor, task.first_sample, task.first_sample + task.samples);
    Part part;
    for (const AxisRange& range : program_.ranges_of(task))
      if (range != all_of(tensor, range.axis)) part = part.cut(range);
    return part;
  }

  // The axes of an op's inputs that are cut where it is cut along this axis. One that is read in
  // two ways is needed as a whole.
  const std::vector<int>& input_axes(TaskId id, OpId op, int axis) {
    const auto [at, fresh] = input_axes_.try_emplace({op, axis});
    if (!fresh) return at->second;
    const std::vector<TensorId>& inputs = graph_.op(op).inputs;
    const std::vector<SplitAxis> axes = split_axes(graph_, op);
    const auto split = std::ranges::find(axes, axis, &SplitAxis::axis);
    if (split == axes.end()) return at->second = state_axes(id, op, axis);
    at->second = split->inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t j = 0; j < inputs.size(); ++j)
        if (inputs[j] == inputs[i] && split->inputs[j] != split->inputs[i]) at->second[i] = -1;
    return at->second;
  }
  // Of an update that is known by its phase alone: what is as large as its parameter is cut alike.
  std::vector<int> state_axes(TaskId id, OpId op, int axis) const {
    const std::vector<TensorId>& inputs = graph_.op(op).inputs;
    expect(graph_.op(op).phase == Phase::Update, id, inputs.front(), "its op has no such axis");
    std::vector<int> axes;
    for (const TensorId input : inputs)
      axes.push_back(
          input.valid() && graph_.tensor(input).shape == graph_.tensor(inputs.front()).shape ? axis
                                                                                             : -1);
    return axes;
  }
  Part needed(TaskId id, std::size_t input) {
    const Task& task = program_.tasks[id];
    const TensorId tensor = graph_.op(task.op).inputs[input];
    if (task.axis < 0) return said(task, tensor);
    Part part;
    for (AxisRange range : program_.ranges_of(task)) {
      range.axis = static_cast<std::int8_t>(input_axes(id, task.op, range.axis)[input]);
      if (range.axis >= 0 && range != all_of(tensor, range.axis)) part = part.cut(range);
    }
    return part;
  }
  Part made(TaskId id, TensorId tensor) const {
    const Task& task = program_.tasks[id];
    const std::vector<TensorId>& outputs = graph_.op(task.op).outputs;
    const auto output =
        static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
    expect(output < outputs.size(), id, tensor, "its op does not make it");
    if (task.axis < 0 || output == 0) return said(task, tensor);
    const int axis = split_output_axis(graph_, task.op, output, task.axis);
    expect(axis >= 0, id, tensor, "it is not known along which axis it is divided");
    return Part::slice(axis, task.first_sample, task.first_sample + task.samples);
  }
  const Program& program_;
  const Graph& graph_;

 private:
  std::map<std::pair<OpId, int>, std::vector<int>> input_axes_;
};

class PartVerifier : TaskParts {
 public:
  explicit PartVerifier(const Program& program) : TaskParts(program) {
    for (const Buffer& buffer : program.buffers) holds_.push_back(program.parts[buffer.part]);
    for (std::size_t i = 0; i < program.tasks.size(); ++i)
      if (const Task& task = program.tasks[TaskId(i)]; keeps(TaskId(i)))
        kept_[{task.device, task.tensor}].push_back(said(task, task.tensor));
  }

  void check(TaskId id) {
    switch (program_.tasks[id].kind) {
      case TaskKind::Compute:
      case TaskKind::Update:
        return check_op(id);
      case TaskKind::Split:
      case TaskKind::Transfer:
        return check_taken(id);
      case TaskKind::Concat:
      case TaskKind::AllGather:
        return check_joined(id);
      case TaskKind::Sum:
      case TaskKind::AllReduce:
      case TaskKind::ReduceScatter:
      case TaskKind::Reduce:
        return check_sums(id);
      case TaskKind::Broadcast:
        return;
    }
  }

 private:
  bool keeps(TaskId id) const {
    return program_.tasks[id].kind == TaskKind::Split && program_.writes[id.index()].empty();
  }

  void check_op(TaskId id) {
    const Task& task = program_.tasks[id];
    const std::vector<TensorId>& inputs = graph_.op(task.op).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      expect(!inputs[i].valid() || has(id, inputs[i], needed(id, i), task.device), id, inputs[i],
             "the part that its op needs is not there");
    for (const BufferId buffer : program_.writes[id.index()])
      expect(holds_[buffer] == made(id, program_.buffers[buffer].tensor), id,
             program_.buffers[buffer].tensor, "its op makes another part");
  }

  // ---- what is there

  // The task reads it, or a tensor that it is a view of, or that is resident.
  bool has(TaskId id, TensorId tensor, const Part& part, DeviceId device) const {
    for (const BufferId buffer : program_.reads[id.index()])
      if (const Buffer& of = program_.buffers[buffer];
          of.device == device && of.tensor == tensor && holds_[buffer] == part)
        return true;
    const OpId producer = graph_.tensor(tensor).producer;
    if (kept_.contains({device, tensor})) return is_standing(tensor, part, device);
    if (!producer.valid()) return is_resident(tensor, part, device);
    if (is_alias(graph_, producer)) return has(id, viewed(producer), part, device);
    return graph_.op(producer).phase == Phase::Update;  // what it makes is resident, in place
  }
  TensorId viewed(OpId view) const {
    return *std::ranges::find_if(graph_.op(view).inputs, &TensorId::valid);
  }
  const Resident* resident(TensorId tensor, DeviceId device) const {  // null: none
    const auto at = std::ranges::lower_bound(
        program_.residents, std::pair(device, tensor), {},
        [](const Resident& resident) { return std::pair(resident.device, resident.tensor); });
    const bool found =
        at != program_.residents.end() && at->device == device && at->tensor == tensor;
    return found ? &*at : nullptr;
  }
  bool is_resident(TensorId tensor, const Part& part, DeviceId device) const {
    const Resident* here = resident(tensor, device);
    return here &&
           (!is_trained(tensor) || here->bytes >= bytes_of(graph_.tensor(tensor), part, batch()));
  }
  // What no buffer holds: resident bytes, or what the step before kept of a gradient.
  bool is_standing(TensorId tensor, const Part& part, DeviceId device) const {
    if (const auto kept = kept_.find({device, tensor}); kept != kept_.end())
      return std::ranges::any_of(kept->second,
                                 [&](const Part& all) { return cuts_out(all, part); });
    const OpId producer = graph_.tensor(tensor).producer;
    if (!producer.valid()) return is_resident(tensor, part, device);
    return is_alias(graph_, producer) && is_standing(viewed(producer), part, device);
  }
  static bool cuts_out(const Part& all, const Part& part) {
    const AxisRange *of = all.along(kBatchAxis), *samples = part.along(kBatchAxis);
    if (!all.is_partial_sum() || !samples || *of != *samples || !part.is_partial_sum())
      return contains(all, part);
    return contains(all.total(), part.total());
  }

  // ---- what is moved

  std::vector<BufferId> on_device(std::span<const BufferId> row, DeviceId device) const {
    std::vector<BufferId> here;
    for (const BufferId buffer : row)
      if (program_.buffers[buffer].device == device) here.push_back(buffer);
    return here;
  }
  std::optional<Part> written(TaskId id) const {
    const auto writes = program_.writes[id.index()];
    return writes.empty() ? std::nullopt : std::optional(holds_[writes.front()]);
  }

  // A Split or a Transfer: of one buffer, or of what stands there.
  void check_taken(TaskId id) {
    const Task& task = program_.tasks[id];
    const auto reads = program_.reads[id.index()];
    const Part part = written(id).value_or(said(task, task.tensor));
    expect(reads.size() <= 1 && program_.writes[id.index()].size() <= 1, id, task.tensor,
           "it is taken from several, or into several");
    expect(std::ranges::equal(part.cuts(), said(task, task.tensor).cuts()), id, task.tensor,
           "it is cut otherwise than the task says");
    const AxisRange said_samples{kBatchAxis, task.first_sample, task.first_sample + task.samples};
    const AxisRange* samples = part.along(kBatchAxis);
    if (task.axis < 0)
      expect(samples ? *samples == said_samples
                     : task.samples == batch() ||
                           graph_.tensor(task.tensor).batch.kind == BatchKind::Whole,
             id, task.tensor, "it is of other samples than the task says");
    if (reads.empty())
      return expect(is_standing(task.tensor, part, task.device), id, task.tensor,
                    "what it is taken from is not there");
    const Part& from = holds_[reads.front()];
    const bool whole = task.kind == TaskKind::Transfer || keeps(id);
    expect(whole ? from == part : cuts_out(from, part), id, task.tensor,
           "what it is taken from is another part");
  }

  // A Concat or an AllGather. What no buffer holds stands there.
  void check_joined(TaskId id) {
    const Task& task = program_.tasks[id];
    const auto reads = program_.reads[id.index()];
    if (task.encoding != Encoding::None && task.kind == TaskKind::AllGather) return check_sums(id);
    if (task.encoding != Encoding::None)
      return expect(reads.size() == 1 && written(id) == holds_[reads.front()], id, task.tensor,
                    "it is decoded to another part");
    for (const BufferId buffer : program_.writes[id.index()])
      expect(holds_[buffer] == *written(id), id, task.tensor, "it is not the same everywhere");
    const Part part = written(id).value_or(Part());
    const AxisRange* range = part.along(task.axis);
    const AxisRange all = range ? *range : all_of(task.tensor, task.axis);
    std::vector<AxisRange> ranges;
    for (const BufferId buffer : reads) {
      const AxisRange* own = holds_[buffer].along(task.axis);
      expect(own && !holds_[buffer].is_partial_sum() &&
                 holds_[buffer].without(task.axis) == part.without(task.axis),
             id, task.tensor, "a piece is no slice of it");
      ranges.push_back(*own);
    }
    expect(make_up(ranges, all) || (are_apart_in(ranges, all) && stands_somewhere(id)), id,
           task.tensor, "its pieces overlap, or are not all of it");
  }
  bool stands_somewhere(TaskId id) const {
    const Task& task = program_.tasks[id];
    TensorId tensor = task.tensor;
    for (OpId producer = graph_.tensor(tensor).producer; producer.valid();
         producer = graph_.tensor(tensor).producer) {
      if (!is_alias(graph_, producer)) return false;
      tensor = viewed(producer);
    }
    std::vector<DeviceId> devices = members_of(program_, id);
    if (devices.empty()) devices = {task.device};
    return std::ranges::all_of(devices, [&](DeviceId device) {
      const bool reads = !on_device(program_.reads[id.index()], device).empty();
      return (reads && devices.size() > 1) || resident(tensor, device);
    });
  }

  // ---- what is summed up

  // On each device, or over all of them, the terms of each buffer add up to the total.
  void check_sums(TaskId id) {
    const Task& task = program_.tasks[id];
    const auto reads = program_.reads[id.index()];
    if (task.kind == TaskKind::Sum && task.encoding != Encoding::None && reads.size() == 1)
      return expect(written(id) == holds_[reads.front()], id, task.tensor,
                    "it is decoded to another part");
    if (task.kind == TaskKind::Sum) return check_sum(id, {reads.begin(), reads.end()});
    const std::vector<DeviceId> members = members_of(program_, id);
    const std::size_t count = on_device(reads, members.front()).size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<BufferId> terms;
      for (const DeviceId member : members) {
        const std::vector<BufferId> here = on_device(reads, member);
        expect(here.size() == count, id, task.tensor, "its members have other terms");
        terms.push_back(here[i]);
      }
      check_sum(id, terms);
      if (program_.writes[id.index()].empty())  // in place
        for (const BufferId term : terms) holds_[term] = holds_[term].total();
    }
    if (task.kind == TaskKind::ReduceScatter) check_scattered(id);
  }
  void check_sum(TaskId id, const std::vector<BufferId>& terms) const {
    const Task& task = program_.tasks[id];
    std::vector<AxisRange> samples;
    const Part& first = holds_[terms.front()];
    for (const BufferId term : terms) {
      expect(holds_[term].is_partial_sum() && holds_[term].total() == first.total(), id,
             task.tensor, "its terms are no partial sums, or of several slices");
      samples.push_back(*holds_[term].along(kBatchAxis));
    }
    AxisRange all = all_of(task.tensor, kBatchAxis);
    const bool some = written(id) && written(id)->is_partial_sum();  // at a station
    if (some) all = *written(id)->along(kBatchAxis);
    expect(make_up(samples, all), id, task.tensor, "its terms leave a gap, or one is there twice");
    if (task.kind == TaskKind::ReduceScatter) return;
    for (const BufferId buffer : program_.writes[id.index()])
      expect(holds_[buffer].total() == first.total() && holds_[buffer].is_partial_sum() == some, id,
             task.tensor, "its sum is another part");
  }
  void check_scattered(TaskId id) const {
    const Task& task = program_.tasks[id];
    std::vector<AxisRange> ranges;
    for (const BufferId buffer : program_.writes[id.index()]) {
      const AxisRange* range = holds_[buffer].along(task.axis);
      expect(range && holds_[buffer].without(task.axis).is_whole(), id, task.tensor,
             "a part of the sum is no slice of it");
      ranges.push_back(*range);
    }
    expect(make_up(ranges, all_of(task.tensor, task.axis)), id, task.tensor,
           "a part of the sum is lost, or there twice");
  }

  IdVector<BufferId, Part> holds_;                                   // now
  std::map<std::pair<DeviceId, TensorId>, std::vector<Part>> kept_;  // from step to step
};

}  // namespace

void verify_parts(const Program& program) {
  PartVerifier verifier(program);
  for (std::size_t i = 0; i < program.tasks.size(); ++i) verifier.check(TaskId(i));
}

}  // namespace strato
