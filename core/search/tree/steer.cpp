#include "core/search/tree/steer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato {
namespace {

void need(std::string_view one, std::string_view many, std::int32_t number, std::size_t count) {
  if (number >= 0 && at(number) < count) return;
  throw InputError("", "search tree", fmt::format("it has no {} {}", one, number),
                   fmt::format("its {} are 0 to {}", many, static_cast<std::int64_t>(count) - 1));
}
void need(const SearchTree& tree, GroupId group) {
  need("op group", "op groups", group.value(), tree.order.size());
}
void need(const SearchTree& tree, std::int32_t vertex) {
  need("vertex", "vertices", vertex, tree.vertices.size());
}

// The decision becomes an action; rows of priors get a place for it.
void ensure_action(SearchTree& tree, const Decision& decision) {
  if (std::ranges::find(tree.actions, decision) != tree.actions.end()) return;
  const std::size_t width = tree.actions.size();
  std::vector<float> rows;
  rows.reserve(tree.priors.size() + (width == 0 ? 0 : tree.priors.size() / width));
  for (std::size_t i = 0; i < tree.priors.size(); ++i) {
    rows.push_back(tree.priors[i]);
    if ((i + 1) % width == 0) rows.push_back(0);
  }
  tree.priors = std::move(rows);
  tree.actions.push_back(decision);
}

void check_in_groups(const SearchTree& tree, const Strategy& strategy) {
  CHECK(strategy.grouping == nullptr && strategy.groups.size() == tree.order.size(),
        "a strategy in the search tree's groups");
}

[[noreturn]] void no_such_vertex(std::string_view text, const std::string& problem) {
  throw InputError("", fmt::format("vertex '{}'", text), problem,
                   "name one as root/3/0 (children by number), best, or #17");
}

std::int32_t number_in(std::string_view text, std::string_view part) {
  if (const auto value = number_from<std::int32_t>(part, 0)) return *value;
  no_such_vertex(text, fmt::format("'{}' is not a number", part));
}

std::int32_t child_by_action(const SearchTree& tree, std::int32_t vertex, std::int32_t action) {
  for (std::int32_t child : tree.children(vertex))
    if (tree.vertices[at(child)].action == action) return child;
  return -1;
}

std::int32_t action_of(const SearchTree& tree, const std::optional<Decision>& decision) {
  const auto found = decision ? std::ranges::find(tree.actions, *decision) : tree.actions.end();
  return found == tree.actions.end() ? -2 : static_cast<std::int32_t>(found - tree.actions.begin());
}

// Vertices of `after` by vertex of `before`, or -1.
std::vector<std::int32_t> match(const SearchTree& before, const SearchTree& after) {
  std::vector<std::int32_t> action;  // of `after`, by action of `before`
  for (const Decision& decision : before.actions) action.push_back(action_of(after, decision));
  std::vector<std::int32_t> matched(before.vertices.size(), -1);
  matched.front() = 0;
  for (std::size_t v = 0; v < matched.size(); ++v) {
    if (matched[v] < 0) continue;
    for (std::int32_t child : before.children(static_cast<std::int32_t>(v)))
      matched[at(child)] =
          child_by_action(after, matched[v], action[at(before.vertices[at(child)].action)]);
  }
  return matched;
}

}  // namespace

void pin(SearchTree& tree, GroupId group, const Decision& decision) {
  need(tree, group);
  if (decision.devices.empty())
    throw InputError("", fmt::format("op group {}", group.value()),
                     "the pinned decision names no device", "name at least one");
  ensure_action(tree, decision);
  tree.pinned.resize(tree.order.size());
  tree.pinned[group] = decision;
}

void unpin(SearchTree& tree, GroupId group) {
  need(tree, group);
  if (tree.pinned.empty()) return;
  tree.pinned[group].reset();
  if (std::ranges::none_of(tree.pinned, [](const auto& pin) { return pin.has_value(); }))
    tree.pinned.clear();
}

void restrict_to(SearchTree& tree, std::span<const GroupId> groups, const Strategy& strategy) {
  for (GroupId group : groups) need(tree, group);
  if (strategy.grouping != nullptr)
    throw InputError("", "strategy", "it has op groups of its own, which the search tree has not",
                     "give a strategy in the groups of the search");
  if (strategy.groups.size() != tree.order.size() || !strategy.is_complete())
    throw InputError("", "strategy", "it does not decide every op group of the search tree",
                     "give a complete strategy of the same problem");
  for (std::size_t g = 0; g < strategy.groups.size(); ++g)
    if (std::ranges::find(groups, GroupId(g)) == groups.end())
      pin(tree, GroupId(g), *strategy.groups[GroupId(g)]);
}

void set_weight(SearchTree& tree, std::int32_t vertex, float weight) {
  need(tree, vertex);
  if (vertex == 0)
    throw InputError("", "search tree", "its root has no weight", "name a vertex below it");
  if (!(weight >= 0) || !std::isfinite(weight))
    throw InputError("", "search tree", fmt::format("a weight of {:f} means nothing", weight),
                     "give 0 to exclude a branch, more than 1 to boost it");
  tree.vertices[at(vertex)].weight = weight;
}

void set_focus(SearchTree& tree, std::int32_t vertex) {
  if (vertex >= 0) {
    need(tree, vertex);
    for (std::int32_t v = vertex; v > 0; v = tree.vertices[at(v)].parent)
      if (tree.is_closed(v))
        throw InputError("", "search tree",
                         vertex_path(tree, v) + " is excluded, or contradicts a pinned decision",
                         "give it a weight, or unpin the op group, first");
  }
  tree.focus = std::max(vertex, -1);
}

std::int32_t resolve_vertex(const SearchTree& tree, std::string_view text) {
  if (text == "best") return tree.best_path().back();
  if (text.starts_with('#')) {
    const std::int32_t vertex = number_in(text, text.substr(1));
    if (at(vertex) >= tree.vertices.size())
      no_such_vertex(text, fmt::format("the tree has {} vertices", tree.vertices.size()));
    return vertex;
  }
  std::size_t slash = std::min(text.find('/'), text.size());
  if (text.substr(0, slash) != "root") no_such_vertex(text, "it does not begin with root");
  std::int32_t vertex = 0;
  while (slash < text.size()) {
    const std::size_t begin = slash + 1;
    slash = std::min(text.find('/', begin), text.size());
    const std::int32_t place = number_in(text, text.substr(begin, slash - begin));
    const SearchTree::Vertex& v = tree.vertices[at(vertex)];
    if (place >= v.child_count)
      no_such_vertex(text,
                     fmt::format("{} has {} children", vertex_path(tree, vertex), v.child_count));
    vertex = v.first_child + place;
  }
  return vertex;
}

std::string vertex_path(const SearchTree& tree, std::int32_t vertex) {
  std::string path;
  for (std::int32_t v = vertex; v > 0; v = tree.vertices[at(v)].parent) {
    const SearchTree::Vertex& parent = tree.vertices[at(tree.vertices[at(v)].parent)];
    path = fmt::format("/{}{}", v - parent.first_child, path);
  }
  return "root" + path;
}

bool is_forbidden(const SearchTree& tree, const Strategy& strategy) {
  check_in_groups(tree, strategy);
  for (std::size_t g = 0; g < tree.pinned.size(); ++g)
    if (tree.pinned[GroupId(g)] && tree.pinned[GroupId(g)] != strategy.groups[GroupId(g)])
      return true;
  std::int32_t vertex = 0;
  while (vertex >= 0 && at(tree.vertices[at(vertex)].depth) < tree.order.size()) {
    const GroupId next = tree.order[at(tree.vertices[at(vertex)].depth)];
    vertex = child_by_action(tree, vertex, action_of(tree, strategy.groups[next]));
    if (vertex >= 0 && tree.vertices[at(vertex)].weight == 0) return true;
  }
  return false;
}

Strategy with_pins(const SearchTree& tree, Strategy strategy) {
  check_in_groups(tree, strategy);
  for (std::size_t g = 0; g < tree.pinned.size(); ++g)
    if (tree.pinned[GroupId(g)]) strategy.groups[GroupId(g)] = tree.pinned[GroupId(g)];
  return strategy;
}

TreeDifference compare(const SearchTree& before, const SearchTree& after) {
  if (before.problem != after.problem || before.order != after.order)
    throw InputError("", "search trees", "they belong to different problems",
                     "compare trees of the same model, batch, groups and cluster");
  TreeDifference result;
  const std::vector<std::int32_t> matched = match(before, after);
  std::vector<bool> found(after.vertices.size(), false);
  const SearchTree::Vertex none;
  const auto row = [&](std::int32_t b, std::int32_t a) {
    const SearchTree::Vertex& was = b >= 0 ? before.vertices[at(b)] : none;
    const SearchTree::Vertex& is = a >= 0 ? after.vertices[at(a)] : none;
    result.vertices.push_back({b, a, was.visits, is.visits, was.value(), is.value()});
  };
  for (std::size_t v = 0; v < matched.size(); ++v) {
    if (matched[v] < 0) continue;
    found[at(matched[v])] = true;
    row(static_cast<std::int32_t>(v), matched[v]);
  }
  result.common = result.vertices.size();
  result.only_before = before.vertices.size() - result.common;
  result.only_after = after.vertices.size() - result.common;
  for (std::size_t v = 1; v < matched.size(); ++v)
    if (matched[v] < 0 && matched[at(before.vertices[v].parent)] >= 0)
      row(static_cast<std::int32_t>(v), -1);
  for (std::size_t v = 1; v < found.size(); ++v)
    if (!found[v] && found[at(after.vertices[v].parent)]) row(-1, static_cast<std::int32_t>(v));
  result.best_before = before.best_path();
  result.best_after = after.best_path();
  while (result.common_depth + 1 < std::min(result.best_before.size(), result.best_after.size()) &&
         matched[at(result.best_before[result.common_depth + 1])] ==
             result.best_after[result.common_depth + 1])
    ++result.common_depth;
  return result;
}

}  // namespace strato
