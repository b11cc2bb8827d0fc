// Two search trees of one problem as one: what either has tried, with the figures of both. Branches
// are the same when they decide the same groups alike. Pure functions.
#pragma once

#include <memory>
#include <vector>

#include "core/search/tree/search_tree.h"

namespace strato {

struct TreePair {
  struct Figures {
    std::int32_t visits = 0;
    double value = 0;
  };
  std::shared_ptr<const SearchTree> both;  // with the first tree's figures: 0 where it never was
  std::vector<Figures> other;              // of the second tree, by vertex of `both`
  std::vector<std::int32_t> first;         // vertex of the first tree, or -1
  std::vector<std::int32_t> best, other_best;  // the two best paths, in vertices of `both`
  std::int32_t parts = 0;                      // the last vertex that is on both best paths
  // Depth from which the second tree decides groups in another order and cannot be compared; -1:
  // none.
  std::int32_t differs_from_depth = -1;
};

TreePair pair_trees(const SearchTree& first, const SearchTree& second);

}  // namespace strato
