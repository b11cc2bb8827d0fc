// Two perceptrons with a norm between them, for tests of what columns exchange.
#pragma once

#include <memory>

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"

namespace strato::toy {

constexpr std::int64_t kPositions = 16, kModel = 64, kInner = 256;

struct Perceptrons {
  std::shared_ptr<const Graph> graph;
  TensorId normed;  // what the norm makes: [samples, kPositions, kModel]
};
inline Perceptrons perceptrons(std::int64_t samples) {
  ModelKit kit(samples);
  const auto product = [&](TensorId x, const char* name, std::int64_t in, std::int64_t out) {
    return kit.op("MatMul", {x, kit.weight(name, {in, out})});
  };
  const auto block = [&](TensorId x, const char* up, const char* down) {
    return product(kit.op("Relu", {product(x, up, kModel, kInner)}), down, kInner, kModel);
  };
  Perceptrons made;
  made.normed =
      kit.op("LayerNormalization", {block(kit.input("x", {samples, kPositions, kModel}), "a", "b"),
                                    kit.weight("g", {kModel}), kit.weight("h", {kModel})});
  block(made.normed, "c", "d");
  made.graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  return made;
}

// Products and norms take time, so that it pays to share them: between products the positions are
// divided. An AllReduce takes as long as a ReduceScatter and an AllGather.
class NormCosts : public Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t) const override {
    const OpFamily family = graph_->op(op).family;
    if (family == OpFamily::MatMul) return Nanos(product);
    return Nanos(family == OpFamily::Normalization ? norm : 4);
  }
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost = Costs::collective(kind, devices, bytes);
    if (kind == Collective::AllReduce) cost.duration = cost.duration * 2;
    return cost;
  }
  std::int64_t product = 40'000, norm = 20'000;
};

// All ops on so many columns.
inline Strategy on_columns(std::int32_t columns) {
  Decision decision;
  for (std::int32_t i = 0; i < columns; ++i) decision.devices.push_back({DeviceId(i), 1});
  decision.roles.tensor = columns;
  Strategy strategy;
  strategy.groups.push_back(decision);
  return strategy;
}
inline std::shared_ptr<const Grouping> one_group(const Graph& graph) {
  return std::make_shared<const Grouping>(graph, std::vector<std::int32_t>(graph.op_count(), 0),
                                          std::vector<Nanos>(graph.op_count(), Nanos(1)));
}

}  // namespace strato::toy
