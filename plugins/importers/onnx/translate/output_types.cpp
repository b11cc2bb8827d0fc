#include "plugins/importers/onnx/translate/output_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "plugins/importers/onnx/read/tensor_value.h"

namespace strato::onnx_import {
namespace {

bool complete(const InferredOutput& output) {
  return output.type && output.shape &&
         std::ranges::none_of(*output.shape, [](std::int64_t e) { return e < 0; });
}

Facts type_of(const Entry& entry) { return {entry.facts.type, entry.facts.shape, nullptr}; }

[[noreturn]] void cannot_be_told(const Scope& scope, const onnx::NodeProto& node,
                                 const TranslatedOp& op, const std::string& why) {
  std::string shapes;
  for (const Entry* input : op.inputs) {
    if (shapes.size() > 200) break;
    if (input != nullptr)
      shapes +=
          fmt::format("{}[{}]", shapes.empty() ? "" : ", ", fmt::join(input->facts.shape, ", "));
  }
  scope.refuse(node,
               fmt::format("its result's shape cannot be told from inputs of {}{}",
                           shapes.empty() ? "no known shape" : shapes,
                           why.empty() ? "" : fmt::format(" ({})", why)),
               "check the op's inputs, or export the model with inferred shapes");
}

std::vector<Facts> from_catalogue(const TranslatedOp& translated) {
  std::vector<Facts> result;
  if (find_rule(translated.type) == nullptr) return result;
  IdVector<TensorId, Tensor> tensors;
  Op op;
  op.name = translated.name;
  op.type = translated.type;
  op.attributes = translated.attributes;
  for (const Entry* input : translated.inputs) {
    op.inputs.push_back(input != nullptr ? tensors.next_id() : TensorId());
    if (input == nullptr) continue;
    Tensor tensor;
    tensor.type = input->facts.type;
    tensor.role = input->role;
    tensor.shape = input->facts.shape;
    if (input->facts.value)
      tensor.data = std::make_shared<std::string>(little_endian(*input->facts.value));
    tensors.push_back(std::move(tensor));
  }
  for (TensorType& type : infer_output_shapes(op, tensors)) {
    if (!element_count(type.shape)) break;
    result.push_back({type.type, std::move(type.shape), nullptr});
  }
  return result;
}

// A shape that the exporter wrote into the file, with its symbols bound.
std::optional<Facts> declared(const Scope& scope, const std::string& name) {
  const Binding& binding = scope.binding;
  const auto find = [&name](const auto& infos) -> const onnx::TypeProto_Tensor* {
    for (const auto& info : infos) {
      if (info.name() == name && info.type().has_tensor_type()) return &info.type().tensor_type();
    }
    return nullptr;
  };
  const onnx::TypeProto_Tensor* type = find(scope.model.proto.graph().value_info());
  if (type == nullptr) type = find(scope.model.proto.graph().output());
  if (type == nullptr || !type->has_shape() || !data_type_of(type->elem_type()))
    return std::nullopt;
  Facts facts{*data_type_of(type->elem_type()), {}, nullptr};
  for (const auto& dim : type->shape().dim()) {
    const auto symbol = binding.dimensions.find(dim.dim_param());
    if (!dim.has_dim_value() && symbol == binding.dimensions.end()) return std::nullopt;
    facts.shape.push_back(dim.has_dim_value() ? dim.dim_value() : symbol->second);
  }
  const bool moved = binding.file_batch > 0 && binding.file_batch != binding.batch;
  if (moved && !facts.shape.empty() && facts.shape[0] == binding.file_batch)
    facts.shape[0] = binding.batch;
  if (!element_count(facts.shape)) return std::nullopt;
  return facts;
}

// The first input that is data, else the first one.
Facts like_first_input(const TranslatedOp& op) {
  const Entry* first = nullptr;
  for (const Entry* input : op.inputs) {
    if (input == nullptr) continue;
    if (input->role != TensorRole::Parameter && input->role != TensorRole::Constant)
      return type_of(*input);
    if (first == nullptr) first = input;
  }
  return first != nullptr ? type_of(*first) : Facts{DataType::F32, {}, nullptr};
}

// Takes the most that an extent can be where it depends on the data (how many elements are not
// zero, say).
Facts guessed(const TranslatedOp& op, const InferredOutput& inferred) {
  const Facts first = like_first_input(op);
  Facts facts{inferred.type.value_or(first.type), inferred.shape.value_or(first.shape), nullptr};
  const bool same_rank = facts.shape.size() == first.shape.size();
  for (std::size_t axis = 0; axis < facts.shape.size(); ++axis) {
    if (facts.shape[axis] >= 0) continue;
    facts.shape[axis] = same_rank ? first.shape[axis] : element_count(first.shape).value_or(1);
  }
  return facts;
}

}  // namespace

std::vector<Facts> output_types(const Scope& scope, const onnx::NodeProto& node,
                                const TranslatedOp& op, const Inference& inference) {
  std::vector<Facts> result;
  const auto count = static_cast<std::size_t>(node.output_size());
  if (inference.impossible) cannot_be_told(scope, node, op, inference.failure);
  const bool all_told = inference.outputs.size() >= count;
  for (std::size_t i = 0; all_told && i < count; ++i) {
    if (complete(inference.outputs[i])) {
      result.push_back({*inference.outputs[i].type, *inference.outputs[i].shape, nullptr});
    } else if (node.output(static_cast<int>(i)).empty()) {
      result.push_back(like_first_input(op));  // nobody reads it
    } else {
      break;
    }
  }
  if (result.size() == count) return result;
  const std::vector<Facts> catalogue = from_catalogue(op);
  const bool unknown = !inference.known_type && find_rule(op.type) == nullptr;
  for (std::size_t i = result.size(); i < count; ++i) {
    const std::optional<Facts> stated = declared(scope, node.output(static_cast<int>(i)));
    if (i < catalogue.size()) {
      result.push_back(catalogue[i]);
    } else if (stated) {
      result.push_back(*stated);
    } else if (unknown) {
      result.push_back(like_first_input(op));
    } else if (inference.failure.empty() && i < inference.outputs.size()) {
      result.push_back(guessed(op, inference.outputs[i]));
    } else {
      cannot_be_told(scope, node, op, inference.failure);
    }
  }
  return result;
}

}  // namespace strato::onnx_import
