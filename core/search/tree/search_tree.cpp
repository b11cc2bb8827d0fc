#include "core/search/tree/search_tree.h"

#include "core/base/error.h"

namespace strato {

Strategy SearchTree::strategy_at(std::int32_t vertex, std::size_t group_count) const {
  CHECK(vertex >= 0 && static_cast<std::size_t>(vertex) < vertices.size(), "no such vertex");
  Strategy strategy;
  strategy.groups.resize(group_count);
  for (std::int32_t v = vertex; vertices[static_cast<std::size_t>(v)].parent >= 0;) {
    const Vertex& at = vertices[static_cast<std::size_t>(v)];
    const GroupId group = order[static_cast<std::size_t>(at.depth - 1)];
    CHECK(group.index() < group_count, "the tree has more op groups than the problem");
    strategy.groups[group] = actions[static_cast<std::size_t>(at.action)];
    v = at.parent;
  }
  return strategy;
}

std::vector<std::int32_t> SearchTree::children(std::int32_t vertex) const {
  const Vertex& at = vertices[static_cast<std::size_t>(vertex)];
  std::vector<std::int32_t> result;
  for (std::int32_t c = 0; c < at.child_count; ++c) result.push_back(at.first_child + c);
  return result;
}

bool SearchTree::is_closed(std::int32_t vertex) const {
  const Vertex& at = vertices[static_cast<std::size_t>(vertex)];
  if (at.weight == 0) return true;
  if (pinned.empty() || at.depth == 0) return false;
  const auto& pin = pinned[order[static_cast<std::size_t>(at.depth - 1)]];
  return pin && *pin != actions[static_cast<std::size_t>(at.action)];
}

std::vector<std::int32_t> SearchTree::best_path() const {
  if (vertices.empty()) return {};
  std::vector<std::int32_t> path = {0};
  for (;;) {
    std::int32_t best = -1;
    for (std::int32_t child : children(path.back())) {
      if (is_closed(child)) continue;
      if (best < 0 || vertices[static_cast<std::size_t>(child)].visits >
                          vertices[static_cast<std::size_t>(best)].visits)
        best = child;
    }
    if (best < 0) return path;
    path.push_back(best);
  }
}

}  // namespace strato
