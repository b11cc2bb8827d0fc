// What this machine has: asked of the system and of the driver of its GPUs.
#pragma once

#include <filesystem>
#include <string>

#include "app/worker/events.h"
#include "app/worker/worker.h"
#include "core/cluster/read/discovered_cluster.h"

namespace strato::worker {

// Where it is asked; a test has its own.
struct SystemPlaces {
  std::filesystem::path proc = "/proc", sys = "/sys";
  std::string nvml = "libnvidia-ml.so.1";  // loaded when there is one
};

// Never throws for what the machine does not tell.
MachineReport report_machine(const SystemPlaces& places = {});

// One rank of a discovery (core/launch/discover/discover.h). Rank 0 waits for the others.
// Throws InputError.
void report_rank(const WorkerArguments& arguments, Events& events);

}  // namespace strato::worker
