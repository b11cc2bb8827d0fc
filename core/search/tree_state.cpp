#include "core/search/tree_state.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::int32_t kNew = -2;  // best_child's word for "expand the next action"

[[noreturn]] void does_not_fit(const std::string& what) {
  throw InputError("", "search tree", "it does not fit this search: " + what,
                   "resume with the options and seed that it was made with, or start a new search");
}

// Groups are in descending order of compute time (TAG 4.2.2); a group with many parameters may
// matter more than its compute time says.
std::vector<GroupId> search_order(const Problem& problem, const Decision& data_parallel,
                                  bool by_cost) {
  std::vector<GroupId> order;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) order.emplace_back(g);
  if (!by_cost) return order;
  const ActionEstimate estimate(problem);
  std::ranges::stable_sort(order.begin() + 1, order.end(), std::greater(), [&](GroupId group) {
    return estimate.group_seconds(group, data_parallel);
  });
  return order;
}

}  // namespace

TreeState::TreeState(const Problem& problem, const TreeSearchOptions& options, std::uint64_t seed)
    : options_(options), actions_(make_actions(problem, options.actions)) {
  order_ = search_order(problem, actions_.front(), options.order_by_cost);
  ranked_ = rank_actions(problem, actions_, order_, seed, options.noise);
  for (const auto& ranks : ranked_) {
    position_.emplace_back(actions_.size(), -1);
    for (std::size_t place = 0; place < ranks.size(); ++place)
      position_.back()[static_cast<std::size_t>(ranks[place])] = static_cast<std::int32_t>(place);
  }
  nodes_.emplace_back();
}

std::size_t TreeState::action_count(const TreeNode& node) const {
  const auto depth = static_cast<std::size_t>(node.depth);
  if (!node.order.empty() || !options_.follow_first || depth == 0) return ranked_[depth].size();
  const bool legal = position_[depth][static_cast<std::size_t>(node.first_action)] >= 0;
  return ranked_[depth].size() + (legal ? 0 : 1);
}

// The place-th action to try: "as the first group" first, then by rank.
std::int32_t TreeState::action_at(const TreeNode& node, std::size_t place) const {
  const auto depth = static_cast<std::size_t>(node.depth);
  if (!node.order.empty()) return node.order[place];
  if (!options_.follow_first || depth == 0) return ranked_[depth][place];
  if (place == 0) return node.first_action;
  const std::int32_t skipped = position_[depth][static_cast<std::size_t>(node.first_action)];
  const std::size_t at = place - 1;
  return ranked_[depth][skipped >= 0 && at >= static_cast<std::size_t>(skipped) ? at + 1 : at];
}

double TreeState::value(const TreeNode& node) const {
  if (options_.max_backup) return node.best;
  return node.visits > 0 ? node.value_sum / node.visits : 0;
}

double TreeState::normalised(double value) const {
  if (!options_.normalise || rewards_.empty()) return value;
  const double high = rewards_.back();
  const auto at =
      static_cast<std::size_t>(options_.low_quantile * static_cast<double>(rewards_.size()));
  const double low = rewards_[std::min(at, rewards_.size() - 1)];
  if (high - low < 1e-9) return value >= high ? 1 : 0;
  return std::clamp((value - low) / (high - low), -1.0, 1.0);
}

// PUCT (TAG 4.2.2). Virtual visits count as visits, without a value: they spread a batch.
std::int32_t TreeState::best_child(std::int32_t id) const {
  const TreeNode& at = node(id);
  const double visits = at.visits + at.virtual_visits;
  const double root_of_visits = std::sqrt(std::max(visits, 1.0));
  const double scale = options_.relative_prior ? static_cast<double>(actions_.size()) : 1.0;
  const double own = normalised(value(at));
  const double unvisited = options_.first_play ? own - options_.fpu : 0;
  std::int32_t best = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  bool any_open = false;
  for (std::int32_t child_id : at.children) {
    const TreeNode& child = node(child_id);
    if (child.done && options_.free_repeats) continue;
    any_open = true;
    if (!child.evaluated) continue;  // waits for its evaluation
    const double n = child.visits + child.virtual_visits;
    const double score =
        normalised(value(child)) + options_.c * scale * child.prior * root_of_visits / (1 + n);
    if (score > best_score) best = child_id, best_score = score;
  }
  const std::size_t open = at.children.size();
  if (open == action_count(at)) return best;
  // While nothing fits in memory, values say little: see every uniform strategy first.
  const bool nothing_feasible = !rewards_.empty() && rewards_.back() <= -1;
  if (id == 0 && nothing_feasible && options_.graded_overflow) return kNew;
  const bool wide = options_.widening > 0 &&
                    static_cast<double>(open) >= std::max(1.0, options_.widening * root_of_visits);
  if (wide && any_open) return best;
  const double prior = at.priors.empty() ? 1.0 / static_cast<double>(actions_.size())
                                         : at.priors[static_cast<std::size_t>(action_at(at, open))];
  return unvisited + options_.c * scale * prior * root_of_visits > best_score ? kNew : best;
}

std::int32_t TreeState::expand(std::int32_t id) {
  const TreeNode& at = node(id);
  TreeNode child;
  child.parent = id;
  child.action = action_at(at, at.children.size());
  child.depth = at.depth + 1;
  child.first_action = at.depth == 0 ? child.action : at.first_action;
  child.prior = at.priors.empty() ? 1.0F / static_cast<float>(actions_.size())
                                  : at.priors[static_cast<std::size_t>(child.action)];
  const auto child_id = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back(std::move(child));
  node(id).children.push_back(child_id);
  return child_id;
}

std::int32_t TreeState::select() {
  std::int32_t id = 0;
  if (!node(id).evaluated) return id;
  for (;;) {
    if (is_leaf_depth(node(id))) return id;
    const std::int32_t next = best_child(id);
    if (next == kNew) return expand(id);
    if (next < 0) return -1;
    id = next;
  }
}

ActionVector TreeState::completed_actions(std::int32_t id) const {
  const TreeNode& leaf = node(id);
  ActionVector result(order_.size(), std::max(leaf.first_action, 0));
  for (std::int32_t at = id; node(at).parent >= 0; at = node(at).parent)
    result[order_[static_cast<std::size_t>(node(at).depth - 1)].index()] = node(at).action;
  return result;
}

Strategy TreeState::strategy_of(const ActionVector& actions) const {
  Strategy strategy;
  strategy.groups.reserve(actions.size());
  for (std::int32_t action : actions)
    strategy.groups.emplace_back(actions_[static_cast<std::size_t>(action)]);
  return strategy;
}

void TreeState::add_virtual_visit(std::int32_t leaf, int change) {
  for (std::int32_t at = leaf; at >= 0; at = node(at).parent) node(at).virtual_visits += change;
}

void TreeState::set_priors(std::int32_t id, std::vector<float> priors) {
  TreeNode& at = node(id);
  if (priors.empty() || is_leaf_depth(at)) return;
  CHECK(priors.size() == actions_.size(), "one prior an action");
  at.order = ranked_[static_cast<std::size_t>(at.depth)];
  std::ranges::stable_sort(at.order, [&](std::int32_t a, std::int32_t b) {
    return priors[static_cast<std::size_t>(a)] > priors[static_cast<std::size_t>(b)];
  });
  at.priors = std::move(priors);
}

void TreeState::remember(float reward) {
  rewards_.insert(std::ranges::upper_bound(rewards_, reward), reward);
}

void TreeState::mark_done(std::int32_t id) {
  for (std::int32_t at = id; at >= 0; at = node(at).parent) {
    const TreeNode& n = node(at);
    const bool done =
        n.evaluated &&
        (is_leaf_depth(n) ||
         (n.children.size() == action_count(n) &&
          std::ranges::all_of(n.children, [&](std::int32_t c) { return node(c).done; })));
    if (!done) return;
    node(at).done = true;
  }
}

void TreeState::back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns) {
  TreeNode& end = node(leaf);
  if (!end.evaluated) {
    end.evaluated = true;
    end.reward = reward;
    end.best = reward;
    end.step_time_ns = step_time_ns;
    remember(reward);
  }
  for (std::int32_t at = leaf; at >= 0; at = node(at).parent) {
    TreeNode& n = node(at);
    ++n.visits;
    n.value_sum += reward;
    n.best = std::max<double>(n.best, reward);
  }
  mark_done(leaf);
}

SearchTree TreeState::snapshot() const {
  SearchTree tree;
  tree.actions = actions_;
  tree.order = order_;
  std::vector<std::int32_t> queue = {0};
  tree.vertices.reserve(nodes_.size());
  tree.vertices.emplace_back();
  for (std::size_t i = 0; i < queue.size(); ++i) {  // breadth first: children get consecutive ids
    const TreeNode& n = node(queue[i]);
    {
      SearchTree::Vertex& v = tree.vertices[i];
      v.action = n.action;
      v.depth = n.depth;
      v.visits = n.visits;
      v.value_sum = options_.max_backup ? n.best * n.visits : n.value_sum;
      v.prior = n.prior;
      v.reward = n.reward;
      v.step_time_ns = n.step_time_ns;
      v.child_count = static_cast<std::int32_t>(n.children.size());
      if (v.child_count > 0) v.first_child = static_cast<std::int32_t>(queue.size());
      if (!n.priors.empty()) {
        v.prior_row = static_cast<std::int32_t>(tree.priors.size() / actions_.size());
        tree.priors.insert(tree.priors.end(), n.priors.begin(), n.priors.end());
      }
    }
    for (std::int32_t child : n.children) {
      queue.push_back(child);
      tree.vertices.emplace_back().parent = static_cast<std::int32_t>(i);
    }
  }
  return tree;
}

void TreeState::restore(const SearchTree& tree) {
  if (tree.actions != actions_) does_not_fit("its actions are others");
  if (tree.order != order_) does_not_fit("its op groups are others");
  nodes_.assign(tree.vertices.size(), {});
  rewards_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const SearchTree::Vertex& v = tree.vertices[i];
    const auto id = static_cast<std::int32_t>(i);
    TreeNode& n = nodes_[i];
    n.parent = v.parent;
    n.action = v.action;
    n.depth = v.depth;
    if (v.parent >= 0) n.first_action = v.depth == 1 ? v.action : node(v.parent).first_action;
    n.visits = v.visits;
    n.value_sum = v.value_sum;
    n.prior = v.prior;
    n.reward = v.reward;
    n.best = v.reward;
    n.step_time_ns = v.step_time_ns;
    n.evaluated = v.step_time_ns > 0;
    if (v.prior_row >= 0) {
      const auto begin =
          tree.priors.begin() + v.prior_row * static_cast<std::ptrdiff_t>(actions_.size());
      set_priors(id, {begin, begin + static_cast<std::ptrdiff_t>(actions_.size())});
    }
    n.children = tree.children(id);
    if (n.evaluated) remember(n.reward);
    if (!n.evaluated && i > 0) does_not_fit("a vertex was not evaluated");
    if (!is_leaf_depth(n) && n.children.size() > action_count(n))
      does_not_fit("a vertex has too many children");
    for (std::size_t c = 0; c < n.children.size(); ++c)
      if (tree.vertices[static_cast<std::size_t>(n.children[c])].action != action_at(n, c))
        does_not_fit("its order of actions is another");
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const TreeNode& n = nodes_[i];
    if (n.parent >= 0) node(n.parent).best = std::max(node(n.parent).best, n.best);
    if (n.evaluated) mark_done(static_cast<std::int32_t>(i));
  }
}

}  // namespace strato
