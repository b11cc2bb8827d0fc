// A growing tree as a value of the store, and back.
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/tree/search_tree_check.h"

namespace strato {

SearchTree GrowingTree::snapshot() const {
  SearchTree tree;
  tree.actions = table_.actions();
  tree.order = table_.order();
  tree.pinned = table_.pins();
  tree.priors = order_.rows();
  std::vector<std::int32_t> queue = {0};
  std::vector<std::int32_t> number(nodes_.size(), 0);  // in the snapshot
  queue.reserve(nodes_.size());
  tree.vertices.resize(nodes_.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {  // breadth first: children get consecutive ids
    const TreeNode& n = node(queue[i]);
    number[static_cast<std::size_t>(queue[i])] = static_cast<std::int32_t>(i);
    SearchTree::Vertex& v = tree.vertices[i];
    v.action = n.action;
    v.depth = n.depth;
    v.visits = n.visits;
    v.value_sum = options_.max_backup ? n.best * n.visits : n.value_sum;
    v.prior = n.prior;
    v.reward = n.reward;
    v.step_time_ns = n.step_time_ns;
    v.weight = n.weight;
    v.child_count = static_cast<std::int32_t>(n.children.size());
    if (v.child_count > 0) v.first_child = static_cast<std::int32_t>(queue.size());
    v.prior_row = n.prior_row;
    for (std::int32_t child : n.children) {
      tree.vertices[queue.size()].parent = static_cast<std::int32_t>(i);
      queue.push_back(child);
    }
  }
  if (has_focus()) tree.focus = number[static_cast<std::size_t>(start_)];
  tree.log.reserve(log_.size());
  for (const auto& [vertex, reward] : log_)
    tree.log.push_back({number[static_cast<std::size_t>(vertex)], reward});
  return tree;
}

void GrowingTree::restore_node(const SearchTree& tree, std::int32_t id) {
  const SearchTree::Vertex& v = tree.vertices[static_cast<std::size_t>(id)];
  TreeNode& n = changing(id);
  n.parent = v.parent;
  n.action = v.action;
  n.depth = v.depth;
  if (v.parent >= 0) n.first_action = first_action_below(v.parent, v.action);
  n.visits = v.visits;
  n.value_sum = v.value_sum;
  n.prior = v.prior;
  n.reward = v.reward;
  n.best = v.reward;
  n.step_time_ns = v.step_time_ns;
  n.evaluated = v.step_time_ns > 0;
  n.weight = v.weight;
  n.children = tree.children(id);
  if (!n.evaluated && id > 0) tree_does_not_fit("a vertex was not evaluated");
  const std::int32_t pin = v.depth > 0 ? table_.pin_at(static_cast<std::size_t>(v.depth - 1)) : -1;
  n.closed =
      v.weight == 0 || (pin >= 0 && pin != v.action) || (v.parent >= 0 && node(v.parent).closed);
  if (v.weight == 0) excluded_.push_back(id);
  n.prior_row = order_.is_complete(n) ? -1 : v.prior_row;
}

// Children may come from a search with other priors, or from before a pin: any order of distinct
// actions will do.
void GrowingTree::restore_order(std::int32_t id) {
  TreeNode& n = changing(id);
  if (n.children.empty()) return;
  if (n.prior_row >= 0) order_.sort_by_prior(n);
  std::vector<bool> open(table_.actions().size(), false);
  const std::size_t count = order_.count(n);
  for (std::size_t c = 0; c < n.children.size(); ++c) {
    const std::int32_t action = node(n.children[c]).action;
    if (open[static_cast<std::size_t>(action)]) tree_does_not_fit("a vertex has an action twice");
    open[static_cast<std::size_t>(action)] = true;
    n.in_order = n.in_order && c < count && order_.at(n, c) == action;
  }
  advance(n);
}

void GrowingTree::restore_values() {
  for (const TreeNode& n : nodes_) {
    if (!n.evaluated || n.closed) continue;
    rewards_.push_back(n.reward);
    any_feasible_ = any_feasible_ || (!n.stale && n.reward > -1);
  }
  std::ranges::sort(rewards_);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& n = nodes_[i];
    restore_order(static_cast<std::int32_t>(i));
    if (n.closed) n.done = true;
    if (n.closed) continue;
    if (n.parent >= 0) changing(n.parent).best = std::max(node(n.parent).best, n.best);
    if (n.evaluated) mark_done(static_cast<std::int32_t>(i));
  }
}

void GrowingTree::restore(const SearchTree& tree, std::size_t pinned_since) {
  CHECK(tree.order == table_.order(), "steering of another tree");
  nodes_.assign(tree.vertices.size(), {});
  log_ = tree.log;
  order_.restore_rows(tree);
  has_log_ = !log_.empty() || tree.vertices.front().visits == 0;
  const bool free = table_.pinned().empty();
  std::vector<bool> fresh(nodes_.size(), pinned_since == 0 && (has_log_ || free));
  for (std::size_t i = log_.size(); i-- > 0;)  // the first back-up of a vertex is its evaluation
    fresh[static_cast<std::size_t>(log_[i].vertex)] = i >= pinned_since;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    restore_node(tree, static_cast<std::int32_t>(i));
    nodes_[i].stale = !fresh[i] && !order_.is_complete(nodes_[i]);
  }
  restore_values();
  if (tree.focus > 0 && !node(tree.focus).closed) start_ = tree.focus;
}

}  // namespace strato
