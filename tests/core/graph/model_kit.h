// Models written by hand, a line per op; the catalogue gives the shapes.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/group/grouping.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/train/training_graph.h"

namespace strato {

class ModelKit {
 public:
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  explicit ModelKit(std::int64_t batch) : builder("model", batch, "model.onnx") {}

  TensorId tensor(std::string name, TensorRole role, Shape shape, DataType type = DataType::F32) {
    Tensor value;
    value.name = std::move(name);
    value.role = role;
    value.shape = std::move(shape);
    value.type = type;
    return builder.add_tensor(std::move(value));
  }
  TensorId input(std::string name, Shape shape, DataType type = DataType::F32) {
    return tensor(std::move(name), TensorRole::Input, std::move(shape), type);
  }
  TensorId weight(std::string name, Shape shape) {
    return tensor(std::move(name), TensorRole::Parameter, std::move(shape));
  }
  TensorId constant(std::string name, std::vector<std::int64_t> values) {
    const TensorId id = tensor(std::move(name), TensorRole::Constant,
                               {static_cast<std::int64_t>(values.size())}, DataType::I64);
    std::string bytes(values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    builder.tensor(id).data = std::make_shared<const std::string>(std::move(bytes));
    return id;
  }

  // Adds an op with `outputs` results and returns the first; shapes from the catalogue.
  TensorId op(std::string type, std::vector<TensorId> inputs, Attributes attributes = {},
              std::size_t outputs = 1) {
    std::vector<Shape> shapes;
    const Op op = make(type, inputs, attributes);
    for (const TensorType& inferred : infer_output_shapes(op, builder.tensors())) {
      shapes.push_back(inferred.shape);
    }
    if (shapes.size() < outputs) throw std::logic_error("no shape for " + type);
    shapes.resize(outputs);
    return shaped(type, std::move(inputs), std::move(shapes), std::move(attributes));
  }

  TensorId shaped(std::string type, std::vector<TensorId> inputs, std::vector<Shape> shapes,
                  Attributes attributes = {}, DataType out = DataType::F32) {
    Op op = make(type, std::move(inputs), std::move(attributes));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      op.outputs.push_back(
          tensor(op.name + ":" + std::to_string(i), TensorRole::Activation, shapes[i], out));
    }
    builder.add_op(op);
    return op.outputs[0];
  }

  TensorId reshape(TensorId from, std::vector<std::int64_t> shape) {
    return op("Reshape", {from, constant("shape", std::move(shape))});
  }
  TensorId transpose(TensorId from, std::vector<std::int64_t> permutation) {
    return op("Transpose", {from}, {{"perm", std::move(permutation)}});
  }

  Graph build() { return std::move(builder).build(); }

  GraphBuilder builder;

 private:
  Op make(const std::string& type, std::vector<TensorId> inputs, Attributes attributes) {
    Op op;
    op.type = type;
    op.name = type + std::to_string(builder.op_count());
    op.inputs = std::move(inputs);
    std::sort(attributes.begin(), attributes.end());
    op.attributes = std::move(attributes);
    return op;
  }
};

inline const Op& only(const Graph& graph, std::string_view type) {
  const Op* found = nullptr;
  for (const Op& op : graph.ops()) {
    if (op.type != type) continue;
    if (found) throw std::logic_error("several " + std::string(type));
    found = &op;
  }
  if (!found) throw std::logic_error("no " + std::string(type));
  return *found;
}

inline int count(const Graph& graph, std::string_view type) {
  return static_cast<int>(std::count_if(graph.ops().begin(), graph.ops().end(),
                                        [&](const Op& op) { return op.type == type; }));
}

inline const Tensor& tensor_named(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return tensor;
  }
  throw std::logic_error("no tensor " + std::string(name));
}

inline BatchLayout batched_on(int axis) { return {BatchKind::Batched, axis}; }
inline BatchLayout partial_sum() { return {BatchKind::Partial, -1}; }
inline BatchLayout whole_tensor() { return {}; }

}  // namespace strato
