// Makes the graph that is planned from the one that a file holds: simplified, and of a training
// step. The optimizers. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

enum class Optimizer : std::uint8_t { Sgd, Momentum, Adam };
struct OptimizerRule {
  std::string_view name;                    // as a person writes it
  std::string_view update;                  // op type
  std::span<const std::string_view> state;  // names of the parameter-sized tensors kept for each
};
const OptimizerRule& rule_of(Optimizer optimizer);
std::string_view name_of(Optimizer optimizer);
Optimizer optimizer_from(std::string_view name);  // throws InputError; accepts sgd, momentum, adam

// Appends loss, one or more gradient ops for every op on a path from a parameter to the loss (by
// the catalogue's gradient rules), AddN where a tensor has several consumers, and one update op
// (ApplySgd, ApplyMomentum, ApplyAdam; inputs: parameter, gradient, state...) per parameter.
Graph make_training_graph(const Graph& forward, Optimizer optimizer);

// TAG 4.1.1: removes Identity and NoOp, Dropout when `inference`, and dangling ops (those whose
// outputs reach neither a graph output nor an update). `outputs` are tensors to keep; empty: all
// floating-point tensors that nothing consumes.
Graph simplify(const Graph& graph, bool inference, std::span<const TensorId> outputs = {});

}  // namespace strato
