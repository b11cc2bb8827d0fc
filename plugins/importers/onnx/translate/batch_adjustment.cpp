#include "plugins/importers/onnx/translate/batch_adjustment.h"

#include <fmt/format.h>

#include <utility>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

const Entry* BatchAdjustment::before(const std::string& name) const {
  const auto found = original_.by_name.find(name);
  return found == original_.by_name.end() ? nullptr : found->second;
}

void BatchAdjustment::adjust(const onnx::NodeProto& node, Entries& inputs) {
  const std::string& type = node.op_type();
  if (type == "Reshape") adjust_target(node, inputs, 1);
  if (type == "Expand") adjust_target(node, inputs, 1);
  if (type == "Resize") adjust_target(node, inputs, 3);
  if (type == "LSTM") adjust_state(inputs, 6);
  if (type == "LSTM" || type == "GRU" || type == "RNN") adjust_state(inputs, 5);
}

// A shape given as numbers that did not change with the batch although the tensor did.
void BatchAdjustment::adjust_target(const onnx::NodeProto& node, Entries& inputs,
                                    std::size_t slot) {
  if (slot >= inputs.size() || !inputs[slot] || !inputs[slot]->facts.value || !inputs[0]) return;
  const Entry* old_target = before(inputs[slot]->name);
  const Entry* old_input = before(node.input(0));
  const Entry* old_result = node.output_size() > 0 ? before(node.output(0)) : nullptr;
  const Shape& target = inputs[slot]->facts.value->ints;
  if (!old_target || !old_result || !old_input || !old_target->facts.value) return;
  const bool follows = old_target->facts.value->ints != target;
  const bool fixed_input = old_input->facts.shape == inputs[0]->facts.shape;
  if (follows || (fixed_input && node.op_type() != "Expand")) return;
  const Shape* stretched = fixed_input ? &inputs[0]->facts.shape : nullptr;
  const auto adjusted = rebatched_target(target, old_result->facts.shape, change_, stretched);
  if (!adjusted) return;
  inputs[slot] = &tensors_.add_substitute(
      {inputs[slot]->name, TensorRole::Constant, known(integers(*adjusted)), -1, false});
}

// A recurrent layer's first state, stored for the file's batch (axis 1).
void BatchAdjustment::adjust_state(Entries& inputs, std::size_t slot) {
  if (slot >= inputs.size() || inputs[slot] == nullptr || inputs[slot]->facts.shape.size() != 3)
    return;
  const bool data =
      inputs[slot]->role == TensorRole::Activation || inputs[slot]->role == TensorRole::Input;
  if (data || inputs[slot]->facts.shape[1] != change_.from) return;
  const Entry* old = before(inputs[slot]->name);
  if (old == nullptr || old->facts.shape != inputs[slot]->facts.shape) return;
  Entry state = *inputs[slot];
  state.facts.shape[1] = change_.to;
  state.facts.value = nullptr;
  state.origin = nullptr;  // the file has another batch's
  inputs[slot] = &tensors_.add_substitute(std::move(state));
}

void BatchAdjustment::check(const onnx::NodeProto& node, const Entry& output) const {
  const Entry* old = before(output.name);
  if (old == nullptr || consistent(old->facts.shape, output.facts.shape, change_)) return;
  refuse_node(node, "its size does not follow the batch");
}

void BatchAdjustment::refuse_node(const onnx::NodeProto& node, const std::string& reason) const {
  refuse(file_, node,
         fmt::format("the file's own batch of {} is built in here ({})", change_.from, reason),
         "leave --batch out, or export the model with a symbolic batch dimension");
}

}  // namespace strato::onnx_import
