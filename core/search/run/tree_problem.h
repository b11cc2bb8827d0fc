// Finds the problem that a stored search tree is about. Pure; safe from any thread.
#pragma once

#include <optional>

#include "core/search/api/problem.h"
#include "core/search/tree/search_tree.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {

// `problem`, or the same in the groups of `best`, the best strategy of the tree's run: a search
// that was begun in a plan's own groups is about these. Nothing where the tree is about neither.
std::optional<Problem> problem_of_tree(const SearchTree& tree, const Problem& problem,
                                       const NamedStrategy& best);

}  // namespace strato
