// The vertices of the tree of a running search, and the order in which they open their actions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/at.h"
#include "core/search/mcts/action_table.h"

namespace strato {

// A vertex as it is stored (without first_child and child_count), and what selection needs.
struct TreeNode : SearchTree::Vertex {
  std::int32_t first_action = -1;  // of the first group: what undecided groups follow
  std::int32_t virtual_visits = 0;
  double best = 0;                     // best reward at or below
  bool done = false;                   // nothing new at or below
  bool closed = false;                 // excluded or against a pin, or below such
  bool stale = false;                  // evaluated under other pins
  std::int32_t cursor = 0;             // place of the next action to open
  bool in_order = true;                // children are the first actions, one after another
  std::vector<std::int32_t> children;  // in order of expansion
  std::vector<std::int32_t> order;     // actions by prior, once one is opened; empty: by rank

  bool is_evaluated() const { return step_time_ns > 0; }
  // It may still be a result: nothing keeps the search from it, and the pins are those of now.
  bool counts() const { return is_evaluated() && !closed && !stale; }
};

// The priors of vertices, and the order of their actions: by rank (action_table.h), "as the first
// group" first; by prior where a vertex has one of its own.
class ActionOrder {
 public:
  // Refers to both.
  ActionOrder(const ActionTable& table, const TreeSearchOptions& options)
      : table_(table), options_(options) {}

  // Every group is decided: there is nothing to open.
  bool is_complete(const TreeNode& node) const { return at(node.depth) == table_.groups(); }
  std::size_t count(const TreeNode& node) const;
  // The place-th action to open. Of a vertex with a prior: once it is sorted by it.
  std::int32_t action(const TreeNode& node, std::size_t place) const;
  std::int32_t next(const TreeNode& node) const { return action(node, at(node.cursor)); }
  bool has_next(const TreeNode& node) const { return at(node.cursor) < count(node); }
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
