// A cluster file from the machines that a launcher reaches: one rank a machine tells what it has,
// and where asked for, the bandwidth between their devices is measured. The one way that the
// command line and the window share. Blocks; safe from any thread that calls it.
//
// The ranks are started as those of any job, in a folder beside the jobs that run plans (job.h):
//
//   discover.json     how many ranks there are
//   machine-<r>.json  what rank r's machine has (core/cluster/read/discovered_cluster.h)
//   result.json       written by rank 0 when all have told
//
// What reads it throws InputError for what is not such a folder, and is safe from any process.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/plugin/use/launching.h"

namespace strato {

struct DiscoveryJob {
  static constexpr int kVersion = 1;
  int ranks = 1;
  std::chrono::seconds timeout{60};  // that rank 0 waits for the others
};

// The folder is a new one, or one of an earlier job, whose files go but for checkpoints.
void stage_discovery(const std::filesystem::path& folder, const DiscoveryJob& job);
bool is_discovery(const std::filesystem::path& folder);
DiscoveryJob load_discovery(const std::filesystem::path& folder);

void write_report(const std::filesystem::path& folder, int rank, const MachineReport& report);
// Nothing: it is not there yet.
std::optional<MachineReport> find_report(const std::filesystem::path& folder, int rank);
// Rank 0's last word: launchers take it for the sign that the job has done its work.
void finish_discovery(const std::filesystem::path& folder, const DiscoveryJob& job);
// Reads the reports by rank. Throws InputError when one is missing.
std::vector<MachineReport> read_reports(const std::filesystem::path& folder);

struct DiscoverOptions {
  std::string launcher = "local";
  // The launcher's own. How many machines: "nodes", else the hosts of "hostfile", else one.
  LaunchSettings settings;
  std::filesystem::path folder;  // of the jobs, on a path that all nodes see
  std::filesystem::path worker;  // stratoscope-worker
  std::string name = "Discovered cluster";
  std::string source;   // written into the file: who asked and when
  int cpu_devices = 1;  // of a machine without GPUs
  bool measure = false;
};

struct Discovered : JobEnd {
  std::string cluster;               // text of the file
  std::vector<std::string> remarks;  // what a person should know, a sentence each
  bool unmeasured = false;  // links could not be measured: a remark says why, and the logs more
};

// `progress` is called on this thread. Throws InputError when nothing can be started.
Discovered discover(Launcher& launcher, const DiscoverOptions& options,
                    const GpuCatalogue& catalogue, const std::stop_token& stop,
                    const std::function<void(const std::string&)>& progress);

// Throws InputError for "nodes" that is no number from 1 and for a host file that names none.
int machines_named(const LaunchSettings& settings);

}  // namespace strato
