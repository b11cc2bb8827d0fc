#include "plugins/importers/onnx/translate/batch_adjustment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace strato::onnx_import {
namespace {

bool is_repeated(const Shape& from, std::size_t axis, std::size_t rank) {
  const std::size_t missing = rank - std::min(rank, from.size());
  return axis < missing || from[axis - missing] == 1;
}

// A target shape that was the same number list at the old batch: `old_result` is what it made
// there. Nothing when the list needs no change. `stretched`: the shape of what is repeated to the
// target and did not follow the batch, if any; samples are then on an axis that is repeated once
// for each.
std::optional<Shape> rebatched_target(const Shape& target, const Shape& old_result,
                                      const Binding& change, const Shape* stretched) {
  if (target.size() != old_result.size()) return std::nullopt;
  // Samples are the outermost factor: the first extent that they divide is theirs.
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (old_result[i] == 0 || old_result[i] % change.file_batch != 0) continue;
    const bool repeats_samples =
        stretched == nullptr ||
        (old_result[i] == change.file_batch && is_repeated(*stretched, i, target.size()));
    if (!repeats_samples) continue;
    if (target[i] != old_result[i]) return std::nullopt;  // -1 or 0: follows by itself
    Shape result = target;
    result[i] = old_result[i] / change.file_batch * change.batch;
    return result;
  }
  return std::nullopt;
}

// Ops whose operands have the samples on the same axis, aligned from the right.
bool joins_samples(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string_view> types = {
      "Add",  "And",         "Div", "Equal", "Greater", "GreaterOrEqual",
      "Less", "LessOrEqual", "Max", "Mean",  "Min",     "Mul",
      "Or",   "Pow",         "Sub", "Sum",   "Where"};
  const std::string& type = node.op_type();
  return types.contains(type) || (type == "Concat" && integer(node, "axis", 0) != 0);
}

// The value for so many rows (of axis 0) that it would have if it was made for as many samples:
// its rows are all alike, or count up evenly. Nothing: they do not.
std::optional<Value> continued(const Value& value, std::int64_t rows) {
  constexpr std::size_t kMostElements = std::size_t{1} << 20;
  const auto old_rows = static_cast<std::size_t>(value.shape[0]);
  const std::size_t row = value.size() / old_rows, size = row * static_cast<std::size_t>(rows);
  if (size > kMostElements) return std::nullopt;
  Value result{value.type, value.shape, {}, {}};
  result.shape[0] = rows;
  const auto step = [&](std::size_t i) { return value.ints[row + i] - value.ints[i]; };
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t column = i % row;
    const bool inside = i < value.size();
    if (value.floating()) {
      if (inside && value.reals[i] != value.reals[column]) return std::nullopt;
      result.reals.push_back(value.reals[column]);
      continue;
    }
    const std::int64_t further = old_rows > 1 ? step(column) : 0;
    const std::int64_t element = value.ints[column] + static_cast<std::int64_t>(i / row) * further;
    if (inside && value.ints[i] != element) return std::nullopt;
    result.ints.push_back(element);
  }
  return result;
}

// Tells whether a tensor's size followed the batch, or did not depend on it.
bool consistent(const Shape& old_shape, const Shape& new_shape, const Binding& change) {
  const std::optional<std::int64_t> before = element_count(old_shape),
                                    after = element_count(new_shape);
  if (!before || !after || *before == *after) return before && after;
  return static_cast<__int128>(*before) * change.batch ==
         static_cast<__int128>(*after) * change.file_batch;
}

}  // namespace

void BatchAdjustment::adjust(const onnx::NodeProto& node, Entries& inputs) {
  const std::string& type = node.op_type();
  if (type == "Reshape" || type == "Expand") adjust_target(node, inputs, 1);
  if (type == "Resize") adjust_target(node, inputs, 3);
  if (joins_samples(node)) adjust_operands(inputs);
  if (type == "LSTM") adjust_state(inputs, 6);
  if (type == "LSTM" || type == "GRU" || type == "RNN") adjust_state(inputs, 5);
}

// A shape given as numbers that did not change with the batch although the tensor did.
void BatchAdjustment::adjust_target(const onnx::NodeProto& node, Entries& inputs,
                                    std::size_t slot) {
  if (slot >= inputs.size() || !inputs[slot] || !inputs[slot]->facts.value || !inputs[0]) return;
  const Entry* old_target = original_.find(inputs[slot]->name);
  const Entry* old_input = original_.find(node.input(0));
  const Entry* old_result = node.output_size() > 0 ? original_.find(node.output(0)) : nullptr;
  const Shape& target = inputs[slot]->facts.value->ints;
  if (!old_target || !old_result || !old_input || !old_target->facts.value) return;
  const bool follows = old_target->facts.value->ints != target;
  const bool fixed_input = old_input->facts.shape == inputs[0]->facts.shape;
  if (follows || (fixed_input && node.op_type() != "Expand")) return;
  const Shape* stretched = fixed_input ? &inputs[0]->facts.shape : nullptr;
  const auto adjusted = rebatched_target(target, old_result->facts.shape, change_, stretched);
  if (!adjusted) return;
  inputs[slot] = &scope_.tensors.add_substitute(
      {inputs[slot]->name, TensorRole::Constant, known(integers(*adjusted))});
}

// A recurrent layer's first state, stored for the file's batch (axis 1).
void BatchAdjustment::adjust_state(Entries& inputs, std::size_t slot) {
  if (slot >= inputs.size() || inputs[slot] == nullptr || inputs[slot]->facts.shape.size() != 3)
    return;
  const bool data =
      inputs[slot]->role == TensorRole::Activation || inputs[slot]->role == TensorRole::Input;
  if (data || inputs[slot]->facts.shape[1] != change_.file_batch) return;
  const Entry* old = original_.find(inputs[slot]->name);
  if (old == nullptr || old->facts.shape != inputs[slot]->facts.shape) return;
  Entry state = *inputs[slot];
  state.facts.shape[1] = change_.batch;
  state.facts.value = nullptr;
  state.origin = nullptr;  // the file has another batch's
  inputs[slot] = &scope_.tensors.add_substitute(std::move(state));
}

// Masks, positions and numbers of rows that were computed for the file's batch, beside an operand
// that followed the other one, or one that has them stretched.
void BatchAdjustment::adjust_operands(Entries& inputs) {
  std::size_t rank = 0;
  for (const Entry* input : inputs)
    if (input != nullptr) rank = std::max(rank, input->facts.shape.size());
  std::int64_t before = 0, after = 0;
  bool stretched = rank > 2 && change_.file_batch > 1;
  for (const Entry* input : inputs) {
    const bool has_rows = input != nullptr && input->facts.shape.size() == rank && rank > 0;
    stretched =
        stretched && (!has_rows || input->facts.value != nullptr || input->facts.shape[0] == 1);
    const Entry* old = input != nullptr ? original_.find(input->name) : nullptr;
    if (old == nullptr || rank == 0 || input->facts.shape.size() != rank ||
        old->facts.shape.size() != rank || old->facts.shape[0] == input->facts.shape[0])
      continue;
    before = old->facts.shape[0];
    after = input->facts.shape[0];
  }
  if (before == 0 && stretched) {
    before = change_.file_batch;
    after = change_.batch;
  }
  if (before == 0 || after * change_.file_batch != before * change_.batch) return;
  for (Entry*& input : inputs) {
    if (input == nullptr || input->facts.value == nullptr || input->facts.shape.size() != rank ||
        input->facts.shape[0] != before)
      continue;
    std::optional<Value> value = continued(*input->facts.value, after);
    if (!value || value->size() == 0) continue;
    input = &scope_.tensors.add_substitute(
        {input->name, TensorRole::Constant, known(std::move(*value))});
  }
}

void BatchAdjustment::check(const onnx::NodeProto& node, const Entry& output) const {
  const Entry* old = original_.find(output.name);
  if (old == nullptr || consistent(old->facts.shape, output.facts.shape, change_)) return;
  refuse_node(node, "its size does not follow the batch");
}

void BatchAdjustment::refuse_node(const onnx::NodeProto& node, const std::string& reason) const {
  scope_.refuse(
      node,
      fmt::format("the file's own batch of {} is built in here ({})", change_.file_batch, reason),
      "leave --batch out, or export the model with a symbolic batch dimension");
}

}  // namespace strato::onnx_import
