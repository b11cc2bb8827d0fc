#include "core/schedule/dag/dag.h"

#include <algorithm>
#include <numeric>

#include "core/base/disjoint_sets.h"
#include "core/base/error.h"

namespace strato {

void merge_links(std::vector<DagLink>& links) {
  std::size_t kept = 0;
  for (const DagLink& link : links) {
    if (kept > 0 && links[kept - 1].from == link.from && links[kept - 1].to == link.to)
      links[kept - 1].bytes += link.bytes;
    else
      links[kept++] = link;
  }
  links.resize(kept);
}

DagBuilder::DagBuilder(std::size_t gpu_types) { dag_.gpu_types_ = gpu_types; }

NodeIndex DagBuilder::add_node(std::span<const Nanos> times, Bytes memory,
                               std::int32_t colocation) {
  CHECK(times.size() == dag_.gpu_types_, "one time for each GPU type");
  CHECK(colocation >= -1, "no co-location group");
  dag_.time_.insert(dag_.time_.end(), times.begin(), times.end());
  dag_.memory_.push_back(memory);
  dag_.colocation_.push_back(colocation);
  dag_.colocation_count_ = std::max(dag_.colocation_count_, colocation + 1);
  return static_cast<NodeIndex>(dag_.memory_.size() - 1);
}

void DagBuilder::add_edge(NodeIndex from, NodeIndex to, Bytes bytes) {
  CHECK(0 <= from && from < to, "an edge against the order of the nodes");
  edges_.push_back({from, to, bytes});
}

namespace {

// begin[k] .. begin[k + 1]: where the items with key k go.
template <class Item, class Key>
std::vector<std::int32_t> begins(const std::vector<Item>& items, std::size_t keys, Key key) {
  std::vector<std::int32_t> begin(keys + 1, 0);
  for (const Item& item : items) ++begin[at(key(item)) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

template <class Item, class Key>
void sort_by(std::vector<Item>& items, std::size_t keys, Key key) {  // stable, linear
  std::vector<std::int32_t> next = begins(items, keys, key);
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[static_cast<std::size_t>(next[at(key(item))]++)] = item;
  items = std::move(sorted);
}

}  // namespace

Dag DagBuilder::build() && {
  const std::size_t nodes = dag_.size();
  for (const DagLink& edge : edges_)
    CHECK(at(edge.to) < nodes, "an edge to a node that is not there");
  sort_by(edges_, nodes, [](const DagLink& edge) { return edge.to; });
  sort_by(edges_, nodes, [](const DagLink& edge) { return edge.from; });
  merge_links(edges_);
  dag_.successor_begin_ = begins(edges_, nodes, [](const DagLink& edge) { return edge.from; });
  dag_.predecessor_begin_ = begins(edges_, nodes, [](const DagLink& edge) { return edge.to; });
  dag_.predecessors_.resize(edges_.size());
  std::vector<std::int32_t> next = dag_.predecessor_begin_;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    dag_.bytes_.push_back(edges_[i].bytes);
    dag_.successors_.push_back({edges_[i].to, index});
    dag_.predecessors_[at(next[at(edges_[i].to)]++)] = {edges_[i].from, index};
  }
  return std::move(dag_);
}

namespace {

// Adds up the times and memory of the clusters' nodes.
void add_clusters(const Dag& dag, std::span<const std::int32_t> cluster_of,
                  std::span<const std::int32_t> colocation, DagBuilder& builder) {
  const std::size_t types = dag.gpu_type_count();
  std::vector<Nanos> times(colocation.size() * types);
  std::vector<Bytes> memory(colocation.size());
  std::vector<char> filled(colocation.size(), false);
  for (const NodeIndex node : dag.nodes()) {
    const std::size_t cluster = at(cluster_of[at(node)]);
    filled[cluster] = true;
    memory[cluster] += dag.memory(node);
    for (std::size_t t = 0; t < types; ++t)
      times[cluster * types + t] += dag.time(node, GpuTypeId(t));
  }
  CHECK(std::ranges::count(filled, 0) == 0, "clusters are numbered without gaps");
  for (std::size_t c = 0; c < memory.size(); ++c)
    builder.add_node(std::span(times).subspan(c * types, types), memory[c], colocation[c]);
}

// Clusters that hold nodes of one group belong together.
std::vector<std::int32_t> colocation_of(const Dag& dag, std::span<const std::int32_t> cluster_of) {
  DisjointSets sets(cluster_of.empty() ? 0 : at(std::ranges::max(cluster_of)) + 1);
  std::vector<std::int32_t> first(at(dag.colocation_count()), -1);
  for (const NodeIndex node : dag.nodes()) {
    if (dag.colocation(node) < 0) continue;
    std::int32_t& cluster = first[at(dag.colocation(node))];
    if (cluster < 0) cluster = cluster_of[at(node)];
    sets.join(cluster, cluster_of[at(node)]);
  }
  return sets.numbered();
}

}  // namespace

Dag contract(const Dag& dag, std::span<const std::int32_t> cluster_of) {
  CHECK(cluster_of.size() == dag.size(), "one cluster for each node");
  CHECK(cluster_of.empty() || std::ranges::min(cluster_of) >= 0, "clusters are numbered from 0");
  DagBuilder builder(dag.gpu_type_count());
  add_clusters(dag, cluster_of, colocation_of(dag, cluster_of), builder);
  for (const NodeIndex node : dag.nodes()) {
    const std::int32_t from = cluster_of[at(node)];
    for (const DagEdge& edge : dag.successors(node))
      if (const std::int32_t to = cluster_of[at(edge.node)]; to != from)
        builder.add_edge(from, to, dag.bytes(edge.edge));
  }
  return std::move(builder).build();
}

}  // namespace strato
