#include "core/search/mcts/tree_ranking.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "core/base/at.h"

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
