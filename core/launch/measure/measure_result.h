// A measurement job reports progress on its way and leaves a result; both are read and written
// here. measure_on() takes one from staging to its profile, on whatever a launcher starts: the one
// way that the command line and the window share.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/value/profile.h"
#include "core/launch/measure/measure_job.h"
#include "core/plugin/api/launcher.h"

namespace strato {

// Rank 0 tells it as a line of JSON, beside the events of every job (job.h: Started, Failed,
// Finished).
struct MeasureEvent {
  std::string what;  // under way: "batch 64 on V100", "v100:0 -> v100:1"
  std::int64_t done = 0, of = 0;
  std::chrono::milliseconds left{0};  // of the budget
};
std::string to_json_line(const MeasureEvent& event);                       // without the newline
std::optional<MeasureEvent> parse_measure_event(const std::string& line);  // nothing: another line

struct MeasureResult {
  Profile profile;
  std::vector<std::string> notes;  // what was left out and why, a sentence each
  double seconds = 0;              // what measuring took, to be held against the budget
};
void write_measure_result(const std::filesystem::path& folder, const MeasureResult& result);
MeasureResult read_measure_result(const std::filesystem::path& folder);

struct MeasureRun {
  JobState state = JobState::Failed;  // Finished, Failed or Cancelled
  std::string problem;                // of a failed one: the rank and the cause
  MeasureResult result;               // of a finished one
};

// Stages `job` in `folder` (on a path that all nodes see), starts its ranks with the launcher's
// `settings`, and waits for its end. `worker`: see worker_program() of core/launch/measured. A stop
// request cancels it: no process is left. `progress` is called on this thread. Throws InputError
// when it cannot be staged or started.
MeasureRun measure_on(Launcher& launcher, const MeasureJob& job,
                      const std::filesystem::path& folder, const std::filesystem::path& worker,
                      const LaunchSettings& settings, const std::stop_token& stop,
                      const std::function<void(const MeasureEvent&)>& progress);

// The same of a job that was started: follows it to its end.
MeasureRun follow_measuring(LaunchedJob& launched, const std::filesystem::path& folder,
                            const std::stop_token& stop,
                            const std::function<void(const MeasureEvent&)>& progress);

}  // namespace strato
