// The vertices of a growing tree whose strategies are worth going on from, by their rewards.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/search/mcts/growing_tree.h"

namespace strato {

// A uniform vertex has decided the first free group alone: all others follow it.

// The best feasible uniform vertex whose action is not in `used`; -1: there is none.
std::int32_t best_uniform_vertex(const GrowingTree& tree, const std::set<std::int64_t>& used);
// Free actions that did best for the whole graph, best first: for parts of it they are worth a try.
std::vector<std::int32_t> best_uniform_actions(const GrowingTree& tree, const ActionTable& table);
// Up to `most` vertices, best first.
std::vector<std::int32_t> best_vertices(const GrowingTree& tree, std::size_t most);
// The best vertex that may be the result; -1: there is none. Stale ones were evaluated under other
// pins.
std::int32_t best_vertex(const GrowingTree& tree, bool with_stale);

}  // namespace strato
