// Following a launched job to its end: the one loop of all that wait for it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "core/plugin/api/launcher.h"

namespace strato {

struct JobEnd {
  JobState state = JobState::Failed;  // Finished, Failed or Cancelled
  std::string
      problem;  // as the launcher knows it, else what rank 0 told of a failure: rank and cause
};

// Blocks until the job is over. `line` gets everything that rank 0 writes, on this thread. A stop
// request cancels the job: no process is left. Throws what the job throws.
JobEnd follow(LaunchedJob& job, const std::stop_token& stop,
              const std::function<void(const std::string&)>& line);

}  // namespace strato
