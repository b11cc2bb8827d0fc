// Optimal Operation Fusion (Celeritas 5.1.3, Algorithm 1): a sequence of nodes in a topological
// order is cut into clusters of consecutive nodes, such that as little communication time as can be
// is left between clusters (Kernighan 1971). Clusters of consecutive nodes never make a cycle
// (Lemma 2). Deterministic; no recursion; time: nodes * range + edges. And op groups by fusion: a
// grouping for any planner, beside METIS.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"

namespace strato {

struct FusionLimits {
  std::int32_t range = 200;  // R: nodes in one cluster at most
  // M: the nodes of one cluster take at most this; a node that takes more is a cluster of its own.
  Bytes memory = Bytes::max();
};
// M as Celeritas has it: a part of a device's memory, here of the smallest device's.
FusionLimits fusion_limits(const Cluster& cluster, std::int64_t range = 200, double memory = 0.25);

struct Fusion {
  std::vector<NodeIndex> sequence;       // node by place
  std::vector<std::int32_t> cluster_of;  // by node; numbered along the sequence
  // Costs by place j = 0 .. nodes: S(j), the least communication when there is a breakpoint before
  // place j (Equation 6), and P(j), the breakpoint before it.
  std::vector<Nanos> cost;
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> breaks;  // the best ones, ascending, with 0 and the number of nodes

  std::size_t cluster_count() const { return breaks.size() - 1; }
};

// `sequence` is a topological order of all nodes. `label`: nodes with different labels, 0 or more,
// are never in one cluster; empty: no labels. Among equally good breakpoints the farthest is taken:
// the larger cluster.
Fusion fuse(const Dag& dag, std::span<const Nanos> edge_times, std::vector<NodeIndex> sequence,
            const FusionLimits& limits, std::span<const std::int32_t> label = {});

// The same for a dag with co-location groups. To contract a cluster joins all groups that it
// touches. A training graph meets every parameter twice, far apart: in the forward pass and in the
// backward one, where clusters end at other layers; joined clusters chain, through all layers, into
// one group, and nothing is left to place. So, as the first node of a group decides for the others
// (Celeritas 6.1), every group is labelled with the cluster of its first node in fuse() without
// labels, and a second fuse() keeps labels apart: no cluster joins groups that did not start
// together. On the way back the clusters then follow those of the way there. Measured with R = 200
// on four V100s: inception_v3 has 11 clusters in one group without labels, and with them 25
// clusters in 7 parts that can be placed, the largest with 26 % of the work; transformer 1 and 6
// (43 %), bert_large 1 and 6 (21 %), for 1 to 20 % more communication between clusters (vgg19:
// twice as much).
Fusion fuse_colocated(const Dag& dag, std::span<const Nanos> edge_times,
                      const std::vector<NodeIndex>& sequence, const FusionLimits& limits);

enum class GroupingMethod : std::uint8_t { Metis, Fusion };
std::string_view name_of(GroupingMethod method);             // "metis", "fusion"
GroupingMethod grouping_method_from(std::string_view name);  // throws InputError

// The clusters of fuse_colocated(), those with ops of one co-location group together in one group:
// a parameter, what reads it and its update never part. At most `max_groups` (1 or more): R
// grows until there are no more, and M, the paper's at first, where that is not enough. The
// problem's own grouping is not looked at.
Grouping group_by_fusion(const Problem& problem, int max_groups);

// make_problem() in groups of this method; `options.grouping.max_groups` holds for both.
Problem make_problem(const Graph& model, std::shared_ptr<const Cluster> cluster,
                     ProblemOptions options, GroupingMethod method,
                     std::vector<std::string>* warnings);

}  // namespace strato
