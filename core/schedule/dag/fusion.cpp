#include "core/schedule/dag/fusion.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/schedule/dag/levels.h"

namespace strato {
namespace {

// Breakpoints from `low` on may precede the next one. Every condition, once broken, stays broken as
// the cluster grows, so `low` never goes back.
class Window {
 public:
  Window(const Dag& dag, const FusionLimits& limits, std::span<const std::int32_t> label)
      : dag_(dag), limits_(limits), label_(label) {}

  std::int32_t low() const { return low_; }
  // The cluster gets the node at `place` as its last one.
  void add(const std::vector<NodeIndex>& sequence, std::int32_t place) {
    const NodeIndex node = sequence[at(place)];
    memory_ += dag_.memory(node);
    if (!label_.empty() && label_[at(node)] >= 0) {
      if (label_[at(node)] != last_label_) drop(sequence, last_labelled_ + 1);
      last_label_ = label_[at(node)];
      last_labelled_ = place;
    }
    drop(sequence, place + 1 - limits_.range);
    while (memory_ > limits_.memory && low_ < place) drop(sequence, low_ + 1);
  }

 private:
  void drop(const std::vector<NodeIndex>& sequence, std::int32_t to) {
    for (; low_ < to; ++low_) memory_ -= dag_.memory(sequence[at(low_)]);
  }

  const Dag& dag_;
  const FusionLimits& limits_;
  std::span<const std::int32_t> label_;
  Bytes memory_;  // of the places from low_ on
  std::int32_t low_ = 0, last_label_ = -1, last_labelled_ = -1;
};

// Fills cost and before. Equation 5 with all breakpoints i at once: the node at place j - 1 adds
// its edges, which all go on behind j, and takes back those that came to it from i or later:
//   cost(i, j) = cost(i, j - 1) + sum over m >= j of c(j - 1, m) - sum over i <= s < j - 1 of
//   c(s, j - 1).
void find_breakpoints(const Dag& dag, std::span<const Nanos> edge_times, Window window,
                      Fusion& fusion) {
  const auto nodes = static_cast<std::int32_t>(fusion.sequence.size());
  std::vector<std::int32_t> place_of(at(nodes));
  for (std::int32_t p = 0; p < nodes; ++p) place_of[at(fusion.sequence[at(p)])] = p;
  std::vector<std::int64_t> total(at(nodes)), inward(at(nodes));  // S(i) + cost(i, j), by i
  fusion.cost.assign(at(nodes) + 1, Nanos());
  fusion.before.assign(at(nodes) + 1, 0);
  for (std::int32_t j = 1; j <= nodes; ++j) {
    const NodeIndex node = fusion.sequence[at(j - 1)];
    window.add(fusion.sequence, j - 1);
    std::int64_t outward = 0;
    for (const DagEdge& edge : dag.successors(node)) outward += edge_times[at(edge.edge)].value;
    for (const DagEdge& edge : dag.predecessors(node))
      inward[at(place_of[at(edge.node)])] += edge_times[at(edge.edge)].value;

    total[at(j - 1)] = fusion.cost[at(j - 1)].value;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), taken_back = 0;
    std::int32_t best = j - 1;
    for (std::int32_t i = j - 1; i >= window.low(); --i) {
      taken_back += inward[at(i)];
      total[at(i)] += outward - taken_back;
      if (total[at(i)] > least) continue;
      least = total[at(i)];
      best = i;
    }
    for (const DagEdge& edge : dag.predecessors(node)) inward[at(place_of[at(edge.node)])] = 0;
    fusion.cost[at(j)] = Nanos(least);
    fusion.before[at(j)] = best;
  }
}

void cut(Fusion& fusion) {
  const auto nodes = static_cast<std::int32_t>(fusion.sequence.size());
  for (std::int32_t j = nodes; j > 0; j = fusion.before[at(j)]) fusion.breaks.push_back(j);
  fusion.breaks.push_back(0);
  std::ranges::reverse(fusion.breaks);
  fusion.cluster_of.resize(at(nodes));
  for (std::size_t c = 0; c < fusion.cluster_count(); ++c)
    for (std::int32_t p = fusion.breaks[c]; p < fusion.breaks[c + 1]; ++p)
      fusion.cluster_of[at(fusion.sequence[at(p)])] = static_cast<std::int32_t>(c);
}

// Returns, for each node, the cluster of the first node of its co-location group; -1: free.
std::vector<std::int32_t> labels(const Dag& dag, const Fusion& fusion) {
  std::vector<std::int32_t> first(at(dag.colocation_count()), -1), label(dag.size(), -1);
  for (NodeIndex node : fusion.sequence) {
    const std::int32_t group = dag.colocation(node);
    if (group < 0) continue;
    if (first[at(group)] < 0) first[at(group)] = fusion.cluster_of[at(node)];
    label[at(node)] = first[at(group)];
  }
  return label;
}

// ---- op groups

constexpr double kNoLimit = 1e9;  // of a device's memory

struct FusedGroups {
  std::vector<std::int32_t> of_op;
  std::int32_t count = 0;
};

// Clusters of one co-location group are together; such groups have the first numbers, then comes
// what is alone.
FusedGroups groups_of(const Dag& dag, const Fusion& fusion) {
  const Dag coarse = contract(dag, fusion.cluster_of);
  FusedGroups groups{{}, coarse.colocation_count()};
  std::vector<std::int32_t> of_cluster;
  for (const NodeIndex cluster : coarse.nodes()) {
    const std::int32_t together = coarse.colocation(cluster);
    of_cluster.push_back(together >= 0 ? together : groups.count++);
  }
  for (const std::int32_t cluster : fusion.cluster_of)
    groups.of_op.push_back(of_cluster[at(cluster)]);
  return groups;
}

}  // namespace

FusionLimits fusion_limits(const Cluster& cluster, std::int64_t range, double memory) {
  Bytes smallest = Bytes::max();
  for (const Device& device : cluster.devices())
    smallest = std::min(smallest, cluster.gpu_types()[device.type].memory);
  return {static_cast<std::int32_t>(std::min<std::int64_t>(range, 1 << 30)),
          Bytes(static_cast<std::int64_t>(memory * static_cast<double>(smallest.value)))};
}

Fusion fuse(const Dag& dag, std::span<const Nanos> edge_times, std::vector<NodeIndex> sequence,
            const FusionLimits& limits, std::span<const std::int32_t> label) {
  CHECK(sequence.size() == dag.size(), "the sequence has every node");
  CHECK(limits.range >= 1, "a cluster has at least one node");
  Fusion fusion;
  fusion.sequence = std::move(sequence);
  find_breakpoints(dag, edge_times, Window(dag, limits, label), fusion);
  cut(fusion);
  return fusion;
}

Fusion fuse_colocated(const Dag& dag, std::span<const Nanos> edge_times,
                      const std::vector<NodeIndex>& sequence, const FusionLimits& limits) {
  Fusion fusion = fuse(dag, edge_times, sequence, limits);
  if (dag.colocation_count() == 0) return fusion;
  return fuse(dag, edge_times, sequence, limits, labels(dag, fusion));
}

std::string_view name_of(GroupingMethod method) {
  return method == GroupingMethod::Fusion ? "fusion" : "metis";
}

GroupingMethod grouping_method_from(std::string_view name) {
  for (const GroupingMethod method : {GroupingMethod::Metis, GroupingMethod::Fusion})
    if (name == name_of(method)) return method;
  throw InputError("", "grouping", "\"" + std::string(name.substr(0, 64)) + "\" is not known",
                   "use metis or fusion");
}

Grouping group_by_fusion(const Problem& problem, int max_groups) {
  CHECK(max_groups >= 1, "at least one group");
  const WeighedDag whole(dag_of(problem), *problem.cluster, *problem.cost);
  const std::vector<NodeIndex> sequence = cpd_topo(whole.dag, whole.weights);
  FusedGroups groups;
  const auto are_few = [&](std::int64_t range, double memory) {
    FusionLimits limits = fusion_limits(*problem.cluster, range, memory);
    if (memory >= kNoLimit) limits.memory = Bytes::max();
    groups = groups_of(whole.dag, fuse_colocated(whole.dag, whole.weights.edge, sequence, limits));
    return groups.count <= max_groups;
  };
  // Fusion takes nodes * range, so the small ones come first; one cluster with another of the way
  // back makes a group, so full clusters would be too many.
  const auto are_few_with = [&](double memory) {
    const auto count = static_cast<std::int64_t>(whole.dag.size());
    std::int64_t range = 1 + count / (8 * std::int64_t{max_groups});
    for (; range < count; range += range / 5 + 1)
      if (are_few(range, memory)) return true;
    return are_few(count, memory);
  };
  for (const double memory : {0.25, 0.5, 1.0, kNoLimit})
    if (are_few_with(memory)) break;
  return Grouping(*problem.graph, groups.of_op,
                  mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
}

Problem make_problem(const Graph& model, std::shared_ptr<const Cluster> cluster,
                     ProblemOptions options, GroupingMethod method,
                     std::vector<std::string>* warnings) {
  if (method == GroupingMethod::Metis)
    return make_problem(model, std::move(cluster), options, warnings);
  const int max_groups = options.grouping.max_groups;
  options.grouping.max_groups = 1;  // these groups are not used
  const Problem whole = make_problem(model, std::move(cluster), options, warnings);
  return with_grouping(whole, group_by_fusion(whole, max_groups));
}

}  // namespace strato
