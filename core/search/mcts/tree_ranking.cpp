#include "core/search/mcts/tree_ranking.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

bool is_uniform(const GrowingTree& tree, const TreeNode& node) {
  return node.first_action >= 0 && tree.node(node.parent).first_action < 0;
}

}  // namespace

std::int32_t best_uniform_vertex(const GrowingTree& tree, const std::set<std::int64_t>& used) {
  std::int32_t best = -1;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tree.nodes().size()); ++id) {
    const TreeNode& node = tree.node(id);
    if (!is_uniform(tree, node) || node.closed || node.stale || node.reward <= -1 ||
        used.contains(node.action))
      continue;
    if (best < 0 || node.reward > tree.node(best).reward) best = id;
  }
  return best;
}

std::vector<std::int32_t> best_uniform_actions(const GrowingTree& tree, const ActionTable& table) {
  constexpr std::size_t kMost = 16;
  std::vector<std::pair<float, std::int32_t>> found;
  for (const TreeNode& node : tree.nodes()) {
    if (!is_uniform(tree, node) || !node.counts() || node.reward <= -1) continue;
    if (static_cast<std::size_t>(node.action) < table.free_action_count())
      found.emplace_back(-node.reward, node.action);
  }
  std::ranges::sort(found);
  found.resize(std::min(kMost, found.size()));
  std::vector<std::int32_t> actions;
  for (const auto& [reward, action] : found) actions.push_back(action);
  return actions;
}

std::vector<std::int32_t> best_vertices(const GrowingTree& tree, std::size_t most) {
  std::vector<std::pair<float, std::int32_t>> ranked;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i)
    if (tree.nodes()[i].counts())
      ranked.emplace_back(-tree.nodes()[i].reward, static_cast<std::int32_t>(i));
  std::ranges::sort(ranked);
  ranked.resize(std::min(most, ranked.size()));
  std::vector<std::int32_t> vertices;
  for (const auto& [reward, id] : ranked) vertices.push_back(id);
  return vertices;
}

std::int32_t best_vertex(const GrowingTree& tree, bool with_stale) {
  std::int32_t best = -1;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tree.nodes().size()); ++id) {
    const TreeNode& node = tree.node(id);
    if (node.closed || (node.stale && !with_stale) ||
        (best >= 0 && node.reward <= tree.node(best).reward))
      continue;
    if (!tree.is_excluded(tree.completed_actions(id))) best = id;
  }
  return best;
}

}  // namespace strato
