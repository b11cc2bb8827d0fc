#include "plugins/importers/onnx/unroll/made_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/importers/onnx/read/element_type.h"

namespace strato::onnx_import {
namespace {

constexpr int kListsAreInputs = 13;  // op set

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const char* name,
                                    onnx::AttributeProto::AttributeType kind) {
  onnx::AttributeProto* added = node.add_attribute();
  added->set_name(name);
  added->set_type(kind);
  return *added;
}

// One without elements, of the shape that a declaration gives its parts.
Facts empty_stack(const onnx::TypeProto_Tensor& part) {
  Shape shape = {0};
  for (const auto& dim : part.shape().dim())
    shape.push_back(std::max<std::int64_t>(dim.dim_value(), 1));
  return {data_type_of(part.elem_type()).value_or(DataType::F32), std::move(shape), nullptr};
}

}  // namespace

void MadeNodes::run(const std::string& type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, std::optional<std::int64_t> axis,
                    const std::vector<std::int64_t>& list) {
  onnx::NodeProto node;
  node.set_name(outputs[0]);
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  if (axis) add_attribute(node, "axis", onnx::AttributeProto::INT).set_i(*axis);
  if (!list.empty() && model_.opsets.at("") >= kListsAreInputs) {
    node.add_input(outputs[0] + "/list");
    tensors_.add_value(outputs[0] + "/list", integers(list));
  } else if (!list.empty()) {
    const char* name = type == "Split" ? "split" : "axes";
    onnx::AttributeProto& added = add_attribute(node, name, onnx::AttributeProto::INTS);
    for (const std::int64_t element : list) added.add_ints(element);
  }
  expansion_.charge(node, outputs.size() + inputs.size() / 8);
  runner_.run(node);
}

void MadeNodes::stack(const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
                      const std::vector<std::string>& tensors, std::int64_t axis,
                      const std::string& name) {
  if (tensors.empty()) {
    tensors_.add(name, TensorRole::Constant, empty_stack(of.type().tensor_type()));
    return;
  }
  std::vector<std::string> slices;
  for (const std::string& tensor : tensors) {
    if (tensors_.find_list(tensor) != nullptr)
      refuse(model_.file, node, "stacks lists of tensors", kWithoutLists);
    slices.push_back(fmt::format("{}/{}", name, slices.size()));
    run("Unsqueeze", {tensor}, {slices.back()}, {}, {axis});
  }
  run("Concat", slices, {name}, axis);
}

}  // namespace strato::onnx_import
