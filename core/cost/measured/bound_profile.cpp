#include "core/cost/measured/bound_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/value/op_signature.h"

namespace strato {
namespace {

std::string gpu_names(const Cluster& cluster) {
  std::string result;
  for (const GpuType& gpu : cluster.gpu_types()) result += (result.empty() ? "" : ", ") + gpu.name;
  return result;
}

GpuCatalogue catalogue_of(const Cluster& cluster) {
  GpuCatalogue catalogue;
  for (const GpuType& gpu : cluster.gpu_types()) catalogue.add(gpu);
  return catalogue;
}

std::map<std::string, std::vector<OpId>> ops_by_signature(const Graph& graph) {
  std::map<std::string, std::vector<OpId>> result;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (!graph.op(OpId(i)).view) result[op_signature(graph, OpId(i))].push_back(OpId(i));
  }
  return result;
}

// The ops measured on GPUs that the cluster has, under the types' own names.
Profile on_cluster(const Profile& profile, const Cluster& cluster,
                   std::vector<std::string>& warnings) {
  const GpuCatalogue catalogue = catalogue_of(cluster);
  std::set<std::string> unknown;
  Profile result;
  for (const OpProfile& op : profile.ops) {
    if (const GpuType* gpu = catalogue.find(op.gpu)) {
      result.ops.push_back({op.signature, gpu->name, op.measurements});
    } else {
      unknown.insert(op.gpu);
    }
  }
  for (const std::string& gpu : unknown) {
    warnings.push_back(fmt::format("the profile's op times on {} are not used: the cluster has {}",
                                   gpu, gpu_names(cluster)));
  }
  return result;
}

}  // namespace

BoundProfile::BoundProfile(const Profile& profile, const Graph& graph, const Cluster& cluster,
                           std::vector<std::string>& warnings)
    : ops(ops_by_signature(graph)) {
  Profile bound = on_cluster(profile, cluster, warnings);
  std::set<std::string> measured_signatures, unknown;
  for (OpProfile& op : bound.ops) {
    const auto found = ops.find(op.signature);
    measured_signatures.insert(op.signature);
    if (found == ops.end()) {
      unknown.insert(op.signature);
    } else if (!follows_batch(graph, found->second.front())) {
      for (OpMeasurement& point : op.measurements) point.samples = 1;
    }
  }
  measured = normalised(std::move(bound)).ops;
  unused.assign(unknown.begin(), unknown.end());
  if (!unused.empty()) {
    warnings.push_back(fmt::format("{} of the profile's {} measured kinds of op are not in {}: {}",
                                   unused.size(), measured_signatures.size(), graph.name(),
                                   unused.front() + (unused.size() > 1 ? ", …" : "")));
  }
}

const OpProfile* BoundProfile::find(const std::string& gpu, const std::string& signature) const {
  const auto at = std::lower_bound(
      measured.begin(), measured.end(), std::tie(gpu, signature),
      [](const OpProfile& op, const auto& key) { return std::tie(op.gpu, op.signature) < key; });
  const bool found = at != measured.end() && at->gpu == gpu && at->signature == signature;
  return found ? &*at : nullptr;
}

}  // namespace strato
