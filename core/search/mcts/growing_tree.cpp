#include "core/search/mcts/growing_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/search/mcts/puct.h"

namespace strato {
namespace {

constexpr std::int32_t kNew = -2;          // best_child's word for "expand the next action"
constexpr std::size_t kFirstUniform = 48;  // strategies to see before others while nothing fits

double value_of(const TreeNode& node, bool max_backup) {
  if (max_backup) return node.best;
  return node.visits > 0 ? node.value_sum / node.visits : 0;
}

}  // namespace

GrowingTree::GrowingTree(const Problem& problem, const ActionTable& table,
                         const TreeSearchOptions& options)
    : table_(table), options_(options), order_(table, options), memory_(problem), nodes_(1) {}

// What undecided groups follow: the first group that a person has left free.
std::int32_t GrowingTree::first_action_below(std::int32_t parent, std::int32_t action) const {
  const TreeNode& above = node(parent);
  if (above.first_action >= 0) return above.first_action;
  return table_.pin_at(static_cast<std::size_t>(above.depth)) < 0 ? action : -1;
}

std::vector<bool> GrowingTree::open_actions(const TreeNode& node) const {
  std::vector<bool> open(table_.actions().size(), false);
  for (std::int32_t child : node.children)
    open[static_cast<std::size_t>(this->node(child).action)] = true;
  return open;
}

// To the next action that is not open yet.
void GrowingTree::advance(TreeNode& node) const {
  if (node.in_order) {
    node.cursor = static_cast<std::int32_t>(node.children.size());
    return;
  }
  const std::vector<bool> open = open_actions(node);
  const std::size_t count = order_.count(node);
  auto place = static_cast<std::size_t>(node.cursor);
  while (place < count && open[static_cast<std::size_t>(order_.at(node, place))]) ++place;
  node.cursor = static_cast<std::int32_t>(place);
}

// PUCT (TAG 4.2.2). Virtual visits count as visits, without a value: they spread a batch.
std::int32_t GrowingTree::best_child(std::int32_t id) {
  if (node(id).prior_row >= 0 && node(id).order.empty()) order_.sort_by_prior(changing(id));
  const TreeNode& at = node(id);
  const double visits = at.visits + at.virtual_visits;
  const ValueScale scale(rewards_, options_);
  const auto value = [&](const TreeNode& node) {
    return scale(value_of(node, options_.max_backup));
  };
  const double unvisited = options_.first_play ? value(at) - options_.fpu : 0;
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
    const double score = value(child) + exploration(options_, table_.actions().size(),
                                                    child.prior * child.weight, visits, n);
    if (score > best_score) best = child_id, best_score = score;
  }
  if (!order_.has_next(at)) return best;
  // While nothing fits in memory, values say little: see the first uniform strategies.
  const bool uniform =
      static_cast<std::size_t>(at.depth) == table_.first_free() && open < kFirstUniform;
  if (uniform && !any_feasible_ && options_.graded_overflow) return kNew;
  if (any_open && !may_widen(options_, visits, open)) return best;
  const double prior = at.prior_row < 0
                           ? 1.0 / static_cast<double>(table_.actions().size())
                           : order_.prior(at, order_.at(at, static_cast<std::size_t>(at.cursor)));
  const double score = unvisited + exploration(options_, table_.actions().size(), prior, visits, 0);
  return score > best_score ? kNew : best;
}

std::int32_t GrowingTree::expand(std::int32_t id) {
  const auto child_id = static_cast<std::int32_t>(nodes_.size());
  TreeNode child;
  {
    const TreeNode& at = node(id);
    child.parent = id;
    const bool relieve = options_.graded_overflow && !any_feasible_ &&
                         static_cast<std::size_t>(at.depth) > table_.first_free();
    child.action =
        relieve ? roomiest_action(id) : order_.at(at, static_cast<std::size_t>(at.cursor));
    child.depth = at.depth + 1;
    child.first_action = first_action_below(id, child.action);
    child.prior = order_.prior(at, child.action);
  }
  nodes_.push_back(std::move(child));
  TreeNode& at = changing(id);
  const std::int32_t next = order_.at(at, static_cast<std::size_t>(at.cursor));
  at.in_order = at.in_order && nodes_.back().action == next;
  at.children.push_back(child_id);
  advance(at);
  return child_id;
}

// While nothing fits in memory: what leaves the most room beside the groups that are decided.
std::int32_t GrowingTree::roomiest_action(std::int32_t id) const {
  const TreeNode& here = node(id);
  const GroupId group = table_.order()[static_cast<std::size_t>(here.depth)];
  std::vector<double> loads(memory_.device_count(), 0.0);
  for (std::int32_t at = id; node(at).parent >= 0; at = node(at).parent)
    memory_.add(table_.order()[static_cast<std::size_t>(node(at).depth - 1)],
                table_.action(node(at).action), loads);
  const std::vector<bool> open = open_actions(here);
  std::int32_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < order_.count(here); ++place) {
    const std::int32_t action = order_.at(here, place);
    if (open[static_cast<std::size_t>(action)]) continue;
    const double full = memory_.fullness(group, table_.action(action), loads);
    if (full < least) best = action, least = full;
  }
  CHECK(best >= 0, "an action that is not open yet");
  return best;
}

std::int32_t GrowingTree::select() {
  std::int32_t id = start_;
  if (!node(id).evaluated) return id;
  if (node(id).done && options_.free_repeats) return -1;
  for (;;) {
    if (order_.is_complete(node(id))) return id;
    const std::int32_t next = best_child(id);
    if (next == kNew) return expand(id);
    if (next < 0) return -1;
    id = next;
  }
}

ActionVector GrowingTree::completed_actions(std::int32_t id) const {
  const TreeNode& leaf = node(id);
  ActionVector result =
      table_.with_pins(ActionVector(table_.groups(), std::max(leaf.first_action, 0)));
  for (std::int32_t at = id; node(at).parent >= 0; at = node(at).parent)
    result[table_.order()[static_cast<std::size_t>(node(at).depth - 1)].index()] = node(at).action;
  return result;
}

bool GrowingTree::is_excluded(const ActionVector& actions) const {
  return std::ranges::any_of(excluded_, [&](std::int32_t id) {
    while (id > 0) {
      const TreeNode& at = node(id);
      if (actions[table_.order()[static_cast<std::size_t>(at.depth - 1)].index()] != at.action)
        return false;
      id = at.parent;
    }
    return true;
  });
}

void GrowingTree::add_virtual_visit(std::int32_t leaf, int change) {
  for (std::int32_t at = leaf; at >= 0; at = node(at).parent) changing(at).virtual_visits += change;
}

void GrowingTree::set_priors(std::int32_t id, const std::vector<float>& priors) {
  order_.set_priors(changing(id), priors);
}

void GrowingTree::mark_done(std::int32_t id) {
  for (std::int32_t at = id; at >= 0; at = node(at).parent) {
    const TreeNode& n = node(at);
    const auto is_done = [&](std::int32_t child) { return node(child).done; };
    const bool nothing_below =
        order_.is_complete(n) || (!order_.has_next(n) && std::ranges::all_of(n.children, is_done));
    if (!n.evaluated || !nothing_below) return;
    changing(at).done = true;
  }
}

void GrowingTree::back_up(std::int32_t leaf, float reward, std::int64_t step_time_ns) {
  TreeNode& end = changing(leaf);
  if (!end.evaluated) {
    end.evaluated = true;
    end.reward = reward;
    end.best = reward;
    end.step_time_ns = step_time_ns;
    rewards_.insert(std::ranges::upper_bound(rewards_, reward), reward);
    any_feasible_ = any_feasible_ || reward > -1;
  }
  for (std::int32_t at = leaf; at >= 0; at = node(at).parent) {
    TreeNode& n = changing(at);
    ++n.visits;
    n.value_sum += reward;
    n.best = std::max<double>(n.best, reward);
  }
  if (has_log_) log_.push_back({leaf, reward});
  mark_done(leaf);
}

}  // namespace strato
