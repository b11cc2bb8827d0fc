// Finds sets of ops that are the same block over again: layers of one network that repeat. Equal
// are sets whose ops have the same types, attributes, shapes and wiring inside, whatever their
// names and whatever they are wired to outside.
//
// Found by hashes in the manner of Weisfeiler and Leman: each op by what leads to it, then by what
// it leads to, inside the set; a set by its ops' hashes. Sets that differ have different hashes but
// for chance and for graphs so regular that such hashes cannot tell them apart. Pure functions;
// safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// result[i]: the first set of ops, which ascend, that is equal to sets[i]; i itself when none
// before it is.
std::vector<std::size_t> equal_blocks(const Graph& graph,
                                      std::span<const std::span<const OpId>> sets);

}  // namespace strato
