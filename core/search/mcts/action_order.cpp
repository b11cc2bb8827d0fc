#include "core/search/mcts/action_order.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "core/base/error.h"

namespace strato {
namespace {

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
  if (before == now) {
    priors_ = tree.priors;
    return;
  }
  priors_.assign(tree.priors.size() / before * now, 0);  // pinned decisions were added
  for (std::size_t i = 0; i < tree.priors.size(); ++i)
    priors_[i / before * now + i % before] = tree.priors[i];
}

}  // namespace strato
