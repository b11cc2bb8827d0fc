#include "plugins/importers/onnx/translate/output_types.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "plugins/importers/onnx/read/element_type.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

bool complete(const InferredOutput& output) {
  return output.type && output.shape &&
         std::none_of(output.shape->begin(), output.shape->end(),
                      [](std::int64_t e) { return e < 0; });
}

}  // namespace

void OutputTypes::cannot_be_told(const std::string& why) const {
  std::string shapes;
  for (const Entry* input : op_.inputs) {
    if (shapes.size() > 200) break;
    if (input != nullptr)
      shapes +=
          (shapes.empty() ? "" : ", ") + fmt::format("[{}]", fmt::join(input->facts.shape, ", "));
  }
  throw InputError(model_.file, label_of(node_),
                   "its result's shape cannot be told from inputs of " +
                       (shapes.empty() ? "no known shape" : shapes) +
                       (why.empty() ? "" : " (" + why + ")"),
                   "check the op's inputs, or export the model with inferred shapes");
}

std::vector<Facts> OutputTypes::resolve(const Inference& inference) const {
  std::vector<Facts> result;
  const auto count = static_cast<std::size_t>(node_.output_size());
  if (inference.impossible) cannot_be_told(inference.failure);
  const bool all_told = inference.outputs.size() >= count;
  for (std::size_t i = 0; all_told && i < count; ++i) {
    if (complete(inference.outputs[i])) {
      result.push_back({*inference.outputs[i].type, *inference.outputs[i].shape, nullptr});
    } else if (node_.output(static_cast<int>(i)).empty()) {
      result.push_back(like_first_input());  // nobody reads it
    } else {
      break;
    }
  }
  if (result.size() == count) return result;
  const std::vector<Facts> catalogue = from_catalogue();
  const bool unknown = !inference.known_type && find_rule(op_.type) == nullptr;
  for (std::size_t i = result.size(); i < count; ++i) {
    const std::optional<Facts> stated = declared(node_.output(static_cast<int>(i)));
    if (i < catalogue.size()) {
      result.push_back(catalogue[i]);
    } else if (stated) {
      result.push_back(*stated);
    } else if (unknown) {
      result.push_back(like_first_input());
    } else if (inference.failure.empty() && i < inference.outputs.size()) {
      result.push_back(guessed(inference.outputs[i]));
    } else {
      cannot_be_told(inference.failure);
    }
  }
  return result;
}

std::vector<Facts> OutputTypes::from_catalogue() const {
  IdVector<TensorId, Tensor> tensors;
  Op op;
  op.name = op_.name;
  op.type = op_.type;
  op.attributes = op_.attributes;
  for (const Entry* input : op_.inputs) {
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
  std::vector<Facts> result;
  if (find_rule(op.type) == nullptr) return result;
  for (TensorType& type : infer_output_shapes(op, tensors)) {
    if (!element_count(type.shape)) break;
    result.push_back({type.type, std::move(type.shape), nullptr});
  }
  return result;
}

// A shape that the exporter wrote into the file, with its symbols bound.
std::optional<Facts> OutputTypes::declared(const std::string& name) const {
  const auto find = [&name](const auto& infos) -> const onnx::TypeProto_Tensor* {
    for (const auto& info : infos) {
      if (info.name() == name && info.type().has_tensor_type()) return &info.type().tensor_type();
    }
    return nullptr;
  };
  const onnx::TypeProto_Tensor* type = find(model_.proto.graph().value_info());
  if (type == nullptr) type = find(model_.proto.graph().output());
  if (type == nullptr || !type->has_shape() || !data_type_of(type->elem_type()))
    return std::nullopt;
  Facts facts{*data_type_of(type->elem_type()), {}, nullptr};
  for (const auto& dim : type->shape().dim()) {
    const auto symbol = binding_.dimensions.find(dim.dim_param());
    if (dim.has_dim_value())
      facts.shape.push_back(dim.dim_value());
    else if (symbol != binding_.dimensions.end())
      facts.shape.push_back(symbol->second);
    else
      return std::nullopt;
  }
  const bool moved = binding_.file_batch > 0 && binding_.file_batch != binding_.batch;
  if (moved && !facts.shape.empty() && facts.shape[0] == binding_.file_batch) {
    facts.shape[0] = binding_.batch;
  }
  if (!element_count(facts.shape)) return std::nullopt;
  return facts;
}

Facts OutputTypes::like_first_input() const {
  for (const Entry* input : op_.inputs) {
    const bool data = input != nullptr && input->role != TensorRole::Parameter &&
                      input->role != TensorRole::Constant;
    if (data) return {input->facts.type, input->facts.shape, nullptr};
  }
  for (const Entry* input : op_.inputs) {
    if (input != nullptr) return {input->facts.type, input->facts.shape, nullptr};
  }
  return {DataType::F32, {}, nullptr};
}

// Takes the most that an extent can be where it depends on the data (how many elements are not
// zero, say).
Facts OutputTypes::guessed(const InferredOutput& inferred) const {
  const Facts first = like_first_input();
  Facts facts{inferred.type.value_or(first.type), inferred.shape.value_or(first.shape), nullptr};
  for (std::size_t axis = 0; axis < facts.shape.size(); ++axis) {
    if (facts.shape[axis] >= 0) continue;
    const bool same_rank = facts.shape.size() == first.shape.size();
    facts.shape[axis] = same_rank ? first.shape[axis] : element_count(first.shape).value_or(1);
  }
  return facts;
}

}  // namespace strato::onnx_import
