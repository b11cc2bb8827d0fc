// The graph config of AutoDist's representation (2.2): which devices hold replicas, and how much of
// the batch each of them has. It is chosen before variables are decided about.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/search/planner.h"
#include "plugins/planners/autodist/sampler.h"

namespace strato::autodist {

// Data parallel on the fastest 2, 3, 4, 6, 8, 12, ... devices, machine by machine, and on those of
// the fastest GPU types alone: fewer than all of them, ascending by their number.
std::vector<Strategy> on_fewer_devices(const Problem& problem);

struct ReplicationOptions {
  bool fewer = true;  // also on_fewer_devices()
  bool rows = true;   // see SyncTask
  SamplerOptions sampler;
};

struct Replication {
  Strategy strategy;        // data parallel with AllReduce, without node configs
  std::size_t devices = 0;  // with replicas
  Strategy likely;          // the best plan on it that was simulated, and its step time
  Nanos step_time;
  Nanos on_all;  // the same of equal shares on all devices
};
// The fastest by simulation, not by trials, so that a search that goes on finds the same: equal
// shares on all devices, shares by speed, those of `known` strategies, and those of fewer devices.
// Each is judged by the best of a few plans of the kinds that a search on it finds. The constraints
// of `options` are taken into account.
Replication best_replication(const Problem& problem, std::span<const Strategy> known,
                             const ReplicationOptions& replication, const PlannerOptions& options);

}  // namespace strato::autodist
