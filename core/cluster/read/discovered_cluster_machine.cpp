#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/disjoint_sets.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/spec/cluster_spec.h"

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

bool is_amd(const GpuReport& gpu) { return gpu.compute.starts_with("gfx"); }

// Of one xGMI link each way, as AMD's data sheets of MI50, MI100, MI250X, MI300X and MI350X have
// it.
double xgmi_of(const std::string& target) {
  if (target == "gfx950") return 76.8;
  if (target == "gfx942") return 64;
  return target == "gfx90a" ? 50 : 46;
}

// Returns what NVLink 1 to 5 carry, by the major number of the compute capability, or xGMI.
double nvlink_of(const GpuReport& gpu) {
  if (gpu.nvlink_gbps > 0) return gpu.nvlink_gbps;
  if (is_amd(gpu)) return xgmi_of(gpu.compute);
  const int major = std::atoi(gpu.compute.c_str());
  return major == 6 ? 20 : major >= 10 ? 50 : 25;
}

int direct_links(const GpuReport& gpu) {
  return std::accumulate(gpu.nvlinks.begin(), gpu.nvlinks.end(), 0);
}

// Of a GPU to another one by its index.
int links_to(const GpuReport& gpu, std::size_t other) {
  return other < gpu.nvlinks.size() ? gpu.nvlinks[other] : 0;
}

LinkSpec pcie_of(const std::vector<GpuReport>& gpus, const std::string& source) {
  const auto rate = [](const GpuReport& gpu) {
    return kPcieShare * pcie_lane(gpu.pcie_generation) * gpu.pcie_lanes;
  };
  const auto slowest = std::ranges::min_element(gpus, {}, rate);
  if (rate(*slowest) <= 0)
    return {"pcie", kAssumedPcie, 4, "assumed, PCIe 3.0 x16: the driver does not tell it"};
  return {
      fmt::format("pcie{}x{}", slowest->pcie_generation, slowest->pcie_lanes), rate(*slowest), 4,
      fmt::format("{}; {:.0f} % of the line rate assumed{}", source, kPcieShare * 100, kLatency)};
}

// Tells whether NVLinks lead from every GPU to every other one, also over GPUs between them.
bool all_joined(const std::vector<GpuReport>& gpus) {
  DisjointSets joined(gpus.size());
  const Numbers all{static_cast<std::int32_t>(gpus.size())};
  for (const std::int32_t a : all)
    for (const std::int32_t b : all)
      if (links_to(gpus[at(a)], at(b)) > 0) joined.join(a, b);
  const std::vector<std::int32_t> sets = joined.numbered();
  return std::ranges::count(sets, 0) == std::ssize(sets);
}

// Returns the link that the NVLinks of a GPU make together: of the GPU that reaches least with
// them.
template <class LinksOf>
LinkSpec nvlink_fabric(const std::vector<GpuReport>& gpus, const char* kind,
                       const LinksOf& links_of, const std::string& where) {
  double rate = 0;
  int links = 0;
  for (const GpuReport& gpu : gpus) {
    const int own = links_of(gpu);
    const double reached = own * nvlink_of(gpu);
    if (links > 0 && reached >= rate) continue;
    links = own;
    rate = reached;
  }
  const bool told =
      std::ranges::all_of(gpus, [](const GpuReport& gpu) { return gpu.nvlink_gbps > 0; });
  return {
      kind, rate, 2,
      fmt::format("{}: {} {} of each GPU {}{}", told ? "reported" : "number reported, rate assumed",
                  links, is_amd(gpus[0]) ? "xGMI links" : "NVLinks", where, kLatency)};
}

// "2", or "1 to 2" where not all pairs have as many.
std::string links_of_pairs(const std::vector<GpuReport>& gpus) {
  std::set<int> links;
  for (std::size_t a = 0; a < gpus.size(); ++a)
    for (std::size_t b = 0; b < gpus.size(); ++b)
      if (a != b) links.insert(links_to(gpus[a], b));
  const int fewest = *links.begin(), most = *links.rbegin();
  return fewest == most ? fmt::to_string(most) : fmt::format("{} to {}", fewest, most);
}

// Returns the link over which GPUs of a machine with several reach each other.
LinkSpec fabric_of(const std::vector<GpuReport>& gpus, const std::string& pcie_source) {
  const auto switch_links = [](const GpuReport& gpu) { return gpu.switch_links; };
  const auto is_linked = [](int links) { return links > 0; };
  if (std::ranges::all_of(gpus, is_linked, switch_links))
    return nvlink_fabric(gpus, "nvswitch", switch_links, "to a switch");
  if (all_joined(gpus))
    return nvlink_fabric(
        gpus, is_amd(gpus[0]) ? "xgmi" : "nvlink", direct_links,
        fmt::format("together, what a ring reaches; a pair is joined by {} of them",
                    links_of_pairs(gpus)));
  LinkSpec link = pcie_of(gpus, pcie_source);
  if (std::ranges::any_of(gpus, is_linked, switch_links) ||
      std::ranges::any_of(gpus, is_linked, direct_links))
    link.note += fmt::format("; {} join only some of the GPUs and are left out",
                             is_amd(gpus[0]) ? "xGMI links" : "NVLinks");
  return link;
}

LinkSpec nic_of(const MachineReport& report, const std::string& wanted) {
  const InterfaceReport* best = nullptr;
  for (const InterfaceReport& each : report.interfaces) {
    if (!wanted.empty() && each.name != wanted) continue;
    if (each.mbps > 0 && (best == nullptr || each.mbps > best->mbps)) best = &each;
  }
  if (best == nullptr)
    return {"10GbE", kAssumedNic, 20,
            (wanted.empty() ? "assumed: no network tells its speed"
                            : "assumed: " + wanted + " does not tell its speed")};
  return {fmt::format("{:g}{}", best->mbps / 1000, best->infiniband ? "IB" : "GbE"),
          std::clamp(best->mbps / 8000, 1e-6, 1e6), best->infiniband ? 5.0 : 20.0,
          fmt::format("line rate reported by {}{}", best->name, kLatency)};
}

std::string note_of(const MachineReport& report) {
  std::string note = "links of the GPUs reported";
  if (report.cores > 0)
    note = fmt::format("reported: {} cores, {:.1f} GiB of memory", report.cores,
                       static_cast<double>(report.memory.value) / (1 << 30));
  if (!report.driver.empty()) note += ", GPU driver " + report.driver;
  if (!report.gpu_problem.empty()) note += "; no GPU: " + report.gpu_problem;
  if (std::ranges::any_of(report.gpus, &GpuReport::mig))
    note += "; MIG is on: the GPUs are described as if they were whole";
  return note;
}

// The driver may not tell: these are figures of a small card of 2016, and of the bundled local-cpu.
constexpr double kAssumedPeak = 5e12, kAssumedMemoryBandwidth = 250e9;
constexpr double kAssumedCpuBandwidth = 25e9, kAssumedMhz = 2450;
constexpr int kAssumedLanes = 16;
constexpr std::int64_t kAssumedMemory = std::int64_t{8} << 30;
constexpr double kMemoryTolerance = 0.15;  // drivers keep some, and ECC takes up to a sixteenth

bool same_memory(Bytes told, Bytes known) {
  return told.value == 0 || std::abs(told / known - 1) <= kMemoryTolerance;
}

std::string trimmed(const std::string& text, const std::string& without) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return without;
  return text.substr(first,
                     std::min<std::size_t>(text.find_last_not_of(" \t\r\n") - first + 1, 64));
}

// A figure with where it is from.
double told_or(double told, double assumed, const std::string& what, const std::string& how,
               std::string& sources) {
  const bool any = std::isfinite(told) && told > 0;
  sources += fmt::format("{}{}: {}", sources.empty() ? "" : "\n", what,
                         any ? how : "assumed, the machine does not tell it");
  return any ? told : assumed;
}

GpuType custom_type(const GpuReport& gpu) {
  GpuType type;
  type.name = trimmed(gpu.name, "Unknown GPU");
  if (!gpu.compute.empty()) type.architecture = "compute capability " + gpu.compute;
  const double memory = static_cast<double>(gpu.memory.value);
  type.memory = Bytes(static_cast<std::int64_t>(
      told_or(memory, kAssumedMemory, "memory_bytes", "reported by the driver", type.sources)));
  type.memory_bandwidth = told_or(2e6 * gpu.memory_clock_mhz * gpu.memory_bus_bits / 8,
                                  kAssumedMemoryBandwidth, "memory_bandwidth_GBps",
                                  fmt::format("computed: 2 x {} MHz x {} bits, as reported",
                                              gpu.memory_clock_mhz, gpu.memory_bus_bits),
                                  type.sources);
  type.peak_flops[static_cast<std::size_t>(Precision::Fp32)] = told_or(
      2e6 * gpu.clock_mhz * gpu.cores, kAssumedPeak, "peak_tflops",
      fmt::format("computed: {} cores x 2 x {} MHz, as reported; tensor cores are not counted",
                  gpu.cores, gpu.clock_mhz),
      type.sources);
  return type;
}

GpuType cpu_type(const MachineReport& report, int devices) {
  GpuType type;
  const int cores = std::max(1, report.cores);
  const std::string share = devices > 1 ? fmt::format("1/{} of ", devices) : "";
  type.name = trimmed(fmt::format("{}{} x {}", share, cores, trimmed(report.cpu, "CPU")), "CPU");
  type.architecture = "CPU";
  const double memory = static_cast<double>(report.memory.value);
  type.memory = Bytes(static_cast<std::int64_t>(
      told_or(memory, kAssumedMemory, "memory_bytes", "reported by the system", type.sources) /
      devices));
  type.memory_bandwidth =
      told_or(0, kAssumedCpuBandwidth, "memory_bandwidth_GBps", "", type.sources) / devices;
  const double mhz = report.cpu_mhz > 0 ? report.cpu_mhz : kAssumedMhz;
  const int lanes = report.fp32_lanes > 0 ? report.fp32_lanes : kAssumedLanes;
  const std::string how =
      fmt::format("computed: {} cores x 2 x {} fp32 multiply-adds a cycle x {:.0f} MHz, {}", cores,
                  lanes, mhz, report.cpu_mhz > 0 ? "as reported" : "clock assumed");
  const double peak =
      told_or(2e6 * mhz * lanes * cores, kAssumedPeak, "peak_tflops", how, type.sources) / devices;
  type.peak_flops[static_cast<std::size_t>(Precision::Fp32)] = peak;
  type.peak_flops[static_cast<std::size_t>(Precision::Fp64)] = peak / 2;
  return type;
}

// Adds a type as one that is there, or under a name of its own. Returns its name in the file.
std::string add_type(GpuType type, std::vector<GpuType>& types) {
  const std::string name = type.name;
  for (int i = 2;; ++i) {
    const auto known = std::ranges::find_if(
        types, [&](const GpuType& each) { return same_ignoring_case(each.name, type.name); });
    if (known == types.end()) break;
    if (known->memory == type.memory && known->memory_bandwidth == type.memory_bandwidth &&
        known->peak_flops == type.peak_flops)
      return known->name;
    type.name = fmt::format("{} ({})", name, i);
  }
  types.push_back(type);
  return type.name;
}

void add_gpus(const MachineReport& report, const std::string& pcie_source,
              const GpuCatalogue& catalogue, std::vector<GpuType>& types, MachineSpec& machine) {
  for (const GpuReport& gpu : report.gpus) {
    const GpuType* found = gpu.type ? &*gpu.type : catalogue.find(gpu.name);
    const bool fits = found != nullptr && same_memory(gpu.memory, found->memory);
    const std::string type = add_type(fits ? *found : custom_type(gpu), types);
    const auto known = std::ranges::find(machine.gpus, type, &GpuCount::type);
    if (known != machine.gpus.end())
      ++known->count;
    else
      machine.gpus.push_back({type, 1});
  }
  if (report.gpus.size() > 1) machine.fabric = fabric_of(report.gpus, pcie_source);
  const bool nvlink = machine.fabric && !machine.fabric->kind.starts_with("pcie");
  if (report.host_gbps > 0)
    machine.host_link = {"nvlink-c2c", report.host_gbps, 2, fmt::format("reported{}", kLatency)};
  else if (nvlink || !machine.fabric)
    machine.host_link = pcie_of(report.gpus, pcie_source);
}

// A name that the file may have, and none of its machines has yet.
std::string machine_name_of(const std::string& host, const std::vector<MachineSpec>& machines) {
  std::string name = host.substr(0, host.find('.')).substr(0, 56);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 127 || kNameSeparators.find(c) != std::string_view::npos) c = '-';
  }
  if (name.empty()) name = "machine";
  if (std::ranges::find(kLinkNames, name) != std::end(kLinkNames)) name += "-1";
  const std::string first = name;
  const auto taken = [&] {
    return std::ranges::find(machines, name, &MachineSpec::name) != machines.end();
  };
  for (int i = 2; taken(); ++i) name = fmt::format("{}-{}", first, i);
  return name;
}

}  // namespace

void add_machine(const MachineReport& report, const DiscoveryText& text,
                 const GpuCatalogue& catalogue, ClusterSpec& spec) {
  MachineSpec machine;
  machine.name = machine_name_of(report.host, spec.machines);
  const int cpus = std::max(1, text.cpu_devices);
  if (!report.gpus.empty())
    add_gpus(report, text.pcie_source, catalogue, spec.gpus, machine);
  else
    machine.gpus.push_back({add_type(cpu_type(report, cpus), spec.gpus), cpus});
  if (report.gpus.empty() && cpus > 1)
    machine.fabric = {"shared memory", kAssumedShared, 5,
                      "assumed: what one copy reaches in a server's memory"};
  machine.nic = nic_of(report, text.interface);
  machine.note = note_of(report);
  spec.machines.push_back(std::move(machine));
}

}  // namespace strato
