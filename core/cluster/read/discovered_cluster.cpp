#include "core/cluster/read/discovered_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/cluster_spec.h"

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

}  // namespace

std::string discovered_cluster(const std::vector<MachineReport>& reports, const DiscoveryText& text,
                               const GpuCatalogue& catalogue) {
  if (reports.empty())
    throw InputError("", "", "no machine has reported", "see the logs of the job");
  ClusterSpec spec;
  spec.name = text.name;
  spec.source = text.source;
  spec.note = kUnits;
  for (const MachineReport& report : reports) add_machine(report, text, catalogue, spec);
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
  std::vector<MachineSpec*> machines;  // by MachineId
  for (MachineSpec& machine : spec.machines)
    machines.insert(machines.end(), static_cast<std::size_t>(machine.count), &machine);
  for (const auto& [pair, mean] : means_of(cluster, links)) {
    MachineSpec &a = *machines[pair.first.index()], &b = *machines[pair.second.index()];
    if (pair.first != pair.second) {
      const std::string& from = cluster.machines()[pair.first].name;
      const std::string& to = cluster.machines()[pair.second].name;
      std::erase_if(spec.links, [&](const PairSpec& link) {
        return std::minmax(link.from, link.to) == std::minmax(from, to);
      });
      const double elsewhere = host_latency(a) + host_latency(b);
      spec.links.push_back({from, to, measured(mean, "measured", elsewhere)});
    } else if (a.count == 1 && a.fabric) {
      a.fabric = measured(mean, a.fabric->kind, 0);
      a.fabric->latency_us /= 2;  // a transfer goes through two ports, each has half of it
    }
  }
  return json_text(spec_to_json(spec), 2) + "\n";
}

}  // namespace strato
