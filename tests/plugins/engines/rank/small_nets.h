// Small training graphs of the kinds of nets that people train, in double precision: a plan's result
// then differs from one device's by rounding alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/transform.h"

namespace strato {

struct SmallNet {
  std::string name;
  std::shared_ptr<const Graph> graph;
};

std::vector<SmallNet> small_nets(std::int64_t batch, Optimizer optimizer);
// All floating-point tensors as doubles.
Graph in_double(const Graph& graph);

}  // namespace strato
