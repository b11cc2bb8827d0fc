// Real data of a launched job: the parameters that it starts from, its input batches, and the
// parameters that it ends with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/context.h"
#include "core/launch/job/job.h"

namespace strato::cli {

struct LaunchData {
  std::string weights = "auto";     // "auto", "seeded", "model", a file, or a checkpoint's folder
  std::vector<std::string> inputs;  // a folder, a .pt file, or name=FILE
  std::string keep;                 // a folder, or a file: .pt, .safetensors

  void declare(CLI::App& command);
  // Before anything runs: what it ends with can be written, and what it starts from does not lie
  // where the new job's data goes. `job`: its folder, empty: a temporary one. Throws InputError.
  void check(const std::filesystem::path& job) const;
  // Has the data staged with the job, once they are found to fit. Throws InputError.
  void add_to(Job& job, const LoadedModel& model) const;
  // A job that was staged with such options leaves the parameters that are to be kept. Throws
  // InputError.
  void check_kept(const JobOptions& staged) const;
  // Takes what the last step left out of the job's folder. Throws InputError.
  void keep_parameters(const std::filesystem::path& job, int steps) const;
};

}  // namespace strato::cli
