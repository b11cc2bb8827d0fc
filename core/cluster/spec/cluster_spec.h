// A cluster file as read and checked, before machines are multiplied and links are laid.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato {

// A machine's name has none of these characters, and is not the end of one of its own links.
inline constexpr std::string_view kNameSeparators = ":>/,";
inline constexpr std::string_view kLinkNames[] = {"net", "network", "fabric", "host"};

struct LinkSpec {
  std::string kind;  // for people; of a fabric also whether it leads to host memory
  double bandwidth_gbps = 0;
  double latency_us = 0;
  std::string note = {};  // for people only, as all notes

  double bandwidth() const { return bandwidth_gbps * 1e9; }
  Nanos latency() const { return Nanos(std::llround(latency_us * 1e3)); }
};

struct GpuCount {
  std::string type;  // a name in ClusterSpec::gpus
  std::int64_t count = 1;
  friend bool operator==(const GpuCount&, const GpuCount&) = default;
};

struct MachineSpec {
  std::string name;
  std::int64_t count = 1;
  std::vector<GpuCount> gpus;
  std::optional<LinkSpec> fabric, host_link, nic;
  std::string note = {};
  std::optional<Bytes> host_memory = {};
  std::optional<double> price_per_hour = {};  // of one machine; all machines have one, or none has

  // "v100", or "v100-0", "v100-1", ... when there are several
  std::vector<std::string> names() const;
};

// A switch whose machines share its way to all others: its uplinks together, one direction.
struct LeafSpec {
  std::string name;                   // of no machine
  std::vector<std::string> machines;  // each in one leaf at most
  LinkSpec uplink;
};

struct NetworkSpec {
  double latency_us = 0;
  std::optional<double> bandwidth_gbps;  // of the switch as a whole, when it is a bottleneck
  std::string note = {};
  std::vector<LeafSpec> leaves = {};
};

struct PairSpec {
  std::string from, to;  // machine names
  LinkSpec link;
};

struct ClusterSpec {
  std::string name, source, note;
  std::vector<GpuType> gpus;  // those in use, in order of first use
  std::vector<MachineSpec> machines;
  std::optional<NetworkSpec> network;
  std::vector<PairSpec> links;
};

// Throws InputError for everything that can be wrong with a cluster file.
ClusterSpec read_spec(const JsonView& root, const GpuCatalogue& catalogue);
ClusterSpec spec_of(const Cluster& cluster);  // that it was made from
Json spec_to_json(const ClusterSpec& spec);

}  // namespace strato
