#include "core/search/tree/search_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

namespace {

void check_children(const SearchTree& tree, std::size_t index) {
  const SearchTree::Vertex& v = tree.vertices[index];
  const auto size = static_cast<std::int64_t>(tree.vertices.size());
  const bool fit = v.child_count == 0 || (v.first_child > static_cast<std::int64_t>(index) &&
                                          std::int64_t{v.first_child} + v.child_count <= size);
  if (v.child_count < 0 || !fit) damaged_tree("children out of range");
  for (const std::int32_t child : tree.children(static_cast<std::int32_t>(index)))
    if (at(tree.vertices[at(child)].parent) != index)
      damaged_tree("a child that names another parent");
}

void check_links(const SearchTree& tree, std::size_t index) {
  check_children(tree, index);
  const SearchTree::Vertex& v = tree.vertices[index];
  if (index == 0) {
    if (v.parent != -1 || v.depth != 0) damaged_tree("the root is not a root");
    return;
  }
  if (v.parent < 0 || v.parent >= static_cast<std::int64_t>(index))
    damaged_tree("parent out of range");
  const SearchTree::Vertex& parent = tree.vertices[at(v.parent)];
  const std::int64_t place = static_cast<std::int64_t>(index) - parent.first_child;
  if (place < 0 || place >= parent.child_count)
    damaged_tree("a vertex that its parent does not know");
  if (v.depth != parent.depth + 1 || at(v.depth) > tree.order.size())
    damaged_tree("depth out of range");
  if (v.action < 0 || at(v.action) >= tree.actions.size()) damaged_tree("action out of range");
}

void check_statistics(const SearchTree::Vertex& v, std::size_t rows) {
  const bool finite = std::isfinite(v.value_sum) && std::isfinite(v.prior) &&
                      std::isfinite(v.reward) && std::isfinite(v.weight);
  if (!finite || v.visits < 0 || v.step_time_ns < 0 || v.weight < 0)
    damaged_tree("a vertex has impossible statistics");
  if (v.prior_row < -1 || v.prior_row >= static_cast<std::int64_t>(rows))
    damaged_tree("prior row out of range");
}

void check_steering(const SearchTree& tree) {
  if (tree.vertices.front().weight == 0) damaged_tree("its root is excluded");
  if (!tree.pinned.empty() && tree.pinned.size() != tree.order.size())
    damaged_tree("it pins another number of op groups");
  if (tree.focus < -1 || tree.focus >= static_cast<std::int64_t>(tree.vertices.size()))
    damaged_tree("its focus is out of range");
}

// A log is there as a whole, or not at all: it has to end with the visits that the vertices have.
void check_log(const SearchTree& tree) {
  if (tree.log.empty()) return;
  std::vector<std::int64_t> visits(tree.vertices.size(), 0);
  for (const SearchTree::BackUp& entry : tree.log) {
    if (entry.vertex < 0 || at(entry.vertex) >= visits.size())
      damaged_tree("its log names no vertex");
    if (!std::isfinite(entry.reward)) damaged_tree("its log has an impossible reward");
    ++visits[at(entry.vertex)];
  }
  for (std::size_t i = visits.size(); i-- > 0;) {
    if (visits[i] != tree.vertices[i].visits) damaged_tree("its log tells of other visits");
    if (i > 0) visits[at(tree.vertices[i].parent)] += visits[i];
  }
}

void check_candidate(const SearchTree& tree, const Candidate& candidate) {
  if (candidate.actions.empty() && candidate.unfinished.empty()) return;
  const std::size_t groups = tree.order.size();
  if (candidate.actions.size() != groups || candidate.unfinished.size() != groups)
    damaged_tree("a strategy that it keeps has another number of op groups");
  for (const std::int32_t action : candidate.actions)
    if (action < 0 || at(action) >= tree.actions.size())
      damaged_tree("a strategy that it keeps has an action out of range");
}

}  // namespace

void damaged_tree(const std::string& what) {
  throw InputError("", "search tree", "it is damaged: " + what, "run the search again");
}

void tree_does_not_fit(const std::string& what) {
  throw InputError("", "search tree", "it does not fit this search: " + what,
                   "resume with the options and seed that it was made with, or start a new search");
}

void check_decision(const Decision& decision) {
  if (decision.mode > Mode::ModelParallel) damaged_tree("an action has an unknown mode");
  if (decision.devices.empty()) damaged_tree("an action has no device");
  if (!decision.roles.is_sane()) damaged_tree("an action has rows of no device");
  for (const DeviceShare& share : decision.devices)
    if (!share.device.valid() || share.weight < 1) damaged_tree("an action has a bad device share");
  if (std::ranges::adjacent_find(decision.devices, std::greater_equal(), &DeviceShare::device) !=
      decision.devices.end())
    damaged_tree("an action's devices are not ascending");
}

void check_tree(const SearchTree& tree) {
  if (tree.vertices.empty()) damaged_tree("it has no root");
  if (tree.iterations < 0) damaged_tree("iterations are negative");
  const std::size_t width = std::max<std::size_t>(tree.actions.size(), 1);
  if (tree.priors.size() % width != 0) damaged_tree("priors are not whole rows");
  for (std::size_t i = 0; i < tree.vertices.size(); ++i) {
    check_links(tree, i);
    check_statistics(tree.vertices[i], tree.priors.size() / width);
  }
  std::vector<GroupId> order = tree.order;
  std::ranges::sort(order);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != GroupId(i)) damaged_tree("its order of op groups is not a permutation");
  check_steering(tree);
  check_log(tree);
}

void check_state(const SearchTree& tree) {
  const SearchState& state = tree.state;
  if (tree.record) damaged_tree("it is of the planner " + tree.record->planner);
  if (state.local_iterations < 0 || state.local_iterations > tree.iterations)
    damaged_tree("local improvement had more iterations than there were");
  if (state.baseline_ns < 0) damaged_tree("the time of data parallelism is negative");
  if (state.pinned_since > tree.log.size()) damaged_tree("it was pinned behind the end of its log");
  const std::size_t flags = state.incumbent_unfinished.size();
  if (flags != state.tried_otherwise.size() || (flags != 0 && flags != tree.order.size()))
    damaged_tree("its incumbent has another number of op groups");
  check_candidate(tree, state.aside);
  check_candidate(tree, state.barred);
}

}  // namespace strato
