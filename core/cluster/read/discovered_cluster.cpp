#include "core/cluster/read/discovered_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/discovered_machine.h"

namespace strato {
namespace {

constexpr const char* kUnits =
    "Bandwidths are in 10^9 bytes per second and direction, latencies in microseconds, memory in "
    "bytes, peaks in 10^12 operations per second. Notes say which figures were reported by the "
    "machines, measured, or assumed.";

// Means of what was measured of one pair of machines, or inside one.
struct MeanLink {
  double bandwidth = 0, latency_ns = 0;
  int count = 0;

  void add(const MeasuredLink& link) {
    bandwidth += link.bandwidth;
    latency_ns += static_cast<double>(link.latency.value);
    ++count;
  }
  double gbps() const { return std::clamp(bandwidth / count / 1e9, 1e-6, 1e6); }
  double latency_us() const { return latency_ns / count / 1e3; }
  std::string note() const { return fmt::format("measured, the mean of {} transfers", count); }
};

using Means = std::map<std::pair<MachineId, MachineId>, MeanLink>;

Means means_of(const Cluster& cluster, const std::vector<MeasuredLink>& links) {
  Means means;
  for (const MeasuredLink& link : links) {
    const DeviceId from = cluster.find_device(link.from), to = cluster.find_device(link.to);
    if (!from.valid() || !to.valid() || from == to || !(link.bandwidth > 0)) continue;
    const auto [a, b] = std::minmax(cluster.device(from).machine, cluster.device(to).machine);
    means[{a, b}].add(link);
  }
  return means;
}

// The path leads over both devices' links to their machines, too.
double host_latency(const MachineSpec& machine) {
  if (machine.host_link) return machine.host_link->latency_us;
  return machine.fabric ? machine.fabric->latency_us : 0;
}

LinkSpec measured(const MeanLink& mean, const std::string& kind, double elsewhere_us) {
  return {kind, mean.gbps(), std::max(0.0, mean.latency_us() - elsewhere_us), mean.note()};
}

class LinkWriter {
 public:
  LinkWriter(ClusterSpec& spec, const Cluster& cluster) : spec_(spec), cluster_(cluster) {
    for (MachineSpec& machine : spec_.machines)
      for (std::int64_t i = 0; i < machine.count; ++i) machines_.push_back(&machine);
  }

  // A transfer goes through two ports: each has half of its latency.
  void inside(MachineId id, const MeanLink& mean) {
    MachineSpec& machine = *machines_[id.index()];
    if (machine.count > 1 || !machine.fabric) return;
    machine.fabric = measured(mean, machine.fabric->kind, 0);
    machine.fabric->latency_us /= 2;
  }

  void between(MachineId a, MachineId b, const MeanLink& mean) {
    const std::string from = cluster_.machines()[a].name, to = cluster_.machines()[b].name;
    const double elsewhere =
        host_latency(*machines_[a.index()]) + host_latency(*machines_[b.index()]);
    std::erase_if(spec_.links, [&](const PairSpec& pair) {
      return std::minmax(pair.from, pair.to) == std::minmax(from, to);
    });
    spec_.links.push_back({from, to, measured(mean, "measured", elsewhere)});
  }

 private:
  ClusterSpec& spec_;
  const Cluster& cluster_;
  std::vector<MachineSpec*> machines_;  // by MachineId
};

}  // namespace

std::string discovered_cluster(const std::vector<MachineReport>& reports, const DiscoveryText& text,
                               const GpuCatalogue& catalogue) {
  if (reports.empty())
    throw InputError("", "", "no machine has reported", "see the logs of the job");
  ClusterSpec spec;
  spec.name = text.name;
  spec.source = text.source;
  spec.note = kUnits;
  DiscoveredTypes types(catalogue);
  std::set<std::string> taken;
  for (const MachineReport& report : reports) {
    spec.machines.push_back(
        discovered_machine(report, machine_name_of(report.host, taken), text, types));
  }
  spec.gpus = types.types();
  spec.network = NetworkSpec{1, {}, "latency of the switch assumed, its bandwidth taken as enough"};
  const std::string json = json_text(spec_to_json(spec), 2);
  parse_cluster(json, "the discovered cluster", catalogue);  // its limits hold here, too
  return json + "\n";
}

std::string with_measured_links(std::string_view cluster_json, const std::string& file,
                                const std::vector<MeasuredLink>& links,
                                const GpuCatalogue& catalogue) {
  ClusterSpec spec = read_spec(JsonView::parse(cluster_json, file), catalogue);
  const Cluster cluster = parse_cluster(cluster_json, file, catalogue);
  LinkWriter writer(spec, cluster);
  for (const auto& [pair, mean] : means_of(cluster, links))
    if (pair.first == pair.second)
      writer.inside(pair.first, mean);
    else
      writer.between(pair.first, pair.second, mean);
  return json_text(spec_to_json(spec), 2) + "\n";
}

}  // namespace strato
