#include "core/program/value/op_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/program/value/tables.h"

namespace strato {
namespace {

const Shape& shape_of(const Graph& graph, TensorId tensor) { return graph.tensor(tensor).shape; }

// The letter's indices as a range of an axis of the tensor; no range where it is all of the axis.
Part cut_along(const Graph& graph, TensorId tensor, const Part& part, int axis,
               const OpLetter& letter) {
  const std::int64_t extent = shape_of(graph, tensor)[static_cast<std::size_t>(axis)];
  const std::int64_t unit = extent / letter.split.extent;
  const AxisRange range{static_cast<std::int8_t>(axis),
                        static_cast<std::int32_t>(letter.range.begin * unit),
                        static_cast<std::int32_t>(letter.range.end * unit)};
  return range.size() < extent ? part.cut(range) : part;
}

// The same proportion of the letter that the tensor's producer sums over.
AxisRange addend_read(const Graph& graph, TensorId tensor, int axis, const OpLetter& letter) {
  static_assert(kSumOver == kSummedAxis);
  const auto unit =
      static_cast<std::int32_t>(range_along(graph, tensor, {}, axis).end / letter.split.extent);
  return {static_cast<std::int8_t>(axis), letter.range.begin * unit, letter.range.end * unit};
}

Part samples_of(const Graph& graph, TensorId tensor, const Part& part) {
  const AxisRange* samples = part.along(kBatchAxis);
  if (!samples) return {};
  const Part own = samples_part(graph, tensor, samples->begin, samples->end);
  return part.times() > 1 && !own.is_whole() ? own.repeated(part.period(), part.times()) : own;
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

AxisRange range_along(const Graph& graph, TensorId tensor, const Part& part, int axis) {
  if (const AxisRange* range = part.along(axis)) return *range;
  std::int64_t extent = graph.batch();
  if (axis >= kSummedAxis) {
    const auto splits = letter_splits(graph, graph.tensor(tensor).producer);
    extent = splits[static_cast<std::size_t>(axis - kSummedAxis)].extent;
  } else if (axis >= 0) {
    extent = shape_of(graph, tensor)[static_cast<std::size_t>(axis)];
  }
  return {static_cast<std::int8_t>(axis), 0, static_cast<std::int32_t>(extent)};
}

// The letter's indices that a range of an axis of this extent stands for; nothing: it is none.
static std::optional<OpLetter> letter_of(const LetterSplit& split, std::int32_t ordinal,
                                         const AxisRange& range, std::int64_t extent) {
  const std::int64_t unit = extent / split.extent;
  if (range.begin % unit != 0 || range.end % unit != 0) return std::nullopt;
  return OpLetter{split,
                  ordinal,
                  {0, static_cast<std::int32_t>(range.begin / unit),
                   static_cast<std::int32_t>(range.end / unit)}};
}

static std::optional<OpLetter> letter_along(const Graph& graph, const Op& op,
                                            std::span<const LetterSplit> splits,
                                            const AxisRange& named) {
  for (std::int32_t i = 0; i < std::ssize(splits); ++i) {
    const LetterSplit& split = splits[static_cast<std::size_t>(i)];
    const int axis = op.outputs.empty() ? split.inputs.front() : split.outputs.front();
    if (axis == kSummed ? named.axis != kSummedAxis + i : named.axis != axis) continue;
    const TensorId divided = op.outputs.empty() ? op.inputs.front() : op.outputs.front();
    return letter_of(
        split, i, named,
        axis == kSummed ? split.extent : shape_of(graph, divided)[static_cast<std::size_t>(axis)]);
  }
  return std::nullopt;
}

std::vector<OpLetter> letters_of(const Graph& graph, OpId id, const Part& part) {
  if (!part.is_divided()) return {};
  const Op& op = graph.op(id);
  const std::vector<LetterSplit> splits = letter_splits(graph, id);
  std::vector<OpLetter> letters;
  const auto add = [&](const AxisRange& named) {
    const auto letter = letter_along(graph, op, splits, named);
    if (letter) letters.push_back(*letter);
    return letter.has_value();
  };
  const bool are_known =
      std::ranges::all_of(part.cuts(), add) && (!part.sums_letter() || add(part.addend()));
  return are_known ? letters : std::vector<OpLetter>();
}

int axis_read(const Op& op, std::span<const int> axes, TensorId input) {
  std::optional<int> axis;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] != input) continue;
    if (axis.value_or(axes[i]) != axes[i]) return kAllOf;
    axis = axes[i];
  }
  return axis.value_or(kAllOf);
}

std::vector<Part> parts_read(const Graph& graph, OpId id, const Part& part,
                             std::span<const OpLetter> letters) {
  const Op& op = graph.op(id);
  std::vector<Part> parts;
  for (const TensorId input : op.inputs) {
    Part& own = parts.emplace_back();
    if (!input.valid()) continue;
    own = samples_of(graph, input, part);
    for (const OpLetter& letter : letters) {
      const int axis = axis_read(op, letter.split.inputs, input);
      if (axis >= kSumOver)
        own = own.cut(addend_read(graph, input, axis, letter));
      else if (axis >= 0)
        own = cut_along(graph, input, own, axis, letter);
    }
  }
  return parts;
}

std::vector<Part> parts_made(const Graph& graph, OpId id, const Part& part,
                             std::span<const OpLetter> letters) {
  const std::vector<TensorId>& outputs = graph.op(id).outputs;
  std::vector<Part> parts;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    Part& own = parts.emplace_back(samples_of(graph, outputs[o], part));
    for (const OpLetter& letter : letters) {
      const int axis = letter.split.outputs[o];
      const AxisRange summed{static_cast<std::int8_t>(kSummedAxis + letter.ordinal),
                             letter.range.begin, letter.range.end};
      own = axis == kSummed ? own.cut(summed) : cut_along(graph, outputs[o], own, axis, letter);
    }
  }
  return parts;
}

Part part_in_view(const Graph& graph, TensorId tensor, TensorId view, const Part& part) {
  const OpId op = graph.tensor(view).producer;
  if (tensor == view || part.cuts().empty() || !op.valid() || !is_alias(graph, op)) return part;
  const TensorId base = viewed(graph, op);
  const Part of_base = part_in_view(graph, tensor, base, part);
  const std::vector<LetterSplit> splits = letter_splits(graph, op);
  Part others = of_base;
  std::vector<std::pair<int, OpLetter>> along;  // axes of the view
  for (const AxisRange& range : of_base.cuts()) {
    const std::int64_t extent = shape_of(graph, base)[static_cast<std::size_t>(range.axis)];
    std::optional<OpLetter> letter;
    for (const LetterSplit& split : splits)
      if (!letter && split.inputs.front() == range.axis)
        letter = letter_of(split, 0, range, extent);
    if (!letter) return of_base;
    along.push_back({letter->split.outputs.front(), *letter});
    others = others.without(range.axis);
  }
  for (const auto& [axis, letter] : along) others = cut_along(graph, view, others, axis, letter);
  return others;
}

Part part_viewed(const Graph& graph, OpId view, const Part& part) {
  const std::vector<OpLetter> letters = letters_of(graph, view, part);
  if (letters.empty()) return part;
  Part others = part;
  while (!others.cuts().empty()) others = others.without(others.cuts().front().axis);
  for (const OpLetter& letter : letters)
    if (const int axis = letter.split.inputs.front(); axis >= 0)
      others = cut_along(graph, viewed(graph, view), others, axis, letter);
  return others;
}

}  // namespace strato
