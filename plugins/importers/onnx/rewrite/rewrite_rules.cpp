// Which ops are rewritten, and as what.
#include <algorithm>

#include "core/graph/value/op_reader.h"
#include "plugins/importers/onnx/rewrite/writer.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;

const Value* whole_numbers(const Entry& entry) {
  const Value* value = entry.facts.value.get();
  return value != nullptr && !value->floating() ? value : nullptr;
}

// A box of a tensor's first axes: so many elements of each, from `begin` on.
struct Box {
  Shape begin, extent;
};

Int wrapped(Int index, Int extent) { return index < 0 ? index + extent : index; }

// Indices [..., axes] that run through a box in row-major order; nothing: they do not.
std::optional<Box> box_of(const Value& indices, const Shape& data) {
  if (indices.shape.empty() || indices.ints.empty()) return std::nullopt;
  const auto axes = static_cast<std::size_t>(indices.shape.back());
  if (axes == 0 || axes > data.size()) return std::nullopt;
  Box box{{}, Shape(axes, 1)};
  for (std::size_t i = 0; i < axes; ++i) box.begin.push_back(wrapped(indices.ints[i], data[i]));
  const std::size_t rows = indices.ints.size() / axes;
  for (std::size_t i = 0; i < axes; ++i)  // the last row is the box's far corner
    box.extent[i] = wrapped(indices.ints[(rows - 1) * axes + i], data[i]) - box.begin[i] + 1;
  for (std::size_t i = 0; i < axes; ++i)
    if (box.begin[i] < 0 || box.extent[i] < 1 || box.begin[i] + box.extent[i] > data[i])
      return std::nullopt;
  if (product(box.extent) != static_cast<double>(rows)) return std::nullopt;
  Shape at(axes, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < axes; ++i)
      if (wrapped(indices.ints[row * axes + i], data[i]) != box.begin[i] + at[i])
        return std::nullopt;
    for (std::size_t i = axes; i-- > 0 && ++at[i] == box.extent[i];) at[i] = 0;
  }
  return box;
}

// Writes `update` over the box of `data`, axis by axis from `axis` on; the other elements are what
// stands before, behind and, further in, beside it.
Entry* joined(OpWriter& writer, Entry* data, Entry* update, const Box& box, std::size_t axis) {
  while (axis < box.begin.size() && box.extent[axis] == data->facts.shape[axis]) ++axis;
  if (axis == box.begin.size()) return update;
  const Shape& shape = data->facts.shape;
  const Int begin = box.begin[axis], end = begin + box.extent[axis];
  Entries parts;
  if (begin > 0) parts.push_back(writer.slice(data, axis, 0, begin));
  bool last = true;
  for (std::size_t i = axis + 1; i < box.begin.size(); ++i)
    last = last && box.extent[i] == shape[i];
  Entry* beside = last ? data : writer.slice(data, axis, begin, end);
  parts.push_back(last ? update : joined(writer, beside, update, box, axis + 1));
  if (end < shape[axis]) parts.push_back(writer.slice(data, axis, end, shape[axis]));
  return writer.add("Concat", parts, shape, {{"axis", static_cast<Int>(axis)}});
}

// The samples' places among the rows of all of them: n * rows for sample n.
bool is_first_row_of_each(const Entry& entry, const Shape& index, Int rows) {
  const Value* value = whole_numbers(entry);
  if (value == nullptr || value->shape.size() != index.size() || value->shape[0] != index[0])
    return false;
  const std::size_t samples = static_cast<std::size_t>(index[0]);
  if (value->ints.size() != samples) return false;
  for (std::size_t n = 0; n < samples; ++n)
    if (value->ints[n] != static_cast<Int>(n) * rows) return false;
  return true;
}

const TranslatedOp* maker_of(const Makers& makers, const Entry* entry) {
  const auto found = makers.find(entry);
  return found != makers.end() ? found->second : nullptr;
}

// Hands on what `made` is as the result of the op that is replaced.
std::vector<TranslatedOp> ending_in(OpWriter writer, Entry* made, Entry* result) {
  Entry* shape = writer.constant(result->facts.shape);
  writer.add("Reshape", {made, shape}, {}, {}, result);
  return std::move(writer).finish();
}

}  // namespace

Rewritten stretched_tile(const TranslatedOp& tile, OpWriter writer) {
  if (tile.inputs.size() != 2) return std::nullopt;
  const Value* repeats = whole_numbers(*tile.inputs[1]);
  const Shape& shape = tile.inputs[0]->facts.shape;
  if (repeats == nullptr || repeats->ints.size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && repeats->ints[i] != 1) return std::nullopt;
  Entry* target = writer.constant(tile.outputs[0]->facts.shape);
  writer.add("Expand", {tile.inputs[0], target}, {}, {}, tile.outputs[0]);
  return std::move(writer).finish();
}

Rewritten written_box(const TranslatedOp& scatter, OpWriter writer) {
  if (scatter.inputs.size() != 3 || scatter.op.text("reduction", "none") != "none")
    return std::nullopt;
  Entry *data = scatter.inputs[0], *update = scatter.inputs[2];
  const Value* indices = whole_numbers(*scatter.inputs[1]);
  if (indices == nullptr || data->facts.type != update->facts.type) return std::nullopt;
  const std::optional<Box> box = box_of(*indices, data->facts.shape);
  if (!box) return std::nullopt;
  Shape shape = box->extent;
  const Shape& all = data->facts.shape;
  shape.insert(shape.end(), all.begin() + std::ssize(box->begin), all.end());
  if (product(shape) != product(update->facts.shape)) return std::nullopt;
  Entry* made = joined(writer, data, writer.reshape(update, shape), *box, 0);
  return ending_in(std::move(writer), made, scatter.outputs[0]);
}

Rewritten rows_of_samples(const TranslatedOp& gather, OpWriter writer, const Makers& makers) {
  if (gather.inputs.size() != 2 || gather.op.integer("axis", 0) != 0) return std::nullopt;
  const TranslatedOp* merge = maker_of(makers, gather.inputs[0]);
  const TranslatedOp* sum = maker_of(makers, gather.inputs[1]);
  if (merge == nullptr || (merge->op.type != "Flatten" && merge->op.type != "Reshape") ||
      sum == nullptr || sum->op.type != "Add" || sum->inputs.size() != 2)
    return std::nullopt;
  Entry* rows = merge->inputs[0];
  const Shape &apart = rows->facts.shape, &merged = gather.inputs[0]->facts.shape,
              &index = gather.inputs[1]->facts.shape;
  if (apart.size() < 2 || merged.empty() || index.empty() || apart[0] != index[0] ||
      apart[0] * apart[1] != merged[0])
    return std::nullopt;
  const bool first = is_first_row_of_each(*sum->inputs[0], index, apart[1]);
  if (!first && !is_first_row_of_each(*sum->inputs[1], index, apart[1])) return std::nullopt;
  Entry* row = sum->inputs[first ? 1 : 0];
  if (row->facts.shape != index) return std::nullopt;
  const auto width = static_cast<Int>(product(merged, 1));
  const auto picked = static_cast<Int>(product(index, 1));
  Entry* places = writer.reshape(row, {index[0], picked, 1});
  Entry* target = writer.constant({index[0], picked, width});
  Entry* spread = writer.add("Expand", {places, target}, {index[0], picked, width});
  Entry* found =
      writer.add("GatherElements", {writer.reshape(rows, {apart[0], apart[1], width}), spread},
                 {index[0], picked, width}, {{"axis", Int{1}}});
  return ending_in(std::move(writer), found, gather.outputs[0]);
}

}  // namespace strato::onnx_import
