// Steering a search tree by hand: pure functions on the value. A search that is resumed with the
// changed tree (tree_search.h) respects them; the statistics gathered so far stay.
//
// All throw InputError for what the tree does not have (op group, vertex), and leave it as it was
// then.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/search/tree/search_tree.h"

namespace strato {

// Every strategy from now on decides `group` so. A decision that is not among the tree's actions is
// appended to them. Whether its devices exist is checked when the search goes on.
void pin(SearchTree& tree, GroupId group, const Decision& decision);
void unpin(SearchTree& tree, GroupId group);
// Searches only `groups`: all others are pinned to what the complete `strategy` decides for them,
// and pins of `groups` are kept. A strategy with groups of its own says nothing about the tree's.
void restrict_to(SearchTree& tree, std::span<const GroupId> groups, const Strategy& strategy);
// Boosts (> 1) or damps the edge to a vertex; 0 excludes it with all that is below: such strategies
// are never the result either. Not for the root.
void set_weight(SearchTree& tree, std::int32_t vertex, float weight);
// Selection starts at this vertex; -1: at the root. Not for a vertex that is excluded, or that
// contradicts a pin.
void set_focus(SearchTree& tree, std::int32_t vertex);

// "root", "root/3/0" (children by their number, in order of expansion), "best" (the end of the best
// path) or "#17" (the vertex by its number).
std::int32_t resolve_vertex(const SearchTree& tree, std::string_view text);
std::string vertex_path(const SearchTree& tree, std::int32_t vertex);  // "root/3/0"

// Tells whether steering forbids a complete strategy in the tree's groups: it contradicts a pin, or
// lies in an excluded branch.
bool is_forbidden(const SearchTree& tree, const Strategy& strategy);
// The strategy with the pinned decisions instead of its own.
Strategy with_pins(const SearchTree& tree, Strategy strategy);

// Two trees of one problem, vertices matched by the actions along their paths.
struct TreeDifference {
  struct Row {
    std::int32_t before, after;  // -1: not in that tree
    std::int32_t visits_before = 0, visits_after = 0;
    double value_before = 0, value_after = 0;
  };
  // Those in common, breadth first in `before`; then those in one only whose parents are in both.
  std::vector<Row> vertices;
  std::size_t common = 0;
  std::size_t only_before = 0, only_after = 0;        // vertices, all of them
  std::vector<std::int32_t> best_before, best_after;  // best paths, from the root
  std::size_t common_depth = 0;  // to which the best paths agree: they part behind it
};
TreeDifference compare(const SearchTree& before, const SearchTree& after);

}  // namespace strato
