// One machine reports its cores, memory, GPUs with their links, and network interfaces
// (stratoscope-worker --report). Many of them make a cluster file (discovered_cluster.h).
//
// Values; zero and empty mean that the machine did not tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace strato {

struct GpuReport {
  std::string name;  // as the driver says it: "Tesla V100-SXM2-32GB"
  std::string bus;   // of PCI: "00000000:06:00.0"
  Bytes memory;
  int cores = 0;                               // for fp32
  double clock_mhz = 0, memory_clock_mhz = 0;  // at most
  int memory_bus_bits = 0;
  std::string compute;                      // CUDA compute capability: "7.0"
  int pcie_generation = 0, pcie_lanes = 0;  // at most
  double nvlink_gbps = 0;                   // 10^9 bytes per second of one link, one direction
  std::vector<int> nvlinks;  // active links by the index of the GPU at their other end
  int switch_links = 0;      // active links to an NVLink switch
  bool mig = false;          // is split into instances
};

struct InterfaceReport {
  std::string name;  // "eth0", "mlx5_0:1"
  bool infiniband = false;
  double mbps = 0;  // 10^6 bits per second
};

struct MachineReport {
  static constexpr int kVersion = 1;
  std::string host;
  std::string cpu;  // its model
  int cores = 0;    // physical ones that programs may use
  double cpu_mhz = 0;
  int fp32_lanes = 0;  // multiply-adds of fp32 in one cycle of a core
  Bytes memory;
  std::string driver;       // of the GPUs: "535.54.03"
  std::string gpu_problem;  // why no GPU could be asked for; empty: they could
  std::vector<GpuReport> gpus;
  std::vector<InterfaceReport> interfaces;  // that are up and tell their speed, without loopback
};

std::string to_json(const MachineReport& report);  // one line
// Throws InputError (file: `name`) for anything that is not such a report.
MachineReport parse_machine_report(std::string_view json, const std::string& name);

}  // namespace strato
