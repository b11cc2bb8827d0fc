#include "views/models/steering.h"

#include <algorithm>

#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"

namespace strato {
namespace {

const SearchTree::Vertex& at(const SearchTree& tree, std::int32_t vertex) {
  return tree.vertices[static_cast<std::size_t>(vertex)];
}

}  // namespace

Steering::Path path_to(const SearchTree& tree, std::int32_t vertex) {
  Steering::Path path;
  for (; vertex > 0; vertex = at(tree, vertex).parent) path.push_back(at(tree, vertex).action);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int32_t find(const SearchTree& tree, const Steering::Path& path) {
  if (tree.vertices.empty()) return -1;
  std::int32_t here = 0;
  for (const std::int32_t action : path) {
    const SearchTree::Vertex& parent = at(tree, here);
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < parent.child_count && next < 0; ++i) {
      if (at(tree, parent.first_child + i).action == action) next = parent.first_child + i;
    }
    if (next < 0) return -1;
    here = next;
  }
  return here;
}

Steering steering_of(const SearchTree& tree) {
  Steering steering;
  for (std::size_t g = 0; g < tree.pinned.size(); ++g) {
    const auto& pin = tree.pinned[GroupId(g)];
    if (pin) steering.pinned.emplace(GroupId(g), *pin);
  }
  for (std::size_t v = 0; v < tree.vertices.size(); ++v) {
    const auto vertex = static_cast<std::int32_t>(v);
    if (tree.vertices[v].weight != 1) {
      steering.weights.emplace(path_to(tree, vertex), tree.vertices[v].weight);
    }
  }
  if (tree.focus > 0) steering.focus = path_to(tree, tree.focus);
  return steering;
}

std::shared_ptr<const SearchTree> steered(const SearchTree& tree, const Steering& steering) {
  auto result = std::make_shared<SearchTree>(tree);
  result->pinned.clear();
  for (const auto& [group, decision] : steering.pinned) pin(*result, group, decision);
  for (SearchTree::Vertex& vertex : result->vertices) vertex.weight = 1;
  for (const auto& [path, weight] : steering.weights) {
    const std::int32_t vertex = find(tree, path);
    if (vertex > 0) set_weight(*result, vertex, weight);
  }
  const std::int32_t focus = steering.focus.empty() ? -1 : find(tree, steering.focus);
  set_focus(*result, focus > 0 && !is_left_alone(*result, focus) ? focus : -1);
  return result;
}

bool is_left_alone(const SearchTree& tree, std::int32_t vertex) {
  for (; vertex > 0; vertex = at(tree, vertex).parent) {
    if (tree.is_closed(vertex)) return true;
  }
  return false;
}

}  // namespace strato
