// A cluster file from the machines that a launcher reaches: one rank a machine tells what it has,
// and where asked for, the bandwidth between their devices is measured. The one way that the
// command line and the window share.
//
// Blocks; safe from any thread that calls it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/plugin/api/launcher.h"

namespace strato {

struct DiscoverOptions {
  std::string launcher = "local";
  // The launcher's own. How many machines: "nodes", else the hosts of "hostfile", else one.
  std::map<std::string, std::string> settings;
  std::filesystem::path folder;  // of the jobs, on a path that all nodes see
  std::filesystem::path worker;  // stratoscope-worker
  std::string name = "Discovered cluster";
  std::string source;   // written into the file: who asked and when
  int cpu_devices = 1;  // of a machine without GPUs
  bool measure = false;
};

struct Discovered {
  JobState state = JobState::Failed;  // Finished, Failed or Cancelled
  std::string problem;                // of a failed one: the rank and the cause
  std::string cluster;                // text of the file
  std::vector<std::string> remarks;   // what a person should know, a sentence each
  bool unmeasured = false;  // links could not be measured: a remark says why, and the logs more
};

// `progress` is called on this thread. Throws InputError when nothing can be started.
Discovered discover(Launcher& launcher, const DiscoverOptions& options,
                    const GpuCatalogue& catalogue, const std::stop_token& stop,
                    const std::function<void(const std::string&)>& progress);

// Throws InputError for "nodes" that is no number from 1 and for a host file that names none.
int machines_named(const std::map<std::string, std::string>& settings);

}  // namespace strato
