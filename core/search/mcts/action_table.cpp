#include "core/search/mcts/action_table.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "core/base/error.h"

namespace strato {
namespace {

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

ActionTable::ActionTable(const Problem& problem, const TreeSearchOptions& options,
                         std::uint64_t seed, const SearchTree* steering,
                         std::span<const Strategy> known)
    : actions_(make_actions(problem, options.actions)), free_actions_(actions_.size()) {
  order_ = search_order(problem, actions_.front(), options.order_by_cost);
  const std::vector<Decision> free_actions = actions_;
  if (steering != nullptr) take_actions(problem, *steering);
  take_pins(options.pins);
  for (const Strategy& strategy : known) take_decisions(strategy);
  while (first_free_ < order_.size() && pin_at(first_free_) >= 0) ++first_free_;
  ranked_ = rank_actions(problem, free_actions, order_, seed, options.noise, first_free_);
  for (const auto& ranks : ranked_) {
    rank_.emplace_back(actions_.size(), -1);
    for (std::size_t place = 0; place < ranks.size(); ++place)
      rank_.back()[at(ranks[place])] = static_cast<std::int32_t>(place);
  }
}

void ActionTable::take_actions(const Problem& problem, const SearchTree& steering) {
  if (steering.order != order_) tree_does_not_fit("its op groups are others");
  const bool longer = steering.actions.size() >= free_actions_ &&
                      std::equal(actions_.begin(), actions_.end(), steering.actions.begin());
  if (!longer) tree_does_not_fit("its actions are others");
  actions_ = steering.actions;
  pins_ = steering.pinned;
  for (const auto& pin : pins_)
    if (pin && std::ranges::find(actions_, *pin) == actions_.end()) actions_.push_back(*pin);
  Strategy pins;
  pins.groups = pins_;
  if (!pins_.empty()) validate(pins, *problem.grouping, *problem.cluster);
  for (std::size_t a = free_actions_; a < actions_.size(); ++a) {  // of pins that are gone, too
    Strategy further;
    further.groups.assign(order_.size(), actions_[a]);
    validate(further, *problem.grouping, *problem.cluster);
  }
}

// Pins of constraints come before those of a person.
void ActionTable::take_pins(const IdVector<GroupId, std::optional<Decision>>& of_constraints) {
  if (pins_.empty()) pins_ = of_constraints;
  for (std::size_t g = 0; g < of_constraints.size(); ++g)
    if (const auto& pin = of_constraints[GroupId(g)]) pins_[GroupId(g)] = pin;
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
void ActionTable::take_decisions(const Strategy& known) {
  for (std::size_t g = 0; g < known.groups.size(); ++g) {
    const Decision& decision = *known.groups[GroupId(g)];
    if (g > 0 && decision == *known.groups[GroupId(g - 1)]) continue;
    if (std::ranges::find(actions_, decision) == actions_.end()) actions_.push_back(decision);
  }
}

std::vector<std::vector<std::int32_t>> ActionTable::ranked_by_group() const {
  std::vector<std::vector<std::int32_t>> ranked(order_.size());
  for (std::size_t depth = 0; depth < ranked.size(); ++depth)
    ranked[order_[depth].index()] = ranked_[depth];
  return ranked;
}

std::vector<std::vector<std::int32_t>> ActionTable::legal_by_group() const {
  std::vector<std::vector<std::int32_t>> legal = ranked_by_group();
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) legal[g] = {pinned_[g]};
  for (std::vector<std::int32_t>& actions : legal) std::ranges::sort(actions);
  return legal;
}

bool ActionTable::obeys_pins(const ActionVector& actions) const {
  return with_pins(actions) == actions;
}

ActionVector ActionTable::with_pins(ActionVector actions) const {
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) actions[g] = pinned_[g];
  return actions;
}

Digest ActionTable::digest_of_pins() const {
  if (pinned_.empty()) return {};
  Hasher hasher;
  for (const std::int32_t pin : pinned_) {
    hasher.number(pin);
    if (pin < 0) continue;
    hasher.number(action(pin).mode);
    for (const DeviceShare& share : action(pin).devices)
      hasher.number(share.device.value()).number(share.weight);
  }
  return hasher.finish();
}

Strategy ActionTable::strategy_of(const ActionVector& actions) const {
  Strategy strategy;
  strategy.groups.reserve(actions.size());
  for (const std::int32_t number : actions) strategy.groups.emplace_back(action(number));
  return strategy;
}

ActionVector ActionTable::actions_of(const Strategy& known) const {
  ActionVector actions(order_.size());
  for (std::size_t g = 0; g < actions.size(); ++g) {
    const auto found = std::ranges::find(actions_, *known.groups[GroupId(g)]);
    CHECK(found != actions_.end(), "a strategy whose decisions are actions");
    actions[g] = static_cast<std::int32_t>(found - actions_.begin());
  }
  return with_pins(std::move(actions));
}

bool ActionOrder::follows_first(const TreeNode& node) const {
  return options_.follow_first && node.prior_row < 0 && node.first_action >= 0 &&
         at(node.first_action) < table_.free_action_count();
}

std::size_t ActionOrder::count(const TreeNode& node) const {
  if (is_complete(node)) return 0;
  const auto depth = at(node.depth);
  if (table_.pin_at(depth) >= 0) return 1;
  const std::size_t ranked = table_.ranked()[depth].size();
  if (!follows_first(node)) return ranked;
  return ranked + (table_.rank(depth, node.first_action) >= 0 ? 0 : 1);
}

std::int32_t ActionOrder::action(const TreeNode& node, std::size_t place) const {
  const auto depth = at(node.depth);
  if (const std::int32_t pin = table_.pin_at(depth); pin >= 0) return pin;
  if (node.prior_row >= 0) return node.order[place];
  const std::vector<std::int32_t>& ranked = table_.ranked()[depth];
  if (!follows_first(node)) return ranked[place];
  if (place == 0) return node.first_action;
  const std::int32_t skipped = table_.rank(depth, node.first_action);
  const std::size_t before = place - 1;
  return ranked[skipped >= 0 && before >= at(skipped) ? place : before];
}

void ActionOrder::sort_by_prior(TreeNode& node) const {
  const std::vector<std::int32_t>& ranked = table_.ranked()[at(node.depth)];
  node.order = ranked;
  std::ranges::stable_sort(
      node.order, [&](std::int32_t a, std::int32_t b) { return prior(node, a) > prior(node, b); });
  if (at(node.depth) == table_.first_free() && options_.root_mix > 0)
    node.order = in_turns(node.order, ranked);
}

float ActionOrder::prior(const TreeNode& node, std::int32_t action) const {
  const std::size_t width = table_.actions().size();
  if (node.prior_row < 0) return 1.0F / static_cast<float>(width);
  return priors_[at(node.prior_row) * width + at(action)];
}

void ActionOrder::set_priors(TreeNode& node, const std::vector<float>& row) {
  if (row.empty() || is_complete(node)) return;
  CHECK(row.size() == table_.actions().size(), "one prior an action");
  CHECK(node.prior_row < 0, "priors are asked for once");
  node.prior_row = static_cast<std::int32_t>(priors_.size() / row.size());
  priors_.insert(priors_.end(), row.begin(), row.end());
  if (at(node.depth) != table_.first_free()) return;
  const auto uniform = 1.0F / static_cast<float>(row.size());
  const auto part = static_cast<float>(options_.root_mix);
  for (float& prior : std::span(priors_).last(row.size()))
    prior = (1 - part) * prior + part * uniform;
}

void ActionOrder::restore_rows(const SearchTree& tree) {
  const std::size_t before = tree.actions.size(), now = table_.actions().size();
  priors_.assign(tree.priors.size() / before * now, 0);  // pinned decisions may have been added
  for (std::size_t i = 0; i < tree.priors.size(); ++i)
    priors_[i / before * now + i % before] = tree.priors[i];
}

}  // namespace strato
