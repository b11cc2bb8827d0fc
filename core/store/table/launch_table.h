// The launches of a workspace. Its errors and threads are those of the workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/table/rows.h"

namespace strato {

// It is Running when the program that launched it was left; attaching to `job` tells how it is now.
enum class LaunchState : std::uint8_t { Finished, Failed, Cancelled, Running };
std::string_view name_of(LaunchState state);  // "finished", ...
struct StoredLaunch {                         // of a strategy on real processes
  LaunchRow id = 0;
  StrategyRow strategy = 0;
  std::string launcher;
  std::string options;  // JSON: engine, transport, device, steps, settings
  LaunchState state = LaunchState::Finished;
  std::int64_t predicted_ns = 0, measured_ns = 0;  // step times; measured: 0 when it failed
  std::string note;                                // the cause when it failed
  std::string created;                             // ISO 8601, UTC
  std::string result;       // text of the measured result (core/launch/job/job.h); may be empty
  std::string job, folder;  // for Launcher::attach(): "slurm:4711", and its folder; may be empty
};

class LaunchTable {
 public:
  explicit LaunchTable(store::Connection& connection) : connection_(connection) {}

  LaunchRow add(const StoredLaunch& launch);  // with its id when it has one: comes back
  void update(const StoredLaunch& launch);    // state, measured, note, result, job and folder
  void remove(LaunchRow launch);
  std::vector<StoredLaunch> all() const;  // without result
  std::optional<StoredLaunch> find(LaunchRow id) const;

 private:
  store::Connection& connection_;
};

}  // namespace strato
