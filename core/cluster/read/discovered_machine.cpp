#include "core/cluster/read/discovered_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

namespace strato {
namespace {

constexpr double kPcieShare = 0.8;  // of the line rate that transfers reach
constexpr double kAssumedPcie = 12, kAssumedNic = 1.25, kAssumedShared = 10;  // 10^9 B/s
constexpr const char* kLatency = "; latency assumed";

// 10^9 bytes per second of one lane, one direction, after line coding; 0: not known.
double pcie_lane(int generation) {
  constexpr double kLanes[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  return generation >= 1 && generation <= 6 ? kLanes[generation] : 0;
}

// Returns what NVLink 1 to 5 carry, by the major number of the compute capability.
double nvlink_of(const GpuReport& gpu) {
  if (gpu.nvlink_gbps > 0) return gpu.nvlink_gbps;
  const int major = std::atoi(gpu.compute.c_str());
  return major == 6 ? 20 : major >= 10 ? 50 : 25;
}

int direct_links(const GpuReport& gpu) {
  return std::accumulate(gpu.nvlinks.begin(), gpu.nvlinks.end(), 0);
}

LinkSpec pcie_of(const std::vector<GpuReport>& gpus, const std::string& source) {
  double slowest = 0;
  const GpuReport* which = nullptr;
  for (const GpuReport& gpu : gpus) {
    const double rate = kPcieShare * pcie_lane(gpu.pcie_generation) * gpu.pcie_lanes;
    if (rate <= 0)
      return {"pcie", kAssumedPcie, 4, "assumed, PCIe 3.0 x16: the driver does not tell it"};
    if (which != nullptr && rate >= slowest) continue;
    slowest = rate;
    which = &gpu;
  }
  return {
      fmt::format("pcie{}x{}", which->pcie_generation, which->pcie_lanes), slowest, 4,
      fmt::format("{}; {:.0f} % of the line rate assumed{}", source, kPcieShare * 100, kLatency)};
}

bool all_on_a_switch(const std::vector<GpuReport>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(),
                     [](const GpuReport& gpu) { return gpu.switch_links > 0; });
}

bool is_joined(const std::vector<GpuReport>& gpus, std::size_t a, std::size_t b) {
  const auto links = [&](std::size_t x, std::size_t y) {
    return y < gpus[x].nvlinks.size() && gpus[x].nvlinks[y] > 0;
  };
  return links(a, b) || links(b, a);
}

// Tells whether NVLinks lead from every GPU to every other one, also over GPUs between them.
bool all_joined(const std::vector<GpuReport>& gpus) {
  std::vector<std::size_t> reached = {0};
  std::vector<bool> seen(gpus.size(), false);
  seen[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (std::size_t other = 0; other < gpus.size(); ++other) {
      if (seen[other] || !is_joined(gpus, reached[i], other)) continue;
      seen[other] = true;
      reached.push_back(other);
    }
  }
  return reached.size() == gpus.size();
}

std::string rate_source(const std::vector<GpuReport>& gpus) {
  const bool told = std::all_of(gpus.begin(), gpus.end(),
                                [](const GpuReport& gpu) { return gpu.nvlink_gbps > 0; });
  return told ? "reported" : "number reported, rate assumed";
}

LinkSpec switch_link(const std::vector<GpuReport>& gpus) {
  double least = 0;
  int links = 0;
  for (const GpuReport& gpu : gpus) {
    const double rate = gpu.switch_links * nvlink_of(gpu);
    if (links > 0 && rate >= least) continue;
    least = rate;
    links = gpu.switch_links;
  }
  return {
      "nvswitch", least, 2,
      fmt::format("{}: {} NVLinks of each GPU to a switch{}", rate_source(gpus), links, kLatency)};
}

LinkSpec mesh_link(const std::vector<GpuReport>& gpus) {
  double least = 0;
  int links = 0, fewest = 1 << 20, most = 0;
  for (const GpuReport& gpu : gpus) {
    const double rate = direct_links(gpu) * nvlink_of(gpu);
    if (links > 0 && rate >= least) continue;
    least = rate;
    links = direct_links(gpu);
  }
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      if (a == b) continue;
      const int joined = b < gpus[a].nvlinks.size() ? gpus[a].nvlinks[b] : 0;
      fewest = std::min(fewest, joined);
      most = std::max(most, joined);
    }
  }
  const std::string pairs =
      fewest == most ? fmt::to_string(most) : fmt::format("{} to {}", fewest, most);
  return {"nvlink", least, 2,
          fmt::format("{}: {} NVLinks of each GPU together, what a ring reaches; a pair is joined "
                      "by {} of them{}",
                      rate_source(gpus), links, pairs, kLatency)};
}

// Returns the link over which GPUs of a machine with several reach each other.
LinkSpec fabric_of(const std::vector<GpuReport>& gpus, const std::string& pcie_source) {
  if (all_on_a_switch(gpus)) return switch_link(gpus);
  if (all_joined(gpus)) return mesh_link(gpus);
  LinkSpec link = pcie_of(gpus, pcie_source);
  const bool some = std::any_of(gpus.begin(), gpus.end(), [](const GpuReport& gpu) {
    return gpu.switch_links > 0 || direct_links(gpu) > 0;
  });
  if (some) link.note += "; NVLinks join only some of the GPUs and are left out";
  return link;
}

LinkSpec nic_of(const MachineReport& report, const std::string& wanted) {
  const InterfaceReport* best = nullptr;
  for (const InterfaceReport& each : report.interfaces) {
    if (!wanted.empty() && each.name != wanted) continue;
    if (each.mbps > 0 && (best == nullptr || each.mbps > best->mbps)) best = &each;
  }
  if (best == nullptr) {
    return {"10GbE", kAssumedNic, 20,
            (wanted.empty() ? "assumed: no network tells its speed"
                            : "assumed: " + wanted + " does not tell its speed")};
  }
  const std::string kind =
      fmt::format("{:g}{}", best->mbps / 1000, best->infiniband ? "IB" : "GbE");
  return {kind, std::clamp(best->mbps / 8000, 1e-6, 1e6), best->infiniband ? 5.0 : 20.0,
          fmt::format("line rate reported by {}{}", best->name, kLatency)};
}

void add_gpus(const MachineReport& report, const std::string& pcie_source, DiscoveredTypes& types,
              MachineSpec& machine) {
  for (const GpuReport& gpu : report.gpus) {
    const std::string type = types.type_of(gpu);
    const auto known = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                                    [&](const GpuCount& each) { return each.type == type; });
    if (known != machine.gpus.end()) {
      ++known->count;
    } else {
      machine.gpus.push_back({type, 1});
    }
  }
  if (report.gpus.size() > 1) machine.fabric = fabric_of(report.gpus, pcie_source);
  const bool nvlink = machine.fabric && !machine.fabric->kind.starts_with("pcie");
  if (nvlink || !machine.fabric) machine.host_link = pcie_of(report.gpus, pcie_source);
}

void add_cpus(const MachineReport& report, int devices, DiscoveredTypes& types,
              MachineSpec& machine) {
  machine.gpus.push_back({types.type_of_cpu(report, devices), devices});
  if (devices > 1) {
    machine.fabric = {"shared memory", kAssumedShared, 5,
                      "assumed: what one copy reaches in a server's memory"};
  }
}

std::string note_of(const MachineReport& report) {
  std::string note = "links of the GPUs reported";
  if (report.cores > 0)
    note = fmt::format("reported: {} cores, {:.1f} GiB of memory", report.cores,
                       static_cast<double>(report.memory.value) / (1 << 30));
  if (!report.driver.empty()) note += ", GPU driver " + report.driver;
  if (!report.gpu_problem.empty()) note += "; no GPU: " + report.gpu_problem;
  const bool mig = std::any_of(report.gpus.begin(), report.gpus.end(),
                               [](const GpuReport& gpu) { return gpu.mig; });
  if (mig) note += "; MIG is on: the GPUs are described as if they were whole";
  return note;
}

}  // namespace

MachineSpec discovered_machine(const MachineReport& report, const std::string& name,
                               const DiscoveryText& text, DiscoveredTypes& types) {
  MachineSpec machine;
  machine.name = name;
  if (report.gpus.empty()) {
    add_cpus(report, std::max(1, text.cpu_devices), types, machine);
  } else {
    add_gpus(report, text.pcie_source, types, machine);
  }
  machine.nic = nic_of(report, text.interface);
  machine.note = note_of(report);
  return machine;
}

std::string machine_name_of(const std::string& host, std::set<std::string>& taken) {
  std::string name = host.substr(0, host.find('.')).substr(0, 56);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 127 || std::string_view(":>/,").find(c) != std::string_view::npos)
      c = '-';
  }
  if (name.empty()) name = "machine";
  for (const std::string_view link : {"net", "network", "fabric", "host"})
    if (name == link) name += "-1";
  const std::string first = name;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", first, i);
  return name;
}

}  // namespace strato
