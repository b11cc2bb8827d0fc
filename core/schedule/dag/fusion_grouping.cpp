// Op groups by operation fusion.
#include <algorithm>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/schedule/dag/dag_of.h"
#include "core/schedule/dag/fusion.h"
#include "core/schedule/dag/levels.h"

namespace strato {
namespace {

class FusedGroups {
 public:
  explicit FusedGroups(const Problem& problem) : problem_(problem), dag_(dag_of(problem)) {
    const TransferTimes transfers(dag_, *problem.cluster, *problem.cost);
    const Weights weights = mean_weights(dag_, *problem.cluster, transfers);
    edge_times_ = weights.edge;
    sequence_ = cpd_topo(dag_, weights);
  }

  struct Groups {
    std::vector<std::int32_t> group_of;  // by op
    std::int32_t count = 0;
  };
  Groups with(std::int64_t range, double memory) const {
    FusionLimits limits = fusion_limits(*problem_.cluster, range, memory);
    if (memory >= kNoLimit) limits.memory = Bytes::max();
    const Fusion fusion = fuse_colocated(dag_, edge_times_, sequence_, limits);
    const Dag coarse = contract(dag_, fusion.cluster_of);
    // Numbers: co-location groups first, then what is alone.
    Groups groups{{}, coarse.colocation_count()};
    std::vector<std::int32_t> group_of_cluster;
    for (std::size_t c = 0; c < coarse.size(); ++c) {
      const std::int32_t together = coarse.colocation(static_cast<NodeIndex>(c));
      group_of_cluster.push_back(together >= 0 ? together : groups.count++);
    }
    for (const std::int32_t cluster : fusion.cluster_of)
      groups.group_of.push_back(group_of_cluster[at(cluster)]);
    return groups;
  }

  // Empty when no range gives few enough. Fusion takes nodes * range, so the small ones come first;
  // one cluster with another of the way back makes a group, so full clusters would be too many.
  std::vector<std::int32_t> smallest(int max_groups, double memory) const {
    const auto ops = static_cast<std::int64_t>(dag_.size());
    for (std::int64_t range = 1 + ops / (8 * std::int64_t{max_groups});; range += range / 5 + 1) {
      Groups groups = with(std::min(range, ops), memory);
      if (groups.count <= max_groups) return groups.group_of;
      if (range >= ops) return {};
    }
  }

  static constexpr double kNoLimit = 1e9;

 private:
  const Problem& problem_;
  Dag dag_;
  std::vector<Nanos> edge_times_;
  std::vector<NodeIndex> sequence_;
};

}  // namespace

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
  const FusedGroups fused(problem);
  std::vector<std::int32_t> group_of;
  for (const double memory : {0.25, 0.5, 1.0, FusedGroups::kNoLimit}) {
    group_of = fused.smallest(max_groups, memory);
    if (!group_of.empty()) break;
  }
  return Grouping(*problem.graph, group_of,
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
