// Small training graphs of the kinds of nets that people train, in double precision: a plan's result
// then differs from one device's by rounding alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/transform.h"
#include "core/strategy/strategy.h"

namespace strato {

struct SmallNet {
  std::string name;
  std::shared_ptr<const Graph> graph;
};

std::vector<SmallNet> small_nets(std::int64_t batch, Optimizer optimizer);
// All floating-point tensors as doubles.
Graph in_double(const Graph& graph);

// Batch normalisation takes the statistics of the samples at hand: every device gets all of them,
// and none a part of the op.
void duplicate_batch_norm(const Graph& graph, Strategy& strategy);

}  // namespace strato
