// The nested scopes that op names tell of: "encoder/layer.0/attention/MatMul" is in three of them.
// Gradients and updates count for their forward op, so that a layer stays together. Pure functions;
// safe from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// The op that a person would name a layer by: the forward op of a gradient or an update.
const Op& layer_op(const Graph& graph, OpId id);

struct ScopePart {
  std::string name;       // of the op; of a scope: below what all of `ops` share
  std::vector<OpId> ops;  // ascending; one: the part is this op
  bool range = false;     // neighbours that share no scope, bundled: "Conv_0 … Conv_99"
};

// One step down from `ops` (ascending, unique): at least two parts when there are two ops, in the
// order of their first ops. Up to `flat` ops are told one by one; of more than `most` parts,
// neighbours are bundled into ranges, so that there are never more than `most` parts (at least 2).
std::vector<ScopePart> split_by_scope(const Graph& graph, std::span<const OpId> ops,
                                      std::size_t flat, std::size_t most);

}  // namespace strato
