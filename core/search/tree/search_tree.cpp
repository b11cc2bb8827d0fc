#include "core/search/tree/search_tree.h"

#include <algorithm>
#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {

Strategy SearchTree::strategy_at(std::int32_t vertex, std::size_t group_count) const {
  CHECK(vertex >= 0 && at(vertex) < vertices.size(), "no such vertex");
  Strategy strategy;
  strategy.groups.resize(group_count);
  for (const Vertex* v = &vertices[at(vertex)]; v->parent >= 0; v = &vertices[at(v->parent)]) {
    const GroupId group = order[at(v->depth - 1)];
    CHECK(group.index() < group_count, "the tree has more op groups than the problem");
    strategy.groups[group] = actions[at(v->action)];
  }
  return strategy;
}

std::vector<std::int32_t> SearchTree::children(std::int32_t vertex) const {
  const Vertex& v = vertices[at(vertex)];
  std::vector<std::int32_t> result(at(v.child_count));
  std::iota(result.begin(), result.end(), v.first_child);
  return result;
}

bool SearchTree::is_closed(std::int32_t vertex) const {
  const Vertex& v = vertices[at(vertex)];
  if (v.weight == 0) return true;
  if (pinned.empty() || v.depth == 0) return false;
  const auto& pin = pinned[order[at(v.depth - 1)]];
  return pin && *pin != actions[at(v.action)];
}

std::vector<std::int32_t> SearchTree::best_path() const {
  if (vertices.empty()) return {};
  std::vector<std::int32_t> path = {0};
  for (;;) {
    std::vector<std::int32_t> open = children(path.back());
    std::erase_if(open, [&](std::int32_t child) { return is_closed(child); });
    if (open.empty()) return path;
    path.push_back(*std::ranges::max_element(
        open, {}, [&](std::int32_t child) { return vertices[at(child)].visits; }));
  }
}

}  // namespace strato
