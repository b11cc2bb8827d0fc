// The priors of a tree's vertices, and the order in which a vertex opens its actions: by rank
// (action_table.h), "as the first group" first; by prior where it has one of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/mcts/action_table.h"
#include "core/search/mcts/tree_node.h"

namespace strato {

class ActionOrder {
 public:
  // Refers to both.
  ActionOrder(const ActionTable& table, const TreeSearchOptions& options)
      : table_(table), options_(options) {}

  // Every group is decided: there is nothing to open.
  bool is_complete(const TreeNode& node) const {
    return static_cast<std::size_t>(node.depth) == table_.groups();
  }
  std::size_t count(const TreeNode& node) const;
  // The place-th action to open. Of a vertex with a prior: once it is sorted by it.
  std::int32_t at(const TreeNode& node, std::size_t place) const;
  bool has_next(const TreeNode& node) const {
    return static_cast<std::size_t>(node.cursor) < count(node);
  }
  void sort_by_prior(TreeNode& node) const;

  float prior(const TreeNode& node, std::int32_t action) const;
  // Once a vertex; an empty row is uniform.
  void set_priors(TreeNode& node, const std::vector<float>& row);
  const std::vector<float>& rows() const { return priors_; }
  // Rows of a stored tree, which may have had fewer actions.
  void restore_rows(const SearchTree& tree);

 private:
  bool follows_first(const TreeNode& node) const;

  const ActionTable& table_;
  const TreeSearchOptions& options_;
  std::vector<float> priors_;  // rows of as many as there are actions
};

}  // namespace strato
