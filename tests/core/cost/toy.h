// Small graphs and clusters for tests of cost models and strategies.
#pragma once

#include <memory>
#include <string>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/value/graph.h"
#include "core/io/file.h"
#include "tests/paths.h"

namespace strato::toy {

inline const GpuCatalogue& catalogue() {
  static const GpuCatalogue value =
      GpuCatalogue::read(std::string(kSourceFolder) + "/resources/gpus.json");
  return value;
}

inline std::shared_ptr<const Cluster> sample_cluster(const std::string& name) {
  return std::make_shared<Cluster>(read_cluster(
      std::string(kSourceFolder) + "/sample_graphs/clusters/" + name + ".json", catalogue()));
}

// x[batch, width] -> MatMul "m0" -> Relu "r0" -> MatMul "m1" -> ... -> Flatten "v" (a view):
// `layers` times MatMul and Relu.
inline std::shared_ptr<const Graph> chain(int layers, std::int64_t batch = 64,
                                          std::int64_t width = 1024) {
  GraphBuilder builder("chain", batch, "chain.onnx");
  const auto tensor = [&](std::string name, TensorRole role, Shape shape) {
    Tensor result;
    result.name = std::move(name);
    result.role = role;
    result.shape = std::move(shape);
    return builder.add_tensor(std::move(result));
  };
  const auto add = [&](std::string name, std::string type, std::vector<TensorId> inputs) {
    const TensorId out = tensor(name + ".out", TensorRole::Activation, {batch, width});
    Op op;
    op.name = std::move(name);
    op.type = std::move(type);
    op.inputs = std::move(inputs);
    op.outputs = {out};
    builder.add_op(std::move(op));
    return out;
  };
  TensorId last = tensor("x", TensorRole::Input, {batch, width});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const TensorId weight = tensor("w" + n, TensorRole::Parameter, {width, width});
    last = add("m" + n, "MatMul", {last, weight});
    last = add("r" + n, "Relu", {last});
  }
  add("v", "Flatten", {last});
  return std::make_shared<Graph>(std::move(builder).build());
}

}  // namespace strato::toy
