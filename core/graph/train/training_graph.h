// Makes the graph of a training step from a forward graph.
#pragma once

#include "core/graph/train/optimizer.h"
#include "core/graph/value/graph.h"

namespace strato {

// Appends loss, one or more gradient ops for every op on a path from a parameter to the loss (by
// the catalogue's gradient rules), AddN where a tensor has several consumers, and one update op
// (ApplySgd, ApplyMomentum, ApplyAdam; inputs: parameter, gradient, state...) per parameter.
Graph make_training_graph(const Graph& forward, Optimizer optimizer);

}  // namespace strato
