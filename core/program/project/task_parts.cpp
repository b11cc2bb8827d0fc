#include "core/program/project/task_parts.h"

#include <algorithm>

#include "core/graph/axes/split_axes.h"

namespace strato {
namespace {

// By input of an op that is split along this axis: the axis that it is cut along; -1: it is whole.
// An input that is read twice, along different axes, is needed as a whole.
std::vector<int> input_axes(const ProgramTask& at, int axis) {
  const std::vector<TensorId>& inputs = at.op().inputs;
  const std::vector<SplitAxis> axes = split_axes(*at.program.graph, at.task().op);
  const auto split = std::ranges::find(axes, axis, &SplitAxis::axis);
  at.expect(split != axes.end(), inputs.front(), "its op has no such axis");
  std::vector<int> result = split->inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < inputs.size(); ++j)
      if (inputs[j] == inputs[i] && split->inputs[j] != split->inputs[i]) result[i] = -1;
  return result;
}

// Only updates are cut along several axes; their inputs are cut alike, or not at all.
void cut_further(const ProgramTask& at, const AxisRange& range, std::vector<Part>& parts) {
  const std::vector<TensorId>& inputs = at.op().inputs;
  const std::vector<int> axes = input_axes(at, range.axis);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool cut = inputs[i].valid() && !parts[i].is_whole();
    at.expect(!inputs[i].valid() || axes[i] == (cut ? range.axis : -1), inputs[i],
              "its axes are not those of what its op updates");
    if (cut) parts[i] = parts[i].cut(range);
  }
}

}  // namespace

bool is_trained(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return !tensor.producer.valid() && tensor.role == TensorRole::Parameter &&
         graph.update_of(id).valid();
}

Part samples_part(const Graph& graph, TensorId tensor, std::int32_t begin, std::int32_t end) {
  const BatchKind kind =
      is_trained(graph, tensor) ? BatchKind::Whole : graph.tensor(tensor).batch.kind;
  if (kind == BatchKind::Whole || (begin == 0 && end == graph.batch())) return {};
  return kind == BatchKind::Batched ? Part::samples(begin, end) : Part::partial_sum(begin, end);
}

Part slice_part(const ProgramTask& at, TensorId tensor, int axis, std::int32_t begin,
                std::int32_t end) {
  const Shape& shape = at.program.graph->tensor(tensor).shape;
  const auto index = static_cast<std::size_t>(axis);
  at.expect(index < shape.size() && begin >= 0 && begin < end && end <= shape[index], tensor,
            "it has no such slice");
  return begin == 0 && end == shape[index] ? Part() : Part::slice(axis, begin, end);
}

AxisRange range_along(const Graph& graph, TensorId tensor, const Part& part, int axis) {
  if (const AxisRange* range = part.along(axis)) return *range;
  const std::int64_t extent =
      axis < 0 ? graph.batch() : graph.tensor(tensor).shape[static_cast<std::size_t>(axis)];
  return {static_cast<std::int8_t>(axis), 0, static_cast<std::int32_t>(extent)};
}

Part stated_part(const ProgramTask& at, TensorId tensor) {
  const Task& task = at.task();
  const std::int32_t begin = task.first_sample, end = begin + task.samples;
  if (task.axis < 0) return samples_part(*at.program.graph, tensor, begin, end);
  if (task.more_cuts < 0) return slice_part(at, tensor, task.axis, begin, end);
  return Part::slice(at.program.ranges_of(task));
}

Part computed_part(const ProgramTask& at) {
  const Task& task = at.task();
  if (task.axis >= 0) return Part::slice(at.program.ranges_of(task));
  if (task.samples == at.program.graph->batch()) return {};
  return Part::samples(task.first_sample, task.first_sample + task.samples);
}

std::vector<Part> input_parts(const ProgramTask& at) {
  const std::vector<TensorId>& inputs = at.op().inputs;
  const Task& task = at.task();
  const std::int32_t begin = task.first_sample, end = begin + task.samples;
  std::vector<Part> parts(inputs.size());
  const std::vector<int> axes = task.axis < 0 ? std::vector<int>() : input_axes(at, task.axis);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) continue;
    if (task.axis < 0)
      parts[i] = samples_part(*at.program.graph, inputs[i], begin, end);
    else if (axes[i] >= 0)
      parts[i] = slice_part(at, inputs[i], axes[i], begin, end);
  }
  if (task.more_cuts >= 0)
    for (const AxisRange& range : at.program.ranges_of(task))
      if (range.axis != task.axis) cut_further(at, range, parts);
  return parts;
}

void expect_tiles(const ProgramTask& at, TensorId tensor, std::vector<AxisRange> ranges,
                  const AxisRange& whole) {
  std::ranges::sort(ranges);
  std::int32_t next = whole.begin;
  for (const AxisRange& range : ranges) {
    at.expect(range.begin == next, tensor, "its pieces overlap or leave a gap");
    next = range.end;
  }
  at.expect(next == whole.end, tensor, "its pieces are not all of it");
}

}  // namespace strato
