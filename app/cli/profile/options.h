// What `profile` is asked for: on this machine, or over a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/context.h"
#include "app/cli/launch_options.h"

namespace CLI {
class App;
}

namespace strato::cli {

struct Command;

struct ProfileOptions {
  ModelOptions model;
  std::string device = "cpu", merged, output;
  std::vector<std::int64_t> batches;
  int repetitions = 5, threads = 1;
  std::uint64_t seed = 1;

  // Over a cluster, by one rank a device.
  std::string cluster;  // empty: this machine
  LaunchOptions launch;
  std::string budget = "60s", folder;
  std::int64_t largest = std::int64_t{1} << 30;

  void declare(CLI::App& command);
};

// Graphs by falling batch size; by default `by_default` of the model's own batch. A model that
// cannot be bound to one of those is measured at the others. `name`: the model's. Throws
// InputError.
std::vector<std::shared_ptr<const Graph>> graphs_of(
    const ProfileOptions& options, std::string& name,
    const std::function<std::vector<std::int64_t>(std::int64_t)>& by_default);

// Measures over the cluster of `options`, started by its launcher. Returns the exit status.
int profile_cluster(const ProfileOptions& options, const Command& command);

}  // namespace strato::cli
