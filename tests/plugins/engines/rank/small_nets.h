// Small training graphs of the kinds of nets that people train. In double precision a plan's result
// differs from one device's by rounding alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/train/training_graph.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct SmallNet {
  std::string name;
  std::shared_ptr<const Graph> graph;
};

// `type`: of their numbers, F32 or F64.
std::vector<SmallNet> small_nets(std::int64_t batch, Optimizer optimizer,
                                 DataType type = DataType::F64);
// A perceptron whose weights are cast before they are used, in doubles.
SmallNet casting_net(std::int64_t batch, Optimizer optimizer);
// All floating-point tensors as F32 or F64; masks of dropout as what the engine makes.
Graph with_numbers(const Graph& graph, DataType type);
Graph in_double(const Graph& graph);

// Batch normalisation takes the statistics of the samples at hand: every device gets all of them,
// and none a part of the op.
void duplicate_batch_norm(const Graph& graph, Strategy& strategy);

}  // namespace strato
