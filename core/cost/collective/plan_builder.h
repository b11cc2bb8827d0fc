// Adds up what a collective's phases put on the links. Private to this folder.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/cost/collective/collective_plan.h"

namespace strato {

class PlanBuilder {
 public:
  PlanBuilder(const Cluster& cluster, CollectiveAlgorithm algorithm)
      : cluster_(cluster), volume_(cluster.links().size()), used_(cluster.links().size()) {
    plan_.algorithm = algorithm;
  }

  const Cluster& cluster() const { return cluster_; }

  // In this phase, `volume` tensors go from one device to another. Returns the latency of the path.
  Nanos send(DeviceId from, DeviceId to, double volume) {
    const Path& path = cluster_.path(from, to);
    for (const LinkId link : path.links) volume_[link.index()] += volume;
    return path.latency;
  }

  // `latency`: of the longest chain of messages that wait for each other.
  void end_phase(Nanos latency) {
    double slowest = 0;  // seconds per byte
    for (std::size_t i = 0; i < volume_.size(); ++i) {
      if (volume_[i] == 0) continue;
      slowest = std::max(slowest, volume_[i] / cluster_.links()[LinkId(i)].bandwidth);
      used_[i] = true;
      volume_[i] = 0;
    }
    plan_.latency += latency;
    plan_.nanos_per_byte += slowest * 1e9;
  }

  CollectivePlan build() && {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) plan_.links.push_back(LinkId(i));
    }
    plan_.links.shrink_to_fit();
    return std::move(plan_);
  }

 private:
  const Cluster& cluster_;
  std::vector<double> volume_;  // by link, in this phase
  std::vector<bool> used_;      // by link, in any phase
  CollectivePlan plan_;
};

}  // namespace strato
