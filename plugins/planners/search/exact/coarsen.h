// Few nodes for an integer program.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato::exact {

struct Coarse {
  Dag dag;
  std::vector<NodeIndex> node_of;  // by op
};

// Makes at most max(`nodes`, 2) nodes. Every op is one when they are few enough. Otherwise forward
// ops are contracted into blocks such that no cycle appears: pairs with little work and large
// tensors first, chains before branches, what no edge connects last. The forward ops of a block are
// one node; its gradients and updates are another, behind all forward ones.
Coarse coarsen(const Problem& problem, std::size_t nodes);

// The contraction alone: a dag's vertices with weights into at most `parts` blocks, numbered in a
// topological order of the blocks. Edges ascend.
struct BlockEdge {
  std::int32_t from, to;
  double gain;  // in the unit of weights: what it is worth not to cut it
};
std::vector<std::int32_t> contract_blocks(std::vector<double> weights,
                                          const std::vector<BlockEdge>& edges, std::size_t parts);

}  // namespace strato::exact
