// The growing tree of a running search: what SearchTree is as a value, with the lists that
// selection needs. Internal to tree_search.cpp and its tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/search/local_search.h"
#include "core/search/search_tree.h"
#include "core/search/tree_search.h"

namespace strato {

struct TreeNode {
  std::int32_t parent = -1, action = -1, depth = 0;
  std::int32_t first_action = -1;  // of the first group: what undecided groups follow
  std::int32_t visits = 0, virtual_visits = 0;
  double value_sum = 0;
  double best = 0;  // best reward at or below
  float prior = 1, reward = 0;
  std::int64_t step_time_ns = 0;
  bool evaluated = false;
  bool done = false;                   // nothing new at or below
  std::vector<std::int32_t> children;  // in order of expansion
  std::vector<float> priors;           // of all actions; empty: uniform
  std::vector<std::int32_t> order;     // actions by prior; empty: by rank
};

class TreeState {
 public:
  TreeState(const Problem& problem, const TreeSearchOptions& options, std::uint64_t seed);

  const std::vector<Decision>& actions() const { return actions_; }
  const std::vector<GroupId>& order() const { return order_; }
  const std::vector<std::vector<std::int32_t>>& ranked() const { return ranked_; }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  TreeNode& node(std::int32_t id) { return nodes_[static_cast<std::size_t>(id)]; }
  const TreeNode& node(std::int32_t id) const { return nodes_[static_cast<std::size_t>(id)]; }

  // The next leaf to look at: new, or a complete strategy again when repeats are not free; -1 when
  // all that could be chosen waits for its evaluation, or nothing is left.
  std::int32_t select();
  bool exhausted() const { return nodes_.front().done; }
  ActionVector completed_actions(std::int32_t id) const;  // by group id, undecided ones filled
  Strategy strategy_of(const ActionVector& actions) const;

  void add_virtual_visit(std::int32_t leaf, int change);
  void set_priors(std::int32_t id, std::vector<float> priors);
  void back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns);

  SearchTree snapshot() const;           // vertices, actions, order
  void restore(const SearchTree& tree);  // throws InputError when it does not fit

 private:
  std::size_t action_count(const TreeNode& node) const;
  std::int32_t action_at(const TreeNode& node, std::size_t place) const;
  std::int32_t expand(std::int32_t id);
  std::int32_t best_child(std::int32_t id) const;
  double value(const TreeNode& node) const;
  double normalised(double value) const;
  void mark_done(std::int32_t id);
  void remember(float reward);
  bool is_leaf_depth(const TreeNode& node) const {
    return static_cast<std::size_t>(node.depth) == order_.size();
  }

  const TreeSearchOptions options_;
  std::vector<Decision> actions_;
  std::vector<GroupId> order_;
  std::vector<std::vector<std::int32_t>> ranked_;  // by depth: legal actions, most plausible first
  std::vector<std::vector<std::int32_t>> position_;  // by depth and action: place in ranked_, or -1
  std::vector<TreeNode> nodes_;
  std::vector<float> rewards_;  // ascending
};

}  // namespace strato
