// One worker process on this machine, on a leash: its standard input is a pipe that ends when this
// process does.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/process/child_process.h"
#include "core/launch/process/handle.h"

namespace strato {

struct RankProcess {
  ChildProcess process;
  Handle leash;
  std::optional<std::chrono::steady_clock::time_point> stopped_at;
};

// `output`: where its standard output goes; -1: into the log. Throws InputError.
RankProcess start_rank(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                       int output);

}  // namespace strato
