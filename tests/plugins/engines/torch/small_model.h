// Small double-precision models for the engine: every floating-point tensor is a parameter or is
// computed from one, so that finite differences can check every gradient kernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/train/training_graph.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/paths.h"

namespace strato {

using Attributes = std::vector<std::pair<std::string, Attribute>>;
using Ints = std::vector<std::int64_t>;

class SmallModel {
 public:
  explicit SmallModel(std::int64_t batch = 2) : builder("small", batch, "small.onnx") {}

  TensorId tensor(std::string name, TensorRole role, Shape shape, DataType type = DataType::F64) {
    Tensor value;
    value.name = std::move(name);
    value.role = role;
    value.shape = std::move(shape);
    value.type = type;
    return builder.add_tensor(std::move(value));
  }
  TensorId weight(Shape shape) {
    return tensor("w" + std::to_string(builder.tensor_count()), TensorRole::Parameter,
                  std::move(shape));
  }
  TensorId integers(Ints values, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
    const TensorId id = tensor("c" + std::to_string(builder.tensor_count()), TensorRole::Constant,
                               std::move(shape), DataType::I64);
    std::string bytes(values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    builder.tensor(id).data = std::make_shared<const std::string>(std::move(bytes));
    return id;
  }

  // Types of the results by the catalogue; `shape` where it has no rule.
  std::vector<TensorId> ops(const std::string& type, std::vector<TensorId> inputs,
                            Attributes attributes = {}, std::vector<Shape> shapes = {},
                            std::size_t outputs = 1) {
    Op op;
    op.type = type;
    op.name = type + std::to_string(builder.op_count());
    op.inputs = std::move(inputs);
    std::sort(attributes.begin(), attributes.end());
    op.attributes = std::move(attributes);
    const auto inferred = infer_output_shapes(op, builder.tensors());
    for (std::size_t i = 0; i < std::max(outputs, shapes.size()); ++i) {
      const DataType result = i < inferred.size() ? inferred[i].type : inferred.at(0).type;
      op.outputs.push_back(tensor(op.name + ":" + std::to_string(i), TensorRole::Activation,
                                  shapes.empty() ? inferred.at(i).shape : shapes[i], result));
    }
    builder.add_op(op);
    return op.outputs;
  }
  TensorId op(const std::string& type, std::vector<TensorId> inputs, Attributes attributes = {},
              Shape shape = {}) {
    std::vector<Shape> shapes;
    if (!shape.empty()) shapes.push_back(std::move(shape));
    return ops(type, std::move(inputs), std::move(attributes), shapes)[0];
  }

  std::shared_ptr<const Graph> training(Optimizer optimizer = Optimizer::Sgd) && {
    return std::make_shared<const Graph>(
        make_training_graph(std::move(builder).build(), optimizer));
  }

  GraphBuilder builder;
};

inline const Engine& torch_engine() {
  static const PluginRegistry registry({std::string(kBuildFolder) + "/plugins"});
  static const std::unique_ptr<Engine> engine = registry.engine("torch");
  return *engine;
}

inline std::unique_ptr<Execution> prepared(std::shared_ptr<const Graph> graph,
                                           std::optional<double> learning_rate = {},
                                           std::uint64_t seed = 1) {
  EngineOptions options;
  options.seed = seed;
  options.threads = 1;
  options.learning_rate = learning_rate;
  return torch_engine().prepare(std::move(graph), options);
}

template <class T = double>
std::vector<T> numbers(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline TensorId loss_of(const Graph& graph) {
  for (const Op& op : graph.ops()) {
    if (op.family == OpFamily::Loss && op.phase != Phase::Backward) return op.outputs[0];
  }
  throw std::logic_error("no loss");
}

// Every parameter's gradient beside central differences of the loss, at parameters in [low, high].
inline void check_gradients(std::shared_ptr<const Graph> graph, double low = -1, double high = 1) {
  const auto execution = prepared(graph, 0.0);
  const TensorId loss = loss_of(*graph);
  execution->keep(loss);
  std::vector<std::pair<TensorId, TensorId>> trained;  // parameter, gradient
  Random random(7);
  for (const Op& op : graph->ops()) {
    if (op.phase != Phase::Update) continue;
    trained.emplace_back(op.inputs[0], op.inputs[1]);
    execution->keep(op.inputs[1]);
    std::vector<double> values(static_cast<std::size_t>(graph->tensor(op.inputs[0]).elements()));
    for (double& value : values) value = random.uniform(low, high);
    execution->write(op.inputs[0], bytes_of(values));
  }
  ASSERT_FALSE(trained.empty());
  const auto loss_now = [&] {
    execution->run_step();
    return numbers(execution->read(loss)).at(0);
  };
  loss_now();
  std::vector<std::vector<double>> gradients;
  for (const auto& [parameter, gradient] : trained) {
    gradients.push_back(numbers(execution->read(gradient)));
  }
  constexpr double h = 1e-5;
  for (std::size_t t = 0; t < trained.size(); ++t) {
    const TensorId parameter = trained[t].first;
    const auto values = numbers(execution->read(parameter));
    const std::size_t stride = std::max<std::size_t>(1, values.size() / 12);
    for (std::size_t i = 0; i < values.size(); i += stride) {
      double at[2];
      for (const int side : {0, 1}) {
        auto moved = values;
        moved[i] += side == 0 ? -h : h;
        execution->write(parameter, bytes_of(moved));
        at[side] = loss_now();
      }
      execution->write(parameter, bytes_of(values));
      const double expected = (at[1] - at[0]) / (2 * h);
      EXPECT_NEAR(gradients[t][i], expected, 1e-7 + 2e-5 * std::abs(expected))
          << graph->tensor(parameter).name << "[" << i << "]";
    }
  }
}

}  // namespace strato
