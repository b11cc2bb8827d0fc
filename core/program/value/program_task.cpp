#include "core/program/value/program_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"

namespace strato {
namespace {

// By input of an op that is divided along this axis: the axis that it is cut along; -1: it is
// whole.
std::vector<int> input_axes(const ProgramTask& at, int axis) {
  const Graph& graph = *at.program.graph;
  const std::vector<TensorId>& inputs = at.op().inputs;
  const std::vector<SplitAxis> axes = split_axes(graph, at.task().op);
  const auto split = std::ranges::find(axes, axis, &SplitAxis::axis);
  std::vector<int> result(inputs.size(), -1);
  if (split == axes.end())  // of an update that is known by its phase: what is like its parameter
    at.expect(at.op().phase == Phase::Update, inputs.front(), "its op has no such axis");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) continue;
    const bool alike = graph.tensor(inputs[i]).shape == graph.tensor(inputs.front()).shape;
    result[i] = split != axes.end() ? axis_read(at.op(), split->inputs, inputs[i])
                : alike             ? axis
                                    : -1;
  }
  return result;
}

// Cuts the part, unless the range is all of its axis.
void cut_part(const ProgramTask& at, TensorId tensor, const AxisRange& range, Part& part) {
  const Shape& shape = at.program.graph->tensor(tensor).shape;
  const auto axis = static_cast<std::size_t>(static_cast<std::uint8_t>(range.axis));
  at.expect(axis < shape.size() && range.begin >= 0 && range.begin < range.end &&
                range.end <= shape[axis],
            tensor, "it has no such slice");
  if (range.size() < shape[axis]) part = part.cut(range);
}

}  // namespace

void ProgramTask::fail(TensorId tensor, const std::string& problem) const {
  throw InvariantError(fmt::format("task {} ({}), tensor {}: {}", id.value(), program.task_name(id),
                                   program.graph->tensor(tensor).name, problem));
}

Part stated_part(const ProgramTask& at, TensorId tensor) {
  const Part& said = at.program.part_of(at.task());
  Part part;
  if (const AxisRange* samples = said.along(kBatchAxis))
    part = samples_part(*at.program.graph, tensor, samples->begin, samples->end);
  if (said.times() > 1 && !part.is_whole()) part = part.repeated(said.period(), said.times());
  for (const AxisRange& range : said.cuts()) cut_part(at, tensor, range, part);
  return said.sums_letter() ? part.cut(said.addend()) : part;
}

std::vector<Part> input_parts(const ProgramTask& at) {
  const std::vector<TensorId>& inputs = at.op().inputs;
  const Graph& graph = *at.program.graph;
  const Part& part = at.program.part_of(at.task());
  if (const auto letters = letters_of(graph, at.task().op, part); !letters.empty())
    return parts_read(graph, at.task().op, part, letters);
  std::vector<Part> parts(inputs.size());
  const auto cuts = at.program.cuts_of(at.task());
  for (std::size_t i = 0; cuts.empty() && i < inputs.size(); ++i)
    if (inputs[i].valid()) parts[i] = stated_part(at, inputs[i]);
  for (AxisRange range : cuts) {
    const std::vector<int> axes = input_axes(at, range.axis);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      range.axis = static_cast<std::int8_t>(axes[i]);
      if (range.axis >= 0) cut_part(at, inputs[i], range, parts[i]);
    }
  }
  return parts;
}

std::vector<Part> output_parts(const ProgramTask& at) {
  const Graph& graph = *at.program.graph;
  const Part& part = at.program.part_of(at.task());
  if (const auto letters = letters_of(graph, at.task().op, part); !letters.empty())
    return parts_made(graph, at.task().op, part, letters);
  // Cuts are along axes of the first output.
  const bool of_the_only = part.cuts().size() > 1 && at.op().outputs.size() == 1;
  std::vector<Part> parts;
  for (const TensorId output : at.op().outputs) {
    at.expect((part.cuts().empty() || of_the_only) && !part.sums_letter(), output,
              "it is not known along which axis it is divided");
    parts.push_back(stated_part(at, output));
  }
  return parts;
}

int joined_axis(const Part& piece, const Part& made) {
  for (const AxisRange& range : piece.ranges()) {
    const AxisRange* whole = made.along(range.axis);
    if (!whole || *whole != range) return range.axis;
  }
  return kBatchAxis;
}

int scattered_axis(const Part& piece, const Part& term) {
  for (const AxisRange& range : piece.cuts())
    if (const AxisRange* whole = term.along(range.axis); !whole || *whole != range)
      return range.axis;
  return kBatchAxis;
}

Part with_all_of(int axis, const Part& part, const Part& of) {
  const AxisRange* all = of.along(axis);
  return all ? part.cut(*all) : part.without(axis);
}

Part sum_with_next(const ProgramTask& at, const Part& sum, const Part& term) {
  const TensorId tensor = at.task().tensor;
  at.expect(sum.sums_samples() && term.sums_samples() && term.times() == 1 &&
                sum.without(kBatchAxis) == term.without(kBatchAxis),
            tensor, "its terms are no partial sums, or of several slices");
  const auto batch = static_cast<std::int32_t>(at.program.graph->batch());
  const std::int32_t period = batch / at.program.micro_batches, times = sum.times();
  AxisRange next = sum.first();
  next.begin += times * period;
  next.end += times * period;
  at.expect(term.first() == next && times < at.program.micro_batches, tensor,
            "it adds the samples of another micro-batch");
  const bool all = times + 1 == at.program.micro_batches && sum.first().size() == period;
  return all ? sum.without(kBatchAxis) : sum.repeated(period, times + 1);
}

Part sum_in_place(const ProgramTask& at, const Part& term) {
  return at.stream() == Stream::TensorCommunication ? term.total() : term.summed_up();
}

bool add_up(const ProgramTask& at, TensorId tensor, std::span<const Part> terms, const Part& sum) {
  const Graph& graph = *at.program.graph;
  const Part& first = terms.front();
  if ((sum.sums_samples() && !first.sums_samples()) || (sum.sums_letter() && !first.sums_letter()))
    return false;
  AxisRange samples = range_along(graph, tensor, sum.sums_samples() ? sum : Part(), kBatchAxis);
  if (!sum.sums_samples() && first.times() > 1) {  // of each micro-batch, and of all of them
    if (std::int64_t{first.period()} * first.times() != graph.batch()) return false;
    samples.end = first.period();
  }
  std::map<AxisRange, std::vector<AxisRange>> by_letter;  // samples
  for (const Part& term : terms) {
    const bool alike = term.summed_up() == first.summed_up() &&
                       term.sums_letter() == first.sums_letter() &&
                       term.sums_samples() == first.sums_samples() &&
                       term.period() == first.period() && term.times() == first.times();
    if (!alike || !term.is_partial_sum()) return false;
    by_letter[term.sums_letter() ? term.addend() : AxisRange()].push_back(
        term.sums_samples() ? term.first() : samples);
  }
  std::vector<AxisRange> letters;
  for (const auto& [letter, of_samples] : by_letter) {
    if (!make_up(of_samples, samples)) return false;
    letters.push_back(letter);
  }
  if (!first.sums_letter()) return true;
  const AxisRange& of_sum = sum.sums_letter() ? sum.addend() : first.addend();
  const AxisRange all = range_along(graph, tensor, sum, of_sum.axis);
  return of_sum.axis == first.addend().axis && make_up(letters, all);
}

bool make_up(std::vector<AxisRange> ranges, const AxisRange& whole) {
  std::ranges::sort(ranges);
  std::int32_t next = whole.begin;
  for (const AxisRange& range : ranges) {
    if (range.begin != next) return false;
    next = range.end;
  }
  return next == whole.end;
}

}  // namespace strato
