// `stratoscope-worker --profile`: the ops of a model on this machine alone, where there is no
// command line to ask (a node with the worker only). Over a cluster: 'stratoscope-cli profile
// --cluster'.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/plugin/load/plugin_registry.h"

namespace strato::worker {

struct ProfileHere {
  std::filesystem::path graph, output;
  std::optional<std::int64_t> batch;  // of the largest; its half, quarter and eighth too
  std::string engine = "torch", device = "cpu", optimizer = "adam";
  int threads = 1;
};

// Writes the profile. Throws InputError.
void profile_here(const ProfileHere& what, const PluginRegistry& plugins);

}  // namespace strato::worker
