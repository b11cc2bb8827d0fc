// The process of one rank: arguments, log, plugins, where the ranks meet, and how failures end it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/plugin/load/plugin_registry.h"

namespace strato::worker {

struct WorkerArguments {
  std::filesystem::path job;
  int rank = -1;
  std::string host;        // of rank 0; empty: from the job's folder, where rank 0 writes it
  std::uint16_t port = 0;  // 0: rank 0 takes a free one
  // Address or network interface to listen on; empty: the one that reaches the host.
  std::string interface;
  bool leash = false;  // ends when standard input does
};

// The rank that a launcher gave this process in its environment; -1: none did.
int rank_of_environment();

// Returns the exit status (see guard.h). Ends the process instead where threads may be stuck.
int run_worker(const WorkerArguments& arguments, const PluginRegistry& plugins);

}  // namespace strato::worker
