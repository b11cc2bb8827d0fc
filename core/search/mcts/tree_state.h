// The growing tree of a running search: what SearchTree is as a value, with the lists that
// selection needs. Internal to tree_search.cpp and its tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/search/local/local_search.h"
#include "core/search/local/memory_estimate.h"
#include "core/search/mcts/tree_search.h"
#include "core/search/tree/search_tree.h"

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
  float weight = 1;                    // a person's, of the edge from the parent
  bool closed = false;                 // excluded or against a pin, or below such
  bool stale = false;                  // evaluated under other pins
  std::int32_t cursor = 0;             // place of the next action to open
  bool in_order = true;                // children are the first actions, one after another
  std::vector<std::int32_t> children;  // in order of expansion
  std::int32_t prior_row = -1;         // of TreeState's priors; -1: uniform
  std::vector<std::int32_t> order;     // actions by prior, once one is opened; empty: by rank
};

class TreeState {
 public:
  // `steering`: pins and further actions come from there; null: none. Throws InputError when they
  // do not fit. The vertices come with restore(). Decisions of `known` (complete strategies in the
  // problem's groups) that are no actions become further actions, behind those that are free.
  TreeState(const Problem& problem, const TreeSearchOptions& options, std::uint64_t seed,
            const SearchTree* steering = nullptr, std::span<const Strategy> known = {});

  const std::vector<Decision>& actions() const { return actions_; }
  const std::vector<GroupId>& order() const { return order_; }
  const std::vector<std::vector<std::int32_t>>& ranked() const { return ranked_; }
  // Those beyond are legal for the group that is pinned to them, or has them in a known strategy.
  std::size_t free_action_count() const { return free_actions_; }
  // By group id: the action that it is pinned to, or -1; empty: none is pinned.
  const std::vector<std::int32_t>& pinned() const { return pinned_; }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  TreeNode& node(std::int32_t id) { return nodes_[static_cast<std::size_t>(id)]; }
  const TreeNode& node(std::int32_t id) const { return nodes_[static_cast<std::size_t>(id)]; }

  // The next leaf to look at: new, or a complete strategy again when repeats are not free; -1 when
  // all that could be chosen waits for its evaluation, or nothing is left.
  std::int32_t select();
  bool exhausted() const { return node(start_).done; }
  bool any_feasible() const { return any_feasible_; }
  const MemoryEstimate& memory() const { return memory_; }
  bool has_focus() const { return start_ != 0; }
  // Whether the strategy is below an excluded vertex.
  bool is_excluded(const ActionVector& actions) const;
  bool has_excluded() const { return !excluded_.empty(); }
  ActionVector completed_actions(std::int32_t id) const;  // by group id, undecided ones filled
  Strategy strategy_of(const ActionVector& actions) const;
  // The inverse, with the pins instead of its own decisions; for the strategies that were `known`.
  ActionVector actions_of(const Strategy& known) const;

  void add_virtual_visit(std::int32_t leaf, int change);
  void set_priors(std::int32_t id, const std::vector<float>& priors);
  void back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns);

  SearchTree snapshot() const;  // vertices, actions, order, steering, log
  // Vertices whose evaluation is from before back-up `pinned_since` are stale, unless they decide
  // every group. Throws InputError when it does not fit.
  void restore(const SearchTree& tree, std::size_t pinned_since);
  std::size_t log_size() const { return log_.size(); }

 private:
  void take_actions(const Problem& problem, const SearchTree& steering);
  void take_pins(const IdVector<GroupId, std::optional<Decision>>& pins);
  void take_decisions(const Strategy& known);
  void restore_node(const SearchTree& tree, std::int32_t id);
  void restore_priors(const SearchTree& tree);
  void restore_order(std::int32_t id);
  std::int32_t pin_at(std::size_t depth) const {
    return pinned_.empty() ? -1 : pinned_[order_[depth].index()];
  }
  std::int32_t first_action_below(std::int32_t parent, std::int32_t action) const;
  bool has_next(const TreeNode& node) const {
    return static_cast<std::size_t>(node.cursor) < action_count(node);
  }
  void advance(TreeNode& node) const;
  void sort_by_prior(TreeNode& node) const;
  float prior_of(const TreeNode& node, std::int32_t action) const;
  bool follows_first(const TreeNode& node) const;
  std::size_t action_count(const TreeNode& node) const;
  std::int32_t action_at(const TreeNode& node, std::size_t place) const;
  std::int32_t expand(std::int32_t id);
  std::int32_t roomiest_action(std::int32_t id) const;
  std::int32_t best_child(std::int32_t id);
  double value(const TreeNode& node) const;
  void mark_done(std::int32_t id);
  void remember(float reward);
  bool is_leaf_depth(const TreeNode& node) const {
    return static_cast<std::size_t>(node.depth) == order_.size();
  }

  const TreeSearchOptions options_;
  MemoryEstimate memory_;
  std::vector<Decision> actions_;
  std::size_t free_actions_ = 0;
  IdVector<GroupId, std::optional<Decision>> pins_;
  std::vector<std::int32_t> pinned_;
  std::size_t first_free_ = 0;  // depth of the first group that is not pinned
  std::vector<GroupId> order_;
  std::vector<std::vector<std::int32_t>> ranked_;  // by depth: legal actions, most plausible first
  std::vector<std::vector<std::int32_t>> position_;  // by depth and action: place in ranked_, or -1
  std::vector<TreeNode> nodes_;
  std::vector<float> priors_;   // rows of actions_.size()
  std::vector<float> rewards_;  // ascending; of vertices that are not closed
  bool any_feasible_ = false;   // under the pins
  std::int32_t start_ = 0;      // of selection
  std::vector<std::int32_t> excluded_;
  std::vector<SearchTree::BackUp> log_;  // by the numbers of nodes_
  bool has_log_ = true;                  // trees of older files have none
};

}  // namespace strato
