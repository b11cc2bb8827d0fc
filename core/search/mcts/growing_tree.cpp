#include "core/search/mcts/growing_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::int32_t kNew = -2;          // best_child's word for "expand the next action"
constexpr std::size_t kFirstUniform = 48;  // strategies to see before others while nothing fits

}  // namespace

GrowingTree::GrowingTree(const Problem& problem, const ActionTable& table,
                         const TreeSearchOptions& options)
    : table_(table), options_(options), order_(table, options), memory_(problem), nodes_(1) {}

// What undecided groups follow: the first group that a person has left free.
std::int32_t GrowingTree::first_action_below(std::int32_t parent, std::int32_t action) const {
  const TreeNode& above = node(parent);
  if (above.first_action >= 0) return above.first_action;
  return table_.pin_at(at(above.depth)) < 0 ? action : -1;
}

std::vector<bool> GrowingTree::open_actions(const TreeNode& parent) const {
  std::vector<bool> open(table_.actions().size(), false);
  for (std::int32_t child : parent.children) open[at(node(child).action)] = true;
  return open;
}

// To the next action that is not open yet.
void GrowingTree::advance(TreeNode& parent) const {
  const std::vector<bool> open = open_actions(parent);
  while (order_.has_next(parent) && open[at(order_.next(parent))]) ++parent.cursor;
}

// PUCT (TAG 4.2.2). Virtual visits count as visits, without a value: they spread a batch.
std::int32_t GrowingTree::best_child(std::int32_t id) {
  if (node(id).prior_row >= 0 && node(id).order.empty()) order_.sort_by_prior(changing(id));
  const TreeNode& parent = node(id);
  const std::size_t actions = table_.actions().size();
  const double visits = parent.visits + parent.virtual_visits;
  const auto reward = [&](std::size_t place) { return rewards_[place]; };
  const ValueScale scale(rewards_.size(), reward, options_);
  const auto value = [&](const TreeNode& n) {
    return scale(options_.max_backup ? n.best : n.value());
  };
  std::int32_t best = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  bool any_open = false;
  std::size_t open = 0;
  for (std::int32_t child_id : parent.children) {
    const TreeNode& child = node(child_id);
    if (child.closed) continue;
    ++open;
    if (child.done && options_.free_repeats) continue;
    any_open = true;
    if (!child.is_evaluated()) continue;  // waits for its evaluation
    const double score = value(child) + exploration(options_, actions, child.prior * child.weight,
                                                    visits, child.visits + child.virtual_visits);
    if (score > best_score) best = child_id, best_score = score;
  }
  if (!order_.has_next(parent)) return best;
  // While nothing fits in memory, values say little: see the first uniform strategies.
  const bool uniform = at(parent.depth) == table_.first_free() && open < kFirstUniform;
  if (uniform && !any_feasible_ && options_.graded_overflow) return kNew;
  if (any_open && !may_widen(options_, visits, open)) return best;
  const double prior = parent.prior_row < 0 ? 1.0 / static_cast<double>(actions)
                                            : order_.prior(parent, order_.next(parent));
  const double unvisited = options_.first_play ? value(parent) - options_.fpu : 0;
  return unvisited + exploration(options_, actions, prior, visits, 0) > best_score ? kNew : best;
}

std::int32_t GrowingTree::expand(std::int32_t id) {
  const auto child_id = static_cast<std::int32_t>(nodes_.size());
  const bool relieve =
      options_.graded_overflow && !any_feasible_ && at(node(id).depth) > table_.first_free();
  TreeNode child;
  child.parent = id;
  child.action = relieve ? roomiest_action(id) : order_.next(node(id));
  child.depth = node(id).depth + 1;
  child.first_action = first_action_below(id, child.action);
  child.prior = order_.prior(node(id), child.action);
  changing(id).children.push_back(child_id);
  nodes_.push_back(std::move(child));
  advance(changing(id));
  return child_id;
}

// While nothing fits in memory: what leaves the most room beside the groups that are decided.
std::int32_t GrowingTree::roomiest_action(std::int32_t id) const {
  const TreeNode& parent = node(id);
  std::vector<double> loads(memory_.device_count(), 0.0);
  for (const TreeNode* n = &parent; n->parent >= 0; n = &node(n->parent))
    memory_.add(table_.decided_at(n->depth), table_.action(n->action), loads);
  const std::vector<bool> open = open_actions(parent);
  std::int32_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < order_.count(parent); ++place) {
    const std::int32_t action = order_.action(parent, place);
    if (open[at(action)]) continue;
    const double full =
        memory_.fullness(table_.order()[at(parent.depth)], table_.action(action), loads);
    if (full < least) best = action, least = full;
  }
  CHECK(best >= 0, "an action that is not open yet");
  return best;
}

std::int32_t GrowingTree::select() {
  std::int32_t id = start_;
  if (!node(id).is_evaluated()) return id;
  if (node(id).done && options_.free_repeats) return -1;
  while (!order_.is_complete(node(id))) {
    const std::int32_t next = best_child(id);
    if (next == kNew) return expand(id);
    if (next < 0) return -1;
    id = next;
  }
  return id;
}

ActionVector GrowingTree::completed_actions(std::int32_t id) const {
  ActionVector result =
      table_.with_pins(ActionVector(table_.groups(), std::max(node(id).first_action, 0)));
  for (const TreeNode* n = &node(id); n->parent >= 0; n = &node(n->parent))
    result[table_.decided_at(n->depth).index()] = n->action;
  return result;
}

bool GrowingTree::is_excluded(const ActionVector& actions) const {
  return std::ranges::any_of(excluded_, [&](std::int32_t id) {
    for (const TreeNode* n = &node(id); n->parent >= 0; n = &node(n->parent))
      if (actions[table_.decided_at(n->depth).index()] != n->action) return false;
    return true;
  });
}

void GrowingTree::add_virtual_visit(std::int32_t leaf, int change) {
  for (std::int32_t id = leaf; id >= 0; id = node(id).parent) changing(id).virtual_visits += change;
}

void GrowingTree::mark_done(std::int32_t id) {
  for (; id >= 0; id = node(id).parent) {
    TreeNode& n = changing(id);
    const auto is_done = [&](std::int32_t child) { return node(child).done; };
    const bool nothing_below =
        order_.is_complete(n) || (!order_.has_next(n) && std::ranges::all_of(n.children, is_done));
    if (!n.is_evaluated() || !nothing_below) return;
    n.done = true;
  }
}

void GrowingTree::back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns) {
  TreeNode& end = changing(leaf);
  if (!end.is_evaluated()) {
    end.reward = reward;
    end.best = reward;
    end.step_time_ns = step_time_ns;
    rewards_.insert(std::ranges::upper_bound(rewards_, reward), reward);
    any_feasible_ = any_feasible_ || reward > -1;
  }
  for (std::int32_t id = leaf; id >= 0; id = node(id).parent) {
    TreeNode& n = changing(id);
    ++n.visits;
    n.value_sum += reward;
    n.best = std::max<double>(n.best, reward);
  }
  if (has_log_) log_.push_back({leaf, reward});
  mark_done(leaf);
}

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
  const std::vector<bool> open = open_actions(n);
  if (std::count(open.begin(), open.end(), true) != std::ssize(n.children))
    tree_does_not_fit("a vertex has an action twice");
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
