// From the graph that a file holds to the graph that is trained.
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace strato {

enum class Optimizer : std::uint8_t { Sgd, Momentum, Adam };
std::string_view name_of(Optimizer optimizer);
Optimizer optimizer_from(std::string_view name);  // throws InputError; accepts sgd, momentum, adam
int state_slots(Optimizer optimizer);             // parameter-sized tensors kept per parameter

// TAG 4.1.1: removes Identity and NoOp, Dropout when `inference`, and dangling ops (those whose outputs reach
// neither a graph output nor an update). `outputs` are tensors to keep; empty: all floating-point
// tensors that nothing consumes.
Graph simplify(const Graph& graph, bool inference, std::span<const TensorId> outputs = {});

// Appends loss, one or more gradient ops for every op on a path from a parameter to the loss (by the
// catalogue's gradient rules), AddN where a tensor has several consumers, and one update op
// (ApplySgd, ApplyMomentum, ApplyAdam; inputs: parameter, gradient, state...) per parameter.
Graph make_training_graph(const Graph& forward, Optimizer optimizer);

}  // namespace strato
