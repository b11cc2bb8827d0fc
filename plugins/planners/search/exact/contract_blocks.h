// Contracts a dag's vertices into few blocks, such that no cycle appears.
#pragma once

#include <cstdint>
#include <vector>

namespace strato::exact {

// The contraction alone: a dag's vertices with weights into at most `parts` blocks, numbered in a
// topological order of the blocks. Edges ascend.
struct BlockEdge {
  std::int32_t from, to;
  double gain;  // in the unit of weights: what it is worth not to cut it
};
std::vector<std::int32_t> contract_blocks(std::vector<double> weights,
                                          const std::vector<BlockEdge>& edges, std::size_t parts);

}  // namespace strato::exact
