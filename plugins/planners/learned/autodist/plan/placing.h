// Places the variables that parameter servers hold, so that every node has about the same load
// (AutoDist 2.4, constraint 2; the improved TF-PS of 3.1).
#pragma once

#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

// Bytes that each node and each device of it serves. A node is a machine: its devices share its way
// to the others.
class NodeLoads {
 public:
  explicit NodeLoads(const SyncTask& task);
  // The device with the least load of the machine with the least load; the first of equals, or with
  // `random` any of them.
  DeviceId take(Bytes load, Random* random = nullptr);
  void add(DeviceId device, Bytes load);
  const std::vector<Bytes>& by_machine() const { return by_machine_; }

 private:
  const SyncTask& task_;
  std::vector<Bytes> by_machine_, by_device_;  // by_device_: by device of the cluster
};

// Loads as the plan has them.
NodeLoads loads_of(const SyncTask& task, const SyncPlan& plan);

// Gives every part that a server holds a server, large parts first; with `random` in an order that
// is so only roughly.
void place_balanced(const SyncTask& task, SyncPlan& plan, Random* random = nullptr);

// Transfer destinations: in every machine with several replicas but the server's own one of them,
// the same for all parts on this server.
std::vector<DeviceId> stations_for(const SyncTask& task, DeviceId server);

}  // namespace strato::autodist
