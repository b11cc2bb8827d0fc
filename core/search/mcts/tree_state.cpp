#include "core/search/mcts/tree_state.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_set>

#include "core/base/error.h"
#include "core/search/mcts/puct.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

constexpr std::int32_t kNew = -2;          // best_child's word for "expand the next action"
constexpr std::size_t kFirstUniform = 48;  // strategies to see before others while nothing fits

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

// One of the first, one of the second, and so on; each once. Both hold the same actions.
std::vector<std::int32_t> in_turns(const std::vector<std::int32_t>& first,
                                   const std::vector<std::int32_t>& second) {
  std::vector<std::int32_t> both;
  std::unordered_set<std::int32_t> taken;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (const std::int32_t next : {first[i], second[i]})
      if (taken.insert(next).second) both.push_back(next);
  return both;
}

}  // namespace

TreeState::TreeState(const Problem& problem, const TreeSearchOptions& options, std::uint64_t seed,
                     const SearchTree* steering, std::span<const Strategy> known)
    : options_(options), memory_(problem), actions_(make_actions(problem, options.actions)) {
  free_actions_ = actions_.size();
  order_ = search_order(problem, actions_.front(), options.order_by_cost);
  const std::vector<Decision> free_actions = actions_;
  if (steering != nullptr) take_actions(problem, *steering);
  take_pins(steering != nullptr ? steering->pinned : decltype(pins_)());
  for (const Strategy& strategy : known) take_decisions(strategy);
  while (first_free_ < order_.size() && pin_at(first_free_) >= 0) ++first_free_;
  ranked_ = rank_actions(problem, free_actions, order_, seed, options.noise, first_free_);
  for (const auto& ranks : ranked_) {
    position_.emplace_back(actions_.size(), -1);
    for (std::size_t place = 0; place < ranks.size(); ++place)
      position_.back()[static_cast<std::size_t>(ranks[place])] = static_cast<std::int32_t>(place);
  }
  nodes_.emplace_back();
}

void TreeState::take_actions(const Problem& problem, const SearchTree& steering) {
  if (steering.order != order_) does_not_fit("its op groups are others");
  const bool longer = steering.actions.size() >= free_actions_ &&
                      std::equal(actions_.begin(), actions_.end(), steering.actions.begin());
  if (!longer) does_not_fit("its actions are others");
  actions_ = steering.actions;
  for (const auto& pin : steering.pinned)
    if (pin && std::ranges::find(actions_, *pin) == actions_.end()) actions_.push_back(*pin);
  Strategy pins;
  pins.groups = steering.pinned;
  if (!pins.groups.empty()) validate(pins, *problem.grouping, *problem.cluster);
  for (std::size_t a = free_actions_; a < actions_.size(); ++a) {  // of pins that are gone, too
    Strategy further;
    further.groups.assign(order_.size(), actions_[a]);
    validate(further, *problem.grouping, *problem.cluster);
  }
}

// A person's, and those of constraints, which come first.
void TreeState::take_pins(const IdVector<GroupId, std::optional<Decision>>& pins) {
  pins_ = pins;
  if (pins_.empty()) pins_ = options_.pins;
  for (std::size_t g = 0; g < options_.pins.size(); ++g)
    if (const auto& pin = options_.pins[GroupId(g)]) pins_[GroupId(g)] = pin;
  const bool any = std::ranges::any_of(pins_, [](const auto& pin) { return pin.has_value(); });
  if (!any) return pins_.clear();
  pinned_.assign(order_.size(), -1);
  for (std::size_t g = 0; g < pinned_.size(); ++g) {
    const auto& pin = pins_[GroupId(g)];
    if (!pin) continue;
    const auto known = std::ranges::find(actions_, *pin);
    pinned_[g] = static_cast<std::int32_t>(known - actions_.begin());
    if (known == actions_.end()) actions_.push_back(*pin);
  }
}

// Actions are few, but groups are many and mostly decided alike.
void TreeState::take_decisions(const Strategy& known) {
  for (std::size_t g = 0; g < known.groups.size(); ++g) {
    const Decision& decision = *known.groups[GroupId(g)];
    if (g > 0 && decision == *known.groups[GroupId(g - 1)]) continue;
    if (std::ranges::find(actions_, decision) == actions_.end()) actions_.push_back(decision);
  }
}

ActionVector TreeState::actions_of(const Strategy& known) const {
  ActionVector actions(order_.size());
  for (std::size_t g = 0; g < actions.size(); ++g) {
    const auto found = std::ranges::find(actions_, *known.groups[GroupId(g)]);
    CHECK(found != actions_.end(), "a strategy whose decisions are actions");
    actions[g] = static_cast<std::int32_t>(found - actions_.begin());
    if (!pinned_.empty() && pinned_[g] >= 0) actions[g] = pinned_[g];
  }
  return actions;
}

bool TreeState::follows_first(const TreeNode& node) const {
  return options_.follow_first && node.prior_row < 0 && node.first_action >= 0 &&
         static_cast<std::size_t>(node.first_action) < free_actions_;
}

std::size_t TreeState::action_count(const TreeNode& node) const {
  const auto depth = static_cast<std::size_t>(node.depth);
  if (is_leaf_depth(node)) return 0;
  if (pin_at(depth) >= 0) return 1;
  if (!follows_first(node)) return ranked_[depth].size();
  const bool legal = position_[depth][static_cast<std::size_t>(node.first_action)] >= 0;
  return ranked_[depth].size() + (legal ? 0 : 1);
}

// The place-th action to try: "as the first group" first, then by rank.
std::int32_t TreeState::action_at(const TreeNode& node, std::size_t place) const {
  const auto depth = static_cast<std::size_t>(node.depth);
  if (const std::int32_t pin = pin_at(depth); pin >= 0) return pin;
  if (node.prior_row >= 0) return node.order[place];
  if (!follows_first(node)) return ranked_[depth][place];
  if (place == 0) return node.first_action;
  const std::int32_t skipped = position_[depth][static_cast<std::size_t>(node.first_action)];
  const std::size_t at = place - 1;
  return ranked_[depth][skipped >= 0 && at >= static_cast<std::size_t>(skipped) ? at + 1 : at];
}

// What undecided groups follow: the first group that a person has left free.
std::int32_t TreeState::first_action_below(std::int32_t parent, std::int32_t action) const {
  const TreeNode& above = node(parent);
  if (above.first_action >= 0) return above.first_action;
  return pin_at(static_cast<std::size_t>(above.depth)) < 0 ? action : -1;
}

// To the next action that is not open yet.
void TreeState::advance(TreeNode& node) const {
  if (node.in_order) {
    node.cursor = static_cast<std::int32_t>(node.children.size());
    return;
  }
  std::vector<bool> open(actions_.size(), false);
  for (std::int32_t child : node.children)
    open[static_cast<std::size_t>(this->node(child).action)] = true;
  const std::size_t count = action_count(node);
  auto place = static_cast<std::size_t>(node.cursor);
  while (place < count && open[static_cast<std::size_t>(action_at(node, place))]) ++place;
  node.cursor = static_cast<std::int32_t>(place);
}

double TreeState::value(const TreeNode& node) const {
  if (options_.max_backup) return node.best;
  return node.visits > 0 ? node.value_sum / node.visits : 0;
}

// PUCT (TAG 4.2.2). Virtual visits count as visits, without a value: they spread a batch.
std::int32_t TreeState::best_child(std::int32_t id) {
  if (node(id).prior_row >= 0 && node(id).order.empty()) sort_by_prior(node(id));
  const TreeNode& at = node(id);
  const double visits = at.visits + at.virtual_visits;
  const ValueScale scale(rewards_, options_);
  const double unvisited = options_.first_play ? scale(value(at)) - options_.fpu : 0;
  std::int32_t best = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  bool any_open = false;
  std::size_t open = 0;
  for (std::int32_t child_id : at.children) {
    const TreeNode& child = node(child_id);
    if (child.closed) continue;
    ++open;
    if (child.done && options_.free_repeats) continue;
    any_open = true;
    if (!child.evaluated) continue;  // waits for its evaluation
    const double n = child.visits + child.virtual_visits;
    const double score = scale(value(child)) + exploration(options_, actions_.size(),
                                                           child.prior * child.weight, visits, n);
    if (score > best_score) best = child_id, best_score = score;
  }
  if (!has_next(at)) return best;
  // While nothing fits in memory, values say little: see the first uniform strategies.
  const bool uniform = static_cast<std::size_t>(at.depth) == first_free_ && open < kFirstUniform;
  if (uniform && !any_feasible_ && options_.graded_overflow) return kNew;
  if (any_open && !may_widen(options_, visits, open)) return best;
  const double prior = at.prior_row < 0
                           ? 1.0 / static_cast<double>(actions_.size())
                           : prior_of(at, action_at(at, static_cast<std::size_t>(at.cursor)));
  const double score = unvisited + exploration(options_, actions_.size(), prior, visits, 0);
  return score > best_score ? kNew : best;
}

std::int32_t TreeState::expand(std::int32_t id) {
  const auto child_id = static_cast<std::int32_t>(nodes_.size());
  TreeNode child;
  {
    const TreeNode& at = node(id);
    child.parent = id;
    const bool relieve = options_.graded_overflow && !any_feasible_ &&
                         static_cast<std::size_t>(at.depth) > first_free_;
    child.action =
        relieve ? roomiest_action(id) : action_at(at, static_cast<std::size_t>(at.cursor));
    child.depth = at.depth + 1;
    child.first_action = first_action_below(id, child.action);
    child.prior = prior_of(at, child.action);
  }
  nodes_.push_back(std::move(child));
  TreeNode& at = node(id);
  const std::int32_t next = action_at(at, static_cast<std::size_t>(at.cursor));
  at.in_order = at.in_order && nodes_.back().action == next;
  at.children.push_back(child_id);
  advance(at);
  return child_id;
}

// While nothing fits in memory: what leaves the most room beside the groups that are decided.
std::int32_t TreeState::roomiest_action(std::int32_t id) const {
  const TreeNode& here = node(id);
  const GroupId group = order_[static_cast<std::size_t>(here.depth)];
  std::vector<double> loads(memory_.device_count(), 0.0);
  for (std::int32_t at = id; node(at).parent >= 0; at = node(at).parent)
    memory_.add(order_[static_cast<std::size_t>(node(at).depth - 1)],
                actions_[static_cast<std::size_t>(node(at).action)], loads);
  std::vector<bool> open(actions_.size(), false);
  for (std::int32_t child : here.children)
    open[static_cast<std::size_t>(node(child).action)] = true;
  std::int32_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < action_count(here); ++place) {
    const std::int32_t action = action_at(here, place);
    if (open[static_cast<std::size_t>(action)]) continue;
    const double full = memory_.fullness(group, actions_[static_cast<std::size_t>(action)], loads);
    if (full < least) best = action, least = full;
  }
  CHECK(best >= 0, "an action that is not open yet");
  return best;
}

std::int32_t TreeState::select() {
  std::int32_t id = start_;
  if (!node(id).evaluated) return id;
  if (node(id).done && options_.free_repeats) return -1;
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
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) result[g] = pinned_[g];
  for (std::int32_t at = id; node(at).parent >= 0; at = node(at).parent)
    result[order_[static_cast<std::size_t>(node(at).depth - 1)].index()] = node(at).action;
  return result;
}

bool TreeState::is_excluded(const ActionVector& actions) const {
  return std::ranges::any_of(excluded_, [&](std::int32_t id) {
    while (id > 0) {
      const TreeNode& at = node(id);
      if (actions[order_[static_cast<std::size_t>(at.depth - 1)].index()] != at.action)
        return false;
      id = at.parent;
    }
    return true;
  });
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

void TreeState::set_priors(std::int32_t id, const std::vector<float>& priors) {
  TreeNode& at = node(id);
  if (priors.empty() || is_leaf_depth(at)) return;
  CHECK(priors.size() == actions_.size(), "one prior an action");
  CHECK(at.prior_row < 0, "priors are asked for once");
  at.prior_row = static_cast<std::int32_t>(priors_.size() / actions_.size());
  priors_.insert(priors_.end(), priors.begin(), priors.end());
  if (static_cast<std::size_t>(at.depth) != first_free_) return;
  const auto uniform = 1.0F / static_cast<float>(priors.size());
  const auto part = static_cast<float>(options_.root_mix);
  for (float& prior : std::span(priors_).last(priors.size()))
    prior = (1 - part) * prior + part * uniform;
}

float TreeState::prior_of(const TreeNode& node, std::int32_t action) const {
  if (node.prior_row < 0) return 1.0F / static_cast<float>(actions_.size());
  return priors_[static_cast<std::size_t>(node.prior_row) * actions_.size() +
                 static_cast<std::size_t>(action)];
}

void TreeState::sort_by_prior(TreeNode& node) const {
  node.order = ranked_[static_cast<std::size_t>(node.depth)];
  std::ranges::stable_sort(node.order, [&](std::int32_t a, std::int32_t b) {
    return prior_of(node, a) > prior_of(node, b);
  });
  if (static_cast<std::size_t>(node.depth) == first_free_ && options_.root_mix > 0)
    node.order = in_turns(node.order, ranked_[first_free_]);
}

void TreeState::mark_done(std::int32_t id) {
  for (std::int32_t at = id; at >= 0; at = node(at).parent) {
    const TreeNode& n = node(at);
    const bool done =
        n.evaluated &&
        (is_leaf_depth(n) || (!has_next(n) && std::ranges::all_of(n.children, [&](std::int32_t c) {
           return node(c).done;
         })));
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
    rewards_.insert(std::ranges::upper_bound(rewards_, reward), reward);
    any_feasible_ = any_feasible_ || reward > -1;
  }
  for (std::int32_t at = leaf; at >= 0; at = node(at).parent) {
    TreeNode& n = node(at);
    ++n.visits;
    n.value_sum += reward;
    n.best = std::max<double>(n.best, reward);
  }
  if (has_log_) log_.push_back({leaf, reward});
  mark_done(leaf);
}

SearchTree TreeState::snapshot() const {
  SearchTree tree;
  tree.actions = actions_;
  tree.order = order_;
  tree.pinned = pins_;
  tree.priors = priors_;
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

void TreeState::restore_node(const SearchTree& tree, std::int32_t id) {
  const SearchTree::Vertex& v = tree.vertices[static_cast<std::size_t>(id)];
  TreeNode& n = node(id);
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
  if (!n.evaluated && id > 0) does_not_fit("a vertex was not evaluated");
  const std::int32_t pin = v.depth > 0 ? pin_at(static_cast<std::size_t>(v.depth - 1)) : -1;
  n.closed =
      v.weight == 0 || (pin >= 0 && pin != v.action) || (v.parent >= 0 && node(v.parent).closed);
  if (v.weight == 0) excluded_.push_back(id);
  n.prior_row = is_leaf_depth(n) ? -1 : v.prior_row;
}

void TreeState::restore_priors(const SearchTree& tree) {
  const std::size_t before = tree.actions.size(), now = actions_.size();
  if (before == now) {
    priors_ = tree.priors;
    return;
  }
  priors_.assign(tree.priors.size() / before * now, 0);  // pinned decisions were added
  for (std::size_t i = 0; i < tree.priors.size(); ++i)
    priors_[i / before * now + i % before] = tree.priors[i];
}

// Children may come from a search with other priors, or from before a pin: any order of distinct
// actions will do.
void TreeState::restore_order(std::int32_t id) {
  TreeNode& n = node(id);
  if (n.children.empty()) return;
  if (n.prior_row >= 0) sort_by_prior(n);
  std::vector<bool> open(actions_.size(), false);
  const std::size_t count = action_count(n);
  for (std::size_t c = 0; c < n.children.size(); ++c) {
    const std::int32_t action = node(n.children[c]).action;
    if (open[static_cast<std::size_t>(action)]) does_not_fit("a vertex has an action twice");
    open[static_cast<std::size_t>(action)] = true;
    n.in_order = n.in_order && c < count && action_at(n, c) == action;
  }
  advance(n);
}

void TreeState::restore(const SearchTree& tree, std::size_t pinned_since) {
  CHECK(tree.order == order_, "steering of another tree");
  nodes_.assign(tree.vertices.size(), {});
  log_ = tree.log;
  restore_priors(tree);
  has_log_ = !log_.empty() || tree.vertices.front().visits == 0;
  std::vector<bool> fresh(nodes_.size(), pinned_since == 0 && (has_log_ || pinned_.empty()));
  for (std::size_t i = log_.size(); i-- > 0;)  // the first back-up of a vertex is its evaluation
    fresh[static_cast<std::size_t>(log_[i].vertex)] = i >= pinned_since;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    restore_node(tree, static_cast<std::int32_t>(i));
    TreeNode& n = nodes_[i];
    n.stale = !fresh[i] && !is_leaf_depth(n);
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
    if (n.parent >= 0) node(n.parent).best = std::max(node(n.parent).best, n.best);
    if (n.evaluated) mark_done(static_cast<std::int32_t>(i));
  }
  if (tree.focus > 0 && !node(tree.focus).closed) start_ = tree.focus;
}

}  // namespace strato
