// What a person tells a tree search: pinned decisions, boosted and excluded branches, where it
// starts. A value apart from the tree, so that it can be undone and outlives snapshots of the tree:
// branches go by the actions that lead to them. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/search/tree/search_tree.h"

namespace strato {

struct Steering {
  using Path = std::vector<std::int32_t>;  // actions from the root; empty: the root

  std::map<GroupId, Decision> pinned;
  std::map<Path, float> weights;  // without those of weight 1
  Path focus;

  bool empty() const { return pinned.empty() && weights.empty() && focus.empty(); }
  friend bool operator==(const Steering&, const Steering&) = default;
};

Steering steering_of(const SearchTree& tree);
// The tree with this steering and no other. Branches that the tree does not have are forgotten, and
// a focus that is left alone.
std::shared_ptr<const SearchTree> steered(const SearchTree& tree, const Steering& steering);

Steering::Path path_to(const SearchTree& tree, std::int32_t vertex);
std::int32_t find(const SearchTree& tree, const Steering::Path& path);  // -1: not in the tree
// The search never goes there: the vertex or one above it is excluded, or contradicts a pin.
bool is_left_alone(const SearchTree& tree, std::int32_t vertex);

}  // namespace strato
