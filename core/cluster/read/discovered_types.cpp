#include "core/cluster/read/discovered_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/cluster/spec/gpu_json.h"

namespace strato {
namespace {

// The driver may not tell: these are figures of a small card of 2016, and of the bundled local-cpu.
constexpr double kAssumedPeak = 5e12, kAssumedMemoryBandwidth = 250e9;
constexpr double kAssumedCpuBandwidth = 25e9, kAssumedMhz = 2450;
constexpr int kAssumedLanes = 16;
constexpr std::int64_t kAssumedMemory = std::int64_t{8} << 30;
constexpr double kMemoryTolerance = 0.15;  // drivers keep some, and ECC takes up to a sixteenth

bool same_type(const GpuType& a, const GpuType& b) {
  return same_ignoring_case(a.name, b.name) && a.memory == b.memory &&
         a.memory_bandwidth == b.memory_bandwidth && a.peak_flops == b.peak_flops;
}

bool same_memory(Bytes told, Bytes known) {
  return told.value == 0 || std::abs(told / known - 1) <= kMemoryTolerance;
}

const GpuType* find_known(const GpuCatalogue& catalogue, const GpuReport& gpu) {
  const GpuType* type = catalogue.find(gpu.name);
  return type != nullptr && same_memory(gpu.memory, type->memory) ? type : nullptr;
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

}  // namespace

std::string DiscoveredTypes::add(GpuType type) {
  const std::string name = type.name;
  for (int i = 2;; ++i) {
    const auto known = std::find_if(types_.begin(), types_.end(), [&](const GpuType& each) {
      return same_ignoring_case(each.name, type.name);
    });
    if (known == types_.end()) break;
    if (same_type(*known, type)) return known->name;
    type.name = fmt::format("{} ({})", name, i);
  }
  types_.push_back(type);
  return type.name;
}

std::string DiscoveredTypes::type_of(const GpuReport& gpu) {
  if (const GpuType* known = find_known(catalogue_, gpu)) return add(*known);
  return add(custom_type(gpu));
}

std::string DiscoveredTypes::type_of_cpu(const MachineReport& report, int devices) {
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
  return add(type);
}

}  // namespace strato
