// The growing tree of a running search: what SearchTree is as a value, with the lists that
// selection needs (TAG 4.2.2). One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/local/memory_estimate.h"
#include "core/search/mcts/action_table.h"

namespace strato {

class GrowingTree {
 public:
  // A root that was not evaluated. Refers to the table and the options.
  GrowingTree(const Problem& problem, const ActionTable& table, const TreeSearchOptions& options);

  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const TreeNode& node(std::int32_t id) const { return nodes_[at(id)]; }

  // The next leaf to look at: new, or a complete strategy again when repeats are not free; -1 when
  // all that could be chosen waits for its evaluation, or nothing is left.
  std::int32_t select();
  bool is_exhausted() const { return node(start_).done; }
  bool has_focus() const { return start_ != 0; }
  bool has_excluded() const { return !excluded_.empty(); }
  // Whether the strategy is below an excluded vertex.
  bool is_excluded(const ActionVector& actions) const;
  ActionVector completed_actions(std::int32_t id) const;  // by group id, undecided ones filled

  void add_virtual_visit(std::int32_t leaf, int change);
  void set_priors(std::int32_t id, const std::vector<float>& priors) {
    order_.set_priors(changing(id), priors);
  }
  // `step_time_ns`: at least 1, which tells that the vertex was evaluated.
  void back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns);

  SearchTree snapshot() const;  // vertices, actions, order, steering, log
  // Vertices whose evaluation is from before back-up `pinned_since` are stale, unless they decide
  // every group. Throws InputError when it does not fit.
  void restore(const SearchTree& tree, std::size_t pinned_since);

 private:
  TreeNode& changing(std::int32_t id) { return nodes_[at(id)]; }
  void restore_node(const SearchTree& tree, std::int32_t id);
  void restore_order(std::int32_t id);
  void restore_values();
  std::vector<bool> open_actions(const TreeNode& parent) const;
  std::int32_t first_action_below(std::int32_t parent, std::int32_t action) const;
  void advance(TreeNode& parent) const;
  std::int32_t expand(std::int32_t id);
  std::int32_t roomiest_action(std::int32_t id) const;
  std::int32_t best_child(std::int32_t id);
  void mark_done(std::int32_t id);

  const ActionTable& table_;
  const TreeSearchOptions& options_;
  ActionOrder order_;
  MemoryEstimate memory_;
  std::vector<TreeNode> nodes_;
  std::vector<float> rewards_;  // ascending; of vertices that are not closed
  bool any_feasible_ = false;   // under the pins
  std::int32_t start_ = 0;      // of selection
  std::vector<std::int32_t> excluded_;
  std::vector<SearchTree::BackUp> log_;  // by the numbers of nodes_
  bool has_log_ = true;                  // trees of older files have none
};

}  // namespace strato
