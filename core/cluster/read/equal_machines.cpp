#include "core/cluster/read/equal_machines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/cluster/read/gpu_ports.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

constexpr std::array kNetworks = {
    NetworkKind{"800G-IB", "800 Gb/s InfiniBand per GPU", 800, true},
    NetworkKind{"400G-IB", "400 Gb/s InfiniBand per GPU", 400, true},
    NetworkKind{"200G-IB", "200 Gb/s InfiniBand per GPU", 200, true},
    NetworkKind{"100G-IB", "100 Gb/s InfiniBand per GPU", 100, true},
    NetworkKind{"400GbE", "400 Gb/s Ethernet per machine", 400, false},
    NetworkKind{"100GbE", "100 Gb/s Ethernet per machine", 100, false},
    NetworkKind{"25GbE", "25 Gb/s Ethernet per machine", 25, false},
    NetworkKind{"10GbE", "10 Gb/s Ethernet per machine", 10, false}};

std::size_t network_named(std::string_view name) {
  const auto found = std::ranges::find_if(
      kNetworks, [&](const NetworkKind& kind) { return same_ignoring_case(kind.name, name); });
  return static_cast<std::size_t>(found - kNetworks.begin());
}

constexpr std::int64_t kMostDevices = 16'384, kMostOfAMachine = 1024;
constexpr double kFabricLatency = 2, kHostLatency = 4, kInfinibandLatency = 3, kEthernetLatency = 6;
constexpr std::int64_t kHostMemoryOfAGpu = std::int64_t{256} << 30;

struct LinkRate {
  std::string_view architecture, kind;
  double gbps;  // 10^9 bytes per second and direction
};
// NVIDIA's and AMD's data sheets, one link of the board.
constexpr LinkRate kBoardLinks[] = {{"Pascal", "nvlink1", 20},    {"Volta", "nvlink2", 25},
                                    {"Ampere", "nvlink3", 25},    {"Hopper", "nvlink4", 25},
                                    {"Blackwell", "nvlink5", 50}, {"CDNA 3", "xgmi3", 64},
                                    {"CDNA 4", "xgmi4", 76.8}};

LinkSpec slot_of(const GpuType& gpu) {
  const int generation = std::max(3, ports_of(gpu).pcie_generation);
  const double gbps = generation >= 5 ? 50 : generation == 4 ? 25 : 12;
  return {fmt::format("pcie{}x16", generation), gbps, kHostLatency};
}

std::optional<LinkSpec> board_of(const GpuType& gpu) {
  const auto link = std::ranges::find(kBoardLinks, gpu.architecture, &LinkRate::architecture);
  const int links = board_links_of(gpu);
  if (links == 0 || link == std::end(kBoardLinks)) return std::nullopt;
  return LinkSpec{std::string(link->kind), links * link->gbps, kFabricLatency};
}

[[noreturn]] void refuse_name(const std::string& file, std::string what, std::string remedy) {
  throw InputError(file, "", std::move(what), std::move(remedy));
}

const GpuType& gpu_of(const EqualMachines& machines, const std::string& file,
                      const GpuCatalogue& catalogue) {
  if (const GpuType* gpu = catalogue.find(machines.gpu)) return *gpu;
  refuse_name(
      file,
      fmt::format("is no file and no sample, and \"{}\" is no GPU that is known", machines.gpu),
      fmt::format("write GPU-MACHINESxGPUS (h100-8x8) with a GPU of \"stratoscope-cli list "
                  "gpus\", such as {}",
                  fmt::join(catalogue.nearest(machines.gpu), ", ")));
}

void check_numbers(const EqualMachines& machines, const std::string& file) {
  const auto [name, count, gpus, network] = machines;
  if (count < 1 || gpus < 1 || gpus > kMostOfAMachine)
    refuse_name(file, fmt::format("has {} machines of {} GPUs", count, gpus),
                fmt::format("give at least one machine, of 1 to {} GPUs", kMostOfAMachine));
  if (count > kMostDevices / gpus)
    refuse_name(file, fmt::format("has {} machines of {} GPUs", count, gpus),
                fmt::format("give {} GPUs at most in all", kMostDevices));
}

// Each GPU's card is reached by a link as wide: cards that machines share out evenly (rails).
void wire(MachineSpec& machine, const GpuType& gpu, const NetworkKind& network) {
  const auto gpus = static_cast<double>(machine.gpus.front().count);
  const LinkSpec pcie = slot_of(gpu);
  const std::optional<LinkSpec> board = board_of(gpu);
  const double latency = network.of_each_gpu ? kInfinibandLatency : kEthernetLatency;
  machine.fabric = board ? *board : pcie;
  if (network.of_each_gpu) {
    const double gbps = network.gigabits / 8;
    machine.host_link = LinkSpec{pcie.kind, gbps, kHostLatency};
    machine.nic = LinkSpec{fmt::format("{}x{}", machine.gpus.front().count, network.name),
                           gpus * gbps, latency};
  } else {
    if (board) machine.host_link = pcie;
    machine.nic = LinkSpec{std::string(network.name), network.gigabits / 8, latency};
  }
  if (board) machine.host_memory = Bytes(machine.gpus.front().count * kHostMemoryOfAGpu);
}

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0
                 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                 : '-';
  return plain;
}

}  // namespace

std::span<const NetworkKind> network_kinds() { return kNetworks; }

std::size_t usual_network_of(const GpuType& gpu) {
  if (board_links_of(gpu) == 0) return network_named("100GbE");
  if (gpu.name.starts_with("B300")) return network_named("800G-IB");
  if (gpu.architecture == "Ampere") return network_named("200G-IB");
  const bool old = gpu.architecture == "Volta" || gpu.architecture == "Pascal";
  return network_named(old ? "100G-IB" : "400G-IB");
}

std::optional<EqualMachines> equal_machines_from(std::string_view name) {
  EqualMachines machines;
  for (std::size_t i = 0; i < kNetworks.size(); ++i) {
    const std::string_view kind = kNetworks[i].name;
    if (name.size() <= kind.size() + 1) continue;
    const std::size_t begin = name.size() - kind.size();
    if (name[begin - 1] != '-' || !same_ignoring_case(name.substr(begin), kind)) continue;
    machines.network = i;
    name = name.substr(0, begin - 1);
    break;
  }
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view numbers = name.substr(dash + 1);
  const std::size_t x = numbers.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  const auto count = number_from<std::int64_t>(std::string(numbers.substr(0, x)));
  const auto gpus = number_from<std::int64_t>(std::string(numbers.substr(x + 1)));
  if (!count || !gpus) return std::nullopt;
  machines.gpu = name.substr(0, dash);
  machines.machines = *count;
  machines.gpus = *gpus;
  return machines;
}

bool names_equal_machines(const std::filesystem::path& path) {
  std::error_code error;
  const std::string name = path.string();
  return path.filename() == path && equal_machines_from(name) &&
         !std::filesystem::exists(path, error);
}

std::string short_name_of(const GpuType& gpu) {
  std::string_view shortest = gpu.name;
  for (const std::string& alias : gpu.aliases)
    if (alias.size() < shortest.size()) shortest = alias;
  return std::string(shortest);
}

std::string name_of(const EqualMachines& machines, const GpuCatalogue& catalogue) {
  const GpuType* gpu = catalogue.find(machines.gpu);
  std::string name = fmt::format("{}-{}x{}", plain_name(gpu ? short_name_of(*gpu) : machines.gpu),
                                 machines.machines, machines.gpus);
  if (machines.network && !(gpu && *machines.network == usual_network_of(*gpu)))
    name += fmt::format("-{}", kNetworks.at(*machines.network).name);
  return name;
}

std::string equal_machines_cluster(const EqualMachines& machines, const std::string& file,
                                   const GpuCatalogue& catalogue) {
  const GpuType& gpu = gpu_of(machines, file, catalogue);
  check_numbers(machines, file);
  const std::size_t usual = usual_network_of(gpu);
  const NetworkKind& network = kNetworks.at(machines.network.value_or(usual));
  const std::string short_name = short_name_of(gpu);
  MachineSpec machine;
  machine.name = plain_name(short_name);
  machine.count = machines.machines;
  machine.gpus = {{gpu.name, machines.gpus}};
  wire(machine, gpu, network);
  ClusterSpec spec;
  spec.name = machines.machines > 1
                  ? fmt::format("{} x {} {}", machines.machines, machines.gpus, short_name)
                  : fmt::format("{} {}", machines.gpus, short_name);
  if (machines.machines > 1 && &network != &kNetworks.at(usual))
    spec.name += fmt::format(", {}", network.name);
  spec.source = fmt::format("the name {}", name_of(machines, catalogue));
  spec.note = fmt::format(
      "Equal machines, of which only the GPUs ({} machines of {} {}) and the network ({}{}) were "
      "given. Assumed are links in a machine and latencies as data sheets of such GPUs have them, "
      "and a network without a bottleneck.",
      machines.machines, machines.gpus, gpu.name, network.words,
      machines.network ? "" : ", as such machines are sold");
  spec.gpus = {gpu};
  spec.machines = {std::move(machine)};
  spec.network = NetworkSpec{.latency_us = 1, .bandwidth_gbps = {}};
  return spec_to_json(spec).dump(2);
}

}  // namespace strato
