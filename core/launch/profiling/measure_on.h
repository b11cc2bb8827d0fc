// A measurement job from staging to its profile, on whatever a launcher starts: the one way that
// the command line and the window share.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "core/launch/measure/measure_job.h"
#include "core/launch/measure/measure_result.h"
#include "core/plugin/api/launcher.h"

namespace strato {

struct MeasureRun {
  JobState state = JobState::Failed;  // Finished, Failed or Cancelled
  std::string problem;                // of a failed one: the rank and the cause
  MeasureResult result;               // of a finished one
};

// Stages `job` in `folder` (on a path that all nodes see), starts its ranks with the launcher's
// `settings`, and waits for its end. `worker`: see worker_program() of core/measured. A stop
// request cancels it: no process is left. `progress` is called on this thread. Throws InputError
// when it cannot be staged or started.
MeasureRun measure_on(Launcher& launcher, const MeasureJob& job,
                      const std::filesystem::path& folder, const std::filesystem::path& worker,
                      const std::map<std::string, std::string>& settings,
                      const std::stop_token& stop,
                      const std::function<void(const MeasureEvent&)>& progress);

// The same of a job that was started: follows it to its end.
MeasureRun follow_measuring(LaunchedJob& launched, const std::filesystem::path& folder,
                            const std::stop_token& stop,
                            const std::function<void(const MeasureEvent&)>& progress);

}  // namespace strato
