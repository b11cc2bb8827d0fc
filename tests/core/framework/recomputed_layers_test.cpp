// Full recomputation: what layers hand on is kept, all else in them is computed again.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/framework/layout/model_layers.h"
#include "core/graph/build/graph_builder.h"

namespace strato::frameworks {
namespace {

// x -> in front -> layers of two ops, where a residual leads past the first -> behind.
std::shared_ptr<const Graph> layered(int layers) {
  GraphBuilder builder("layered", 4, "layered.onnx");
  const auto tensor = [&](const std::string& name, TensorRole role) {
    Tensor result;
    result.name = name;
    result.role = role;
    result.shape = {4, 8};
    return builder.add_tensor(std::move(result));
  };
  const auto add = [&](const std::string& name, const std::string& type,
                       std::vector<TensorId> inputs) {
    const TensorId out = tensor(name + ".out", TensorRole::Activation);
    Op op;
    op.name = name;
    op.type = type;
    op.inputs = std::move(inputs);
    op.outputs = {out};
    builder.add_op(std::move(op));
    return out;
  };
  TensorId last = add("embed", "Relu", {tensor("x", TensorRole::Input)});
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const TensorId inner = add(layer + "relu", "Relu", {last});
    last = add(layer + "sum", "Add", {last, inner});
  }
  add("head", "Relu", {last});
  return std::make_shared<Graph>(std::move(builder).build());
}

TEST(RecomputedLayers, AreAllButWhatEachHandsOn) {
  const auto graph = layered(3);
  std::vector<std::string> names;
  for (const OpId op : recomputed_layers(*graph, model_layers(*graph)))
    names.push_back(graph->op(op).name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"model.layers.0.relu", "model.layers.1.relu",
                                             "model.layers.2.relu"}));
}

}  // namespace
}  // namespace strato::frameworks
