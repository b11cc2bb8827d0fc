#include "core/search/mcts/tree_rewards.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace strato {
namespace {

// The vertices that pass, best reward first; of equals those that were made first.
template <class Passes>
std::vector<std::int32_t> ranked(const GrowingTree& tree, const Passes& passes) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i)
    if (passes(tree.nodes()[i])) ids.push_back(static_cast<std::int32_t>(i));
  std::ranges::stable_sort(ids, std::greater(),
                           [&](std::int32_t id) { return tree.node(id).reward; });
  return ids;
}

bool is_uniform_and_fits(const GrowingTree& tree, const TreeNode& node) {
  return node.first_action >= 0 && tree.node(node.parent).first_action < 0 && node.reward > -1;
}

}  // namespace

Digest digest_of(const ActionVector& actions) {
  return Hasher().numbers(std::span<const std::int32_t>(actions)).finish();
}

KnownRewards::KnownRewards(const Cluster& cluster, bool graded) : graded_(graded) {
  for (const GpuType& gpu : cluster.gpu_types())
    largest_memory_ = std::max(largest_memory_, static_cast<double>(gpu.memory.value));
}

float KnownRewards::reward_of(const Score& score) const {
  if (score.feasible)
    return static_cast<float>(
        std::max(baseline_ / std::max(score.step_time, Nanos(1)) - 1, -0.9999));
  if (!graded_) return -1;
  const auto overflow = static_cast<double>(score.overflow.value);
  return static_cast<float>(-1 - overflow / (overflow + largest_memory_));
}

KnownRewards::Known KnownRewards::learn(const ActionVector& actions, const Score& score) {
  // A vertex with a time was evaluated: so a time is at least one nanosecond.
  const Known known{reward_of(score), std::max<std::int64_t>(score.step_time.value, 1)};
  learn(actions, known);
  return known;
}

void KnownRewards::learn(const ActionVector& actions, const Known& known) {
  known_.emplace(digest_of(actions), known);
}

const KnownRewards::Known* KnownRewards::find(const Digest& actions) const {
  const auto found = known_.find(actions);
  return found == known_.end() ? nullptr : &found->second;
}

bool KnownRewards::contains(const ActionVector& actions) const {
  return find(digest_of(actions)) != nullptr;
}

std::int32_t best_uniform_vertex(const GrowingTree& tree, const std::set<std::int64_t>& used) {
  const auto ids = ranked(tree, [&](const TreeNode& node) {
    return is_uniform_and_fits(tree, node) && !node.closed && !node.stale &&
           !used.contains(node.action);
  });
  return ids.empty() ? -1 : ids.front();
}

std::vector<std::int32_t> best_uniform_actions(const GrowingTree& tree, const ActionTable& table) {
  constexpr std::size_t kMost = 16;
  std::vector<std::pair<float, std::int32_t>> found;  // of equals the smaller action comes first
  for (const TreeNode& node : tree.nodes())
    if (is_uniform_and_fits(tree, node) && node.counts() &&
        at(node.action) < table.free_action_count())
      found.emplace_back(-node.reward, node.action);
  std::ranges::sort(found);
  std::vector<std::int32_t> actions;
  for (const auto& [reward, action] : std::span(found).first(std::min(kMost, found.size())))
    actions.push_back(action);
  return actions;
}

std::vector<std::int32_t> best_vertices(const GrowingTree& tree, std::size_t most) {
  std::vector<std::int32_t> ids = ranked(tree, [](const TreeNode& node) { return node.counts(); });
  ids.resize(std::min(most, ids.size()));
  return ids;
}

std::int32_t best_vertex(const GrowingTree& tree, bool with_stale) {
  const auto ids = ranked(
      tree, [&](const TreeNode& node) { return !node.closed && (with_stale || !node.stale); });
  const auto best = std::ranges::find_if(
      ids, [&](std::int32_t id) { return !tree.is_excluded(tree.completed_actions(id)); });
  return best == ids.end() ? -1 : *best;
}

}  // namespace strato
