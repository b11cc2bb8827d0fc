// A cluster with other links, memory or numbers of machines: what if. Values; safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

// Machines with equal GPUs and links; in the order of their first machine.
struct MachineKind {
  // Unique; what the machines' names have in common, "1080ti" of "1080ti-0" to "1080ti-3".
  std::string name;
  std::vector<MachineId> machines;
};
std::vector<MachineKind> machine_kinds(const Cluster& cluster);

// Factors, 1: as it is.
struct ClusterChange {
  double network_bandwidth = 1;  // between machines: network cards, the switch, links of pairs
  double machine_bandwidth = 1;  // in machines: fabric and host links
  double latency = 1;            // of all links
  double memory = 1;             // of all devices
  std::map<std::string, std::int64_t> machines;  // how many of each kind; not named: as many as now
  // The GPUs of each kind, by a name of the bundled catalogue or of the cluster; not named: as now.
  // Other GPUs take the place of as many, in the same machines on the same links; what such
  // machines cost is not known.
  std::map<std::string, std::string> gpus = {};

  bool keeps_links() const;
  friend bool operator==(const ClusterChange&, const ClusterChange&) = default;
};

// Machines that stay keep their names; more of a kind are copies of its last one, without its links
// to single other machines; of fewer the last ones go.
struct ChangedCluster {
  std::shared_ptr<const Cluster> cluster;
  IdVector<DeviceId, DeviceId> instead;  // by device as it was: itself, or of a gone machine the
                                         // same place in one that stays; invalid: its kind is gone
  IdVector<DeviceId, DeviceId> like;     // by device now: itself as it was, or what it is a copy of
};

// `cluster` itself when nothing changes. Throws InputError for a factor outside [1/1024, 1024], an
// unknown kind of machines or GPU, no machine at all, too many devices, and machines that would not
// be connected.
ChangedCluster change_cluster(const std::shared_ptr<const Cluster>& cluster,
                              const ClusterChange& change);

// The same cluster of GPUs whose peak rates and memory bandwidth are `speed` times as high, under
// names of their own ("V100-SXM2-32GB x2"). What a kernel takes to start stays. Itself for a speed
// of 1. Throws InputError for one outside [1/1024, 1024].
std::shared_ptr<const Cluster> with_device_speed(const std::shared_ptr<const Cluster>& cluster,
                                                 double speed);
// Returns the cluster under another name, and so with another digest.
std::shared_ptr<const Cluster> with_name(const std::shared_ptr<const Cluster>& cluster,
                                         const std::string& name);

}  // namespace strato
