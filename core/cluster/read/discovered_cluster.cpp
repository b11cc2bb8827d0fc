#include "core/cluster/read/discovered_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

constexpr const char* kReportFormat = "stratoscope-machine";
constexpr std::size_t kMostEntries = 256;  // GPUs, and interfaces
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Json gpu_report_json(const GpuReport& gpu) {
  return {{"name", gpu.name},
          {"bus", gpu.bus},
          {"memory_bytes", gpu.memory.value},
          {"cores", gpu.cores},
          {"clock_MHz", gpu.clock_mhz},
          {"memory_clock_MHz", gpu.memory_clock_mhz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"compute", gpu.compute},
          {"pcie_generation", gpu.pcie_generation},
          {"pcie_lanes", gpu.pcie_lanes},
          {"nvlink_GBps", gpu.nvlink_gbps},
          {"nvlinks", gpu.nvlinks},
          {"switch_links", gpu.switch_links},
          {"mig", gpu.mig}};
}

GpuReport gpu_report_from(const JsonView& view) {
  GpuReport gpu;
  gpu.name = view.at("name").string();
  gpu.bus = view.at("bus").string();
  gpu.memory = Bytes(view.at("memory_bytes").integer(0, kMostBytes));
  gpu.cores = static_cast<int>(view.at("cores").integer(0, 1'000'000));
  gpu.clock_mhz = view.at("clock_MHz").number(0, 1e5);
  gpu.memory_clock_mhz = view.at("memory_clock_MHz").number(0, 1e6);
  gpu.memory_bus_bits = static_cast<int>(view.at("memory_bus_bits").integer(0, 1'000'000));
  gpu.compute = view.at("compute").string();
  gpu.pcie_generation = static_cast<int>(view.at("pcie_generation").integer(0, 100));
  gpu.pcie_lanes = static_cast<int>(view.at("pcie_lanes").integer(0, 1024));
  gpu.nvlink_gbps = view.at("nvlink_GBps").number(0, 1e5);
  for (const JsonView& links : view.at("nvlinks").items())
    gpu.nvlinks.push_back(static_cast<int>(links.integer(0, 1024)));
  gpu.switch_links = static_cast<int>(view.at("switch_links").integer(0, 1024));
  gpu.mig = view.at("mig").boolean();
  return gpu;
}

std::vector<JsonView> entries_of(const JsonView& view) {
  std::vector<JsonView> entries = view.items();
  if (entries.size() > kMostEntries)
    view.fail(fmt::format("has {} entries", entries.size()), "no machine has so many");
  return entries;
}

constexpr const char* kUnits =
    "Bandwidths are in 10^9 bytes per second and direction, latencies in microseconds, memory in "
    "bytes, peaks in 10^12 operations per second. Notes say which figures were reported by the "
    "machines, measured, or assumed.";

// Sums of what was measured of one pair of machines, or inside one.
struct MeasuredSum {
  double bandwidth = 0, latency_ns = 0;
  int count = 0;
};

using MeasuredSums = std::map<std::pair<MachineId, MachineId>, MeasuredSum>;

MeasuredSums sums_of(const Cluster& cluster, const std::vector<MeasuredLink>& links) {
  MeasuredSums sums;
  for (const MeasuredLink& link : links) {
    const DeviceId from = cluster.find_device(link.from), to = cluster.find_device(link.to);
    if (!from.valid() || !to.valid() || from == to || !(link.bandwidth > 0)) continue;
    const auto [a, b] = std::minmax(cluster.device(from).machine, cluster.device(to).machine);
    MeasuredSum& sum = sums[{a, b}];
    sum.bandwidth += link.bandwidth;
    sum.latency_ns += static_cast<double>(link.latency.value);
    ++sum.count;
  }
  return sums;
}

// The path leads over both devices' links to their machines, too.
double host_latency(const MachineSpec& machine) {
  if (machine.host_link) return machine.host_link->latency_us;
  return machine.fabric ? machine.fabric->latency_us : 0;
}

LinkSpec mean_of(const MeasuredSum& sum, const std::string& kind, double elsewhere_us) {
  return {kind, std::clamp(sum.bandwidth / sum.count / 1e9, 1e-6, 1e6),
          std::max(0.0, sum.latency_ns / sum.count / 1e3 - elsewhere_us),
          fmt::format("measured, the mean of {} transfers", sum.count)};
}

}  // namespace

std::string to_json(const MachineReport& report) {
  Json json = {{"format", kReportFormat},
               {"version", MachineReport::kVersion},
               {"host", report.host},
               {"cpu", report.cpu},
               {"cores", report.cores},
               {"cpu_MHz", report.cpu_mhz},
               {"fp32_lanes", report.fp32_lanes},
               {"memory_bytes", report.memory.value},
               {"driver", report.driver},
               {"gpu_problem", report.gpu_problem}};
  Json& gpus = json["gpus"] = Json::array();
  for (const GpuReport& gpu : report.gpus) gpus.push_back(gpu_report_json(gpu));
  Json& interfaces = json["interfaces"] = Json::array();
  for (const InterfaceReport& each : report.interfaces)
    interfaces.push_back(
        {{"name", each.name}, {"infiniband", each.infiniband}, {"Mbps", each.mbps}});
  return json_text(json);  // drivers need not say UTF-8
}

MachineReport parse_machine_report(std::string_view json, const std::string& name) {
  const JsonView root = JsonView::parse(json, name);
  root.expect_format(kReportFormat, MachineReport::kVersion);
  MachineReport report;
  report.host = root.at("host").string();
  report.cpu = root.at("cpu").string();
  report.cores = static_cast<int>(root.at("cores").integer(0, 1'000'000));
  report.cpu_mhz = root.at("cpu_MHz").number(0, 1e5);
  report.fp32_lanes = static_cast<int>(root.at("fp32_lanes").integer(0, 1024));
  report.memory = Bytes(root.at("memory_bytes").integer(0, kMostBytes));
  report.driver = root.at("driver").string();
  report.gpu_problem = root.at("gpu_problem").string();
  for (const JsonView& gpu : entries_of(root.at("gpus")))
    report.gpus.push_back(gpu_report_from(gpu));
  for (const JsonView& each : entries_of(root.at("interfaces")))
    report.interfaces.push_back({each.at("name").string(), each.at("infiniband").boolean(),
                                 each.at("Mbps").number(0, 1e9)});
  return report;
}

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
  for (const auto& [pair, sum] : sums_of(cluster, links)) {
    MachineSpec &a = *machines[pair.first.index()], &b = *machines[pair.second.index()];
    if (pair.first != pair.second) {
      const std::string& from = cluster.machines()[pair.first].name;
      const std::string& to = cluster.machines()[pair.second].name;
      std::erase_if(spec.links, [&](const PairSpec& link) {
        return std::minmax(link.from, link.to) == std::minmax(from, to);
      });
      const double elsewhere = host_latency(a) + host_latency(b);
      spec.links.push_back({from, to, mean_of(sum, "measured", elsewhere)});
    } else if (a.count == 1 && a.fabric) {
      a.fabric = mean_of(sum, a.fabric->kind, 0);
      a.fabric->latency_us /= 2;  // a transfer goes through two ports, each has half of it
    }
  }
  return json_text(spec_to_json(spec), 2) + "\n";
}

}  // namespace strato
