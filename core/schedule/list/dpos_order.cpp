#include "core/schedule/list/dpos_order.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/schedule/dag/levels.h"

namespace strato {

DposOrder::DposOrder(const EditableDag& dag, const PairTimes& transfers, const Cluster& cluster,
                     std::span<const DeviceId> devices, bool follows_path)
    : dag_(dag),
      transfers_(transfers),
      cluster_(cluster),
      devices_(devices),
      follows_path_(follows_path) {
  resize(dag_.size());
  for (std::size_t i = dag_.size(); i-- > 0;)
    rank_[i] = old_rank_[i] = rank_from_successors(static_cast<NodeIndex>(i));
  order_ = by_level(rank_);
  for (std::size_t i = 0; i < order_.size(); ++i)
    place_[at(order_[i])] = static_cast<std::int32_t>(i);
  if (!order_.empty()) path_ = path_from(order_.front());
  for (const NodeIndex node : path_) on_path_[at(node)] = 1;
}

void DposOrder::resize(std::size_t nodes) {
  rank_.resize(nodes);
  old_rank_.resize(nodes);
  changed_.resize(nodes);
  on_path_.resize(nodes);
  place_.resize(nodes, -1);
}

Nanos DposOrder::longest_time(NodeIndex node) const {
  Nanos longest;
  for (const DeviceId device : devices_)
    longest = std::max(longest, dag_.time(node, cluster_.device(device).type));
  return longest;
}

Nanos DposOrder::rank_from_successors(NodeIndex node) const {
  Nanos most;
  for (const EditableDag::Half& half : dag_.successors(node))
    most = std::max(most, transfers_.longest(half.row) + rank(half.node));
  return longest_time(node) + most;
}

std::vector<NodeIndex> DposOrder::path_from(NodeIndex entry) const {
  std::vector<NodeIndex> path;
  for (NodeIndex node = entry; node >= 0;) {
    path.push_back(node);
    NodeIndex next = -1;
    for (const EditableDag::Half& half : dag_.successors(node))
      if (next < 0 || before(half.node, rank(half.node), next, rank(next))) next = half.node;
    node = next;
  }
  return path;
}

OrderRevision DposOrder::revise(const DagEdit& edit, std::size_t old_size,
                                std::vector<NodeIndex> touched) {
  OrderRevision revision;
  revision.old_size = old_size;
  revision.touched = std::move(touched);
  resize(dag_.size());
  rank_again(edit, revision);
  order_again(revision);
  find_restart(revision);
  if (follows_path_) find_path(revision);
  return revision;
}

void DposOrder::rank_again(const DagEdit& edit, OrderRevision& revision) {
  const auto later = [&](NodeIndex a, NodeIndex b) { return dag_.key(a) < dag_.key(b); };
  std::priority_queue<NodeIndex, std::vector<NodeIndex>, decltype(later)> queue(later);
  const auto note = [&](NodeIndex node) {
    changed_[at(node)] = 1;
    revision.reranked.push_back(node);
  };
  for (const NodeIndex node : edit.removed) note(node);
  for (const NodeIndex node : revision.touched) queue.push(node);
  for (std::size_t node = revision.old_size; node < dag_.size(); ++node)
    queue.push(static_cast<NodeIndex>(node));
  NodeIndex last = -1;
  while (!queue.empty()) {
    const NodeIndex node = queue.top();
    queue.pop();
    if (node == last) continue;
    last = node;
    ++revision.ranked;
    const Nanos rank_now = rank_from_successors(node);
    const bool added = at(node) >= revision.old_size;
    if (!added && rank_now == rank(node)) continue;
    rank_[at(node)] = rank_now;
    note(node);
    for (const EditableDag::Half& half : dag_.predecessors(node)) queue.push(half.node);
  }
}

// The nodes with another rank in their new order; the first place that they leave or come to.
std::vector<NodeIndex> DposOrder::moved_nodes(OrderRevision& revision) const {
  std::vector<NodeIndex> moved;
  revision.place = order_.size();
  for (const NodeIndex node : revision.reranked) {
    const std::int32_t old = place_[at(node)];
    if (old >= 0) revision.place = std::min(revision.place, at(old));
    if (dag_.has(node)) moved.push_back(node);
  }
  std::ranges::sort(moved,
                    [&](NodeIndex a, NodeIndex b) { return before(a, rank(a), b, rank(b)); });
  if (moved.empty()) return moved;
  const NodeIndex first = moved.front();
  const auto begin = std::partition_point(order_.begin(), order_.end(), [&](NodeIndex node) {
    return before(node, old_rank_[at(node)], first, rank(first));
  });
  revision.place = std::min(revision.place, static_cast<std::size_t>(begin - order_.begin()));
  return moved;
}

void DposOrder::order_again(OrderRevision& revision) {
  const std::vector<NodeIndex> moved = moved_nodes(revision);
  revision.tail.reserve(order_.size() - revision.place + moved.size());
  auto next = moved.begin();
  for (std::size_t i = revision.place; i < order_.size(); ++i) {
    const NodeIndex node = order_[i];
    if (changed_[at(node)]) continue;
    for (; next != moved.end() && before(*next, rank(*next), node, rank(node)); ++next)
      revision.tail.push_back(*next);
    revision.tail.push_back(node);
  }
  revision.tail.insert(revision.tail.end(), next, moved.end());
}

// The order may be the same for longer, although ranks are not.
void DposOrder::find_restart(OrderRevision& revision) {
  revision.restart = revision.place;
  for (const NodeIndex node : revision.touched) changed_[at(node)] |= 2;
  for (const NodeIndex node : revision.tail) {
    if (revision.restart >= order_.size() || order_[revision.restart] != node) break;
    if (changed_[at(node)] & 2) break;  // it has other neighbours
    ++revision.restart;
  }
  for (const NodeIndex node : revision.touched) changed_[at(node)] &= ~2;
}

// A schedule also changes where a node comes on the critical path or leaves it.
void DposOrder::find_path(OrderRevision& revision) {
  const NodeIndex entry = revision.place > 0      ? order_.front()
                          : revision.tail.empty() ? -1
                                                  : revision.tail.front();
  if (entry >= 0) revision.path = path_from(entry);
  const auto limit = [&](NodeIndex node) {
    const std::int32_t old = place_[at(node)];
    if (old >= 0) revision.restart = std::min(revision.restart, at(old));
  };
  for (const NodeIndex node : revision.path) on_path_[at(node)] |= 2;
  for (const NodeIndex node : path_)
    if (on_path_[at(node)] == 1) limit(node);
  for (const NodeIndex node : revision.path)
    if (on_path_[at(node)] == 2) limit(node);
  for (const NodeIndex node : path_) on_path_[at(node)] = 0;
  for (const NodeIndex node : revision.path) on_path_[at(node)] = 1;
}

void DposOrder::take(OrderRevision revision) {
  for (const NodeIndex node : revision.reranked) {
    old_rank_[at(node)] = rank(node);
    changed_[at(node)] = 0;
    place_[at(node)] = -1;
  }
  order_.resize(revision.place);
  order_.insert(order_.end(), revision.tail.begin(), revision.tail.end());
  for (std::size_t i = revision.place; i < order_.size(); ++i)
    place_[at(order_[i])] = static_cast<std::int32_t>(i);
  if (follows_path_) path_ = std::move(revision.path);
}

void DposOrder::discard(const OrderRevision& revision) {
  if (follows_path_) {
    for (const NodeIndex node : revision.path) on_path_[at(node)] = 0;
    for (const NodeIndex node : path_) on_path_[at(node)] = 1;
  }
  for (const NodeIndex node : revision.reranked) {
    rank_[at(node)] = old_rank_[at(node)];
    changed_[at(node)] = 0;
  }
  resize(revision.old_size);
}

}  // namespace strato
