// What a launch gave, for a person and for a script: measured beside predicted.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/measured.h"

namespace strato::cli {

struct LaunchReport {
  std::string launcher;
  JobOptions options;
  JobResult result;
  Comparison comparison;
};

Json launch_json(const LaunchReport& report, double wall_seconds);
std::string launch_text(const LaunchReport& report, double wall_seconds);

}  // namespace strato::cli
