// A cluster file from what its machines report (machine_report.h), and from what was measured
// between them. Its notes say of every figure where it is from: reported by the machine, measured,
// or assumed.
//
// The cluster file assumes the worst where the cluster model cannot say more: where NVLinks do not
// join all GPUs of a machine, they count as joined by PCIe. Where they do, each GPU's port carries
// all of its links (what a ring reaches), also where a pair has only some of them; the note tells.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/read/machine_report.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"

namespace strato {

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
