// Makes the graph that is planned from the one that a file holds: simplified, and of a training
// step. The optimizers. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

enum class Optimizer : std::uint8_t { Sgd, Momentum, Adam };
std::string_view name_of(Optimizer optimizer);    // as a person writes it
Optimizer optimizer_from(std::string_view name);  // throws InputError; accepts sgd, momentum, adam

// Appends loss, one or more gradient ops for every op on a path from a parameter to the loss (by
// the catalogue's gradient rules), AddN where a tensor has several consumers, and one update op
// (ApplySgd, ApplyMomentum, ApplyAdam; inputs: parameter, gradient, state...) per parameter. The
// loss of many classes is reduced in blocks of them (core/graph/ops/class_block_rules.h).
Graph make_training_graph(const Graph& forward, Optimizer optimizer);

// TAG 4.1.1: removes Identity and NoOp, Dropout when `inference`, and dangling ops (those whose
// outputs reach neither a result of the graph (results_of()) nor an update).
Graph simplify(const Graph& graph, bool inference);

}  // namespace strato
