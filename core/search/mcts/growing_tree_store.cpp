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
  tree.vertices.reserve(nodes_.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {  // breadth first: children get consecutive ids
    const TreeNode& n = node(queue[i]);
    number[at(queue[i])] = static_cast<std::int32_t>(i);
    SearchTree::Vertex& v = tree.vertices.emplace_back(n);
    if (n.parent >= 0) v.parent = number[at(n.parent)];
    if (options_.max_backup) v.value_sum = n.best * n.visits;
    v.child_count = static_cast<std::int32_t>(n.children.size());
    v.first_child = n.children.empty() ? -1 : static_cast<std::int32_t>(queue.size());
    queue.insert(queue.end(), n.children.begin(), n.children.end());
  }
  if (has_focus()) tree.focus = number[at(start_)];
  for (const auto& [vertex, reward] : log_) tree.log.push_back({number[at(vertex)], reward});
  return tree;
}

void GrowingTree::restore_node(const SearchTree& tree, std::int32_t id) {
  TreeNode& n = changing(id);
  static_cast<SearchTree::Vertex&>(n) = tree.vertices[at(id)];
  if (!n.is_evaluated() && id > 0) tree_does_not_fit("a vertex was not evaluated");
  n.best = n.reward;
  n.children = tree.children(id);
  if (n.weight == 0) excluded_.push_back(id);
  if (order_.is_complete(n)) n.prior_row = -1;
  n.closed = n.weight == 0;
  if (n.parent < 0) return;
  n.first_action = first_action_below(n.parent, n.action);
  const std::int32_t pin = table_.pin_at(at(n.depth - 1));
  n.closed = n.closed || (pin >= 0 && pin != n.action) || node(n.parent).closed;
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
    if (open[at(action)]) tree_does_not_fit("a vertex has an action twice");
    open[at(action)] = true;
    n.in_order = n.in_order && c < count && order_.action(n, c) == action;
  }
  advance(n);
}

void GrowingTree::restore_values() {
  for (const TreeNode& n : nodes_) {
    if (!n.is_evaluated() || n.closed) continue;
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
    if (n.is_evaluated()) mark_done(static_cast<std::int32_t>(i));
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
    fresh[at(log_[i].vertex)] = i >= pinned_since;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    restore_node(tree, static_cast<std::int32_t>(i));
    nodes_[i].stale = !fresh[i] && !order_.is_complete(nodes_[i]);
  }
  restore_values();
  if (tree.focus > 0 && !node(tree.focus).closed) start_ = tree.focus;
}

}  // namespace strato
