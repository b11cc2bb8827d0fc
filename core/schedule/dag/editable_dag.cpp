#include "core/schedule/dag/editable_dag.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr int kPlaceBits = 28;  // of a key: what was added at one place

}  // namespace

EditableDag::EditableDag(const Dag& dag, PairTimes& transfers)
    : transfers_(transfers),
      gpu_types_(dag.gpu_type_count()),
      group_memory_(at(dag.colocation_count())) {
  nodes_.reserve(dag.size());
  pool_.reserve(2 * dag.edge_count());
  times_.reserve(dag.size() * gpu_types_);
  std::vector<std::int32_t> row_of_edge;
  for (const std::int32_t edge : dag.edges())
    row_of_edge.push_back(transfers_.row(dag.bytes(edge)));
  const auto stored = [&](std::span<const DagEdge> edges) {
    const std::size_t begin = pool_.size();
    for (const DagEdge& edge : edges) pool_.push_back({edge.node, row_of_edge[at(edge.edge)]});
    return stored_since(begin);
  };
  for (const NodeIndex node : dag.nodes()) {
    nodes_.push_back({std::uint64_t{at(node)} << kPlaceBits, dag.memory(node),
                      stored(dag.successors(node)), stored(dag.predecessors(node)),
                      dag.colocation(node)});
    if (dag.colocation(node) >= 0) group_memory_[at(dag.colocation(node))] += dag.memory(node);
    for (std::size_t type = 0; type < gpu_types_; ++type)
      times_.push_back(dag.time(node, GpuTypeId(type)));
  }
}

void EditableDag::add_nodes(const DagEdit& edit) {
  for (const DagEdit::Node& added : edit.added) {
    CHECK(added.times.size() == gpu_types_, "one time a GPU type");
    CHECK(nodes_.size() < std::size_t{1} << kPlaceBits, "too many nodes were added");
    const std::uint64_t place = state(added.place).key >> kPlaceBits;
    Node node;
    node.key = (place << kPlaceBits) + nodes_.size();
    node.memory = added.memory;
    nodes_.push_back(node);
    times_.insert(times_.end(), added.times.begin(), added.times.end());
  }
}

// `ends`: of the links that come at this node.
void EditableDag::rewrite(NodeIndex node, std::span<const LinkEnd> ends) {
  const auto rewritten = [&](Range old, bool forward) {
    const std::size_t begin = pool_.size();
    for (std::size_t i = at(old.begin); i < at(old.begin + old.count); ++i)
      if (has(pool_[i].node)) pool_.push_back(pool_[i]);
    for (const auto& [end, edge] : ends)
      if ((forward ? edge.from : edge.to) == node)
        pool_.push_back({forward ? edge.to : edge.from, transfers_.row(edge.bytes)});
    return stored_since(begin);
  };
  state(node).successors = rewritten(state(node).successors, true);
  state(node).predecessors = rewritten(state(node).predecessors, false);
}

void EditableDag::apply(const DagEdit& edit, std::vector<NodeIndex>& touched) {
  const std::size_t old_size = nodes_.size();
  history_.push_back({old_size, pool_.size(), {}});
  const auto is_new = [&](NodeIndex node) { return at(node) >= old_size; };
  std::vector<NodeIndex> affected;
  for (const NodeIndex node : edit.removed) {
    CHECK(has(node), "a node is removed once");
    for (const Half& half : successors(node)) affected.push_back(half.node);
    for (const Half& half : predecessors(node)) affected.push_back(half.node);
    history_.back().before.emplace_back(node, state(node));
    state(node).alive = false;
    if (state(node).colocation >= 0)
      group_memory_[at(state(node).colocation)] -= state(node).memory;
  }
  add_nodes(edit);
  std::vector<LinkEnd> ends;  // each link at both its nodes
  std::vector<DagLink> links = edit.edges;
  std::ranges::sort(links, {}, [](const DagLink& link) { return std::pair(link.from, link.to); });
  merge_links(links);
  for (const DagLink& edge : links) {
    CHECK(is_new(edge.from) || is_new(edge.to), "an edge of an added node");
    CHECK(has(edge.from) && has(edge.to) && key(edge.from) < key(edge.to), "an edge goes forward");
    ends.emplace_back(edge.from, edge);
    ends.emplace_back(edge.to, edge);
    affected.push_back(edge.from);
    affected.push_back(edge.to);
  }
  std::ranges::stable_sort(ends, {}, &LinkEnd::first);
  std::ranges::sort(affected);
  affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
  touched.clear();
  for (const NodeIndex node : affected) {
    if (!has(node)) continue;
    if (!is_new(node)) {
      history_.back().before.emplace_back(node, state(node));
      touched.push_back(node);
    }
    const auto ours = std::ranges::equal_range(ends, node, {}, &LinkEnd::first);
    rewrite(node, {ours.begin(), ours.end()});
  }
}

void EditableDag::undo() {
  CHECK(!history_.empty(), "nothing to undo");
  const Undo& last = history_.back();
  for (const auto& [node, before] : last.before) {
    if (!state(node).alive && before.colocation >= 0)
      group_memory_[at(before.colocation)] += before.memory;
    state(node) = before;
  }
  nodes_.resize(last.nodes);
  times_.resize(last.nodes * gpu_types_);
  pool_.resize(last.pool);
  history_.pop_back();
}

}  // namespace strato
