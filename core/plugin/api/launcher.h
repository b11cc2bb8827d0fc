// Launchers: plugins that start a staged job's ranks on processes of this machine, under Slurm or
// by mpirun, and forward what rank 0 writes.
//
// Arguments reach other programs as argument vectors, never through a shell.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strato {

using LaunchSettings = std::map<std::string, std::string>;

struct LaunchRequest {
  std::filesystem::path folder;  // of the staged job, on a path that all nodes see
  std::filesystem::path worker;  // the executable stratoscope-worker
  int ranks = 1;
  std::vector<int> machines;  // by rank: ranks of one machine go to one node
  LaunchSettings settings;    // the launcher's own ("partition", "hostfile", …)
};

enum class JobState { Waiting, Running, Finished, Failed, Cancelled };
inline std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 5> kNames = {"waiting", "running", "finished", "failed",
                                                      "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}
inline bool is_over(JobState state) {
  return state != JobState::Waiting && state != JobState::Running;
}

// A job on its way. Destroying it lets the job go on where the launcher can be attached again, and
// ends it where it cannot (local). Not thread safe.
class LaunchedJob {
 public:
  virtual ~LaunchedJob() = default;
  // Enough for Launcher::attach(): "slurm:4711".
  virtual std::string id() const = 0;
  // Waits for the next line of rank 0's standard output, at most so long. Nothing: none came;
  // see state().
  virtual std::optional<std::string> next_line(std::chrono::milliseconds wait) = 0;
  virtual JobState state() = 0;
  // The failure, with the rank and the cause, as far as it is known. Empty: nothing did.
  virtual std::string problem() = 0;
  // Ends every process of the job within seconds; no error when it has ended.
  virtual void cancel() = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // One word for each setting that launch() understands, with its meaning.
  virtual std::vector<std::pair<std::string, std::string>> settings() const = 0;
  // Throws InputError when the ranks cannot be started (no sbatch, no such partition, …).
  virtual std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) = 0;
  // A job started earlier, perhaps by another process. Throws InputError when it is unknown or jobs
  // of this launcher end with the process that started them.
  virtual std::unique_ptr<LaunchedJob> attach(const std::string& id,
                                              const std::filesystem::path& folder) = 0;
};

}  // namespace strato
