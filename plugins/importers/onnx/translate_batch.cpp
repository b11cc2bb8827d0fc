// Constants that hold the batch that is built into the file, adjusted to another.
#include "plugins/importers/onnx/order.h"
#include "plugins/importers/onnx/translator.h"

namespace strato::onnx_import {

const Entry* Translator::before(const std::string& name) const {
  const auto found = original_->by_name.find(name);
  return found == original_->by_name.end() ? nullptr : found->second;
}

void Translator::adjust_to_batch(const onnx::NodeProto& node, std::vector<Entry*>& inputs) {
  const std::string& type = node.op_type();
  if (type == "Reshape") adjust_target(node, inputs, 1);
  if (type == "Expand") adjust_target(node, inputs, 1);
  if (type == "Resize") adjust_target(node, inputs, 3);
  if (type == "LSTM") adjust_state(inputs, 6);
  if (type == "LSTM" || type == "GRU" || type == "RNN") adjust_state(inputs, 5);
}

// A shape given as numbers that did not change with the batch although the tensor did.
void Translator::adjust_target(const onnx::NodeProto& node, std::vector<Entry*>& inputs,
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
  const auto adjusted = rebatched_target(target, old_result->facts.shape, change(), stretched);
  if (!adjusted) return;
  inputs[slot] = &new_constant(inputs[slot]->name, integers(*adjusted));
}

// A recurrent layer's first state, stored for the file's batch (axis 1).
void Translator::adjust_state(std::vector<Entry*>& inputs, std::size_t slot) {
  if (slot >= inputs.size() || inputs[slot] == nullptr || inputs[slot]->facts.shape.size() != 3)
    return;
  const bool data =
      inputs[slot]->role == TensorRole::Activation || inputs[slot]->role == TensorRole::Input;
  if (data || inputs[slot]->facts.shape[1] != change().from) return;
  const Entry* old = before(inputs[slot]->name);
  if (old == nullptr || old->facts.shape != inputs[slot]->facts.shape) return;
  Entry state = *inputs[slot];
  state.facts.shape[1] = change().to;
  state.facts.value = nullptr;
  state.origin = nullptr;  // the file has another batch's
  out_.entries.push_back(std::move(state));
  inputs[slot] = &out_.entries.back();
}

void Translator::check_batch(const onnx::NodeProto& node, const Entry& output) const {
  const Entry* old = before(output.name);
  if (old == nullptr || consistent(old->facts.shape, output.facts.shape, change())) return;
  refuse_batch(node, "its size does not follow the batch");
}

void Translator::refuse_batch(const onnx::NodeProto& node, const std::string& reason) const {
  fail(label_of(node),
       "the file's own batch of " + std::to_string(binding_.file_batch) + " is built in here (" +
           reason + ")",
       "leave --batch out, or export the model with a symbolic batch dimension");
}

}  // namespace strato::onnx_import
