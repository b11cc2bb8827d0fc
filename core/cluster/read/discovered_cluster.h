// A cluster file from what its machines report (stratoscope-worker --report): cores, memory, GPUs
// with their links, and network interfaces; and from what was measured between them. Its notes say
// of every figure where it is from: reported by the machine, measured, or assumed. Values.
//
// The cluster file assumes the worst where the cluster model cannot say more: where NVLinks do not
// join all GPUs of a machine, they count as joined by PCIe. Where they do, each GPU's port carries
// all of its links (what a ring reaches), also where a pair has only some of them; the note tells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {

// Of a machine and what is in it, zero and empty mean that the machine did not tell.
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
  std::vector<int> nvlinks;          // active links by the index of the GPU at their other end
  int switch_links = 0;              // active links to an NVLink switch
  bool mig = false;                  // is split into instances
  std::optional<GpuType> type = {};  // what it is known to be, in place of the catalogue's
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
  double host_gbps = 0;  // 10^9 bytes per second of NVLink C2C from a GPU to its CPU; 0: PCIe
};

std::string to_json(const MachineReport& report);  // one line
// Throws InputError (file: `name`) for anything that is not such a report.
MachineReport parse_machine_report(std::string_view json, const std::string& name);

// What one transfer reaches in one direction, between two machines or inside one.
struct MeasuredLink {
  std::string from, to;  // devices of the file: "n1:0"
  double bandwidth = 0;  // bytes per second
  Nanos latency;
};

struct ClusterSpec;

struct DiscoveryText {
  std::string name = "Discovered cluster";
  std::string source;     // how and when: "stratoscope-cli discover, launcher slurm, 2026-11-22"
  int cpu_devices = 1;    // of a machine without GPUs: they share its cores and memory evenly
  std::string interface;  // of the network; empty: the fastest that is up
  std::string pcie_source = "generation and lanes reported";
};

// One machine a report, in their order, named by its host. GPUs that the catalogue does not know,
// or knows with another memory, get a type of their own. The text is one that parse_cluster reads.
// Throws InputError for no report, and for more devices than a cluster may have.
std::string discovered_cluster(const std::vector<MachineReport>& reports, const DiscoveryText& text,
                               const GpuCatalogue& catalogue);

// Appends one machine, under a name that no other one has, and the types that its GPUs and CPUs
// need and `spec` does not have yet. A part of discovered_cluster().
void add_machine(const MachineReport& report, const DiscoveryText& text,
                 const GpuCatalogue& catalogue, ClusterSpec& spec);

// The same file with the figures of its links as they were measured, the mean over the pairs of
// devices: inside a machine those of its fabric, and of each pair of machines a link of its own.
// Keeps every number that was not measured. Throws InputError when `cluster` cannot be read;
// ignores what names no device of it.
std::string with_measured_links(std::string_view cluster, const std::string& file,
                                const std::vector<MeasuredLink>& links,
                                const GpuCatalogue& catalogue);

}  // namespace strato
