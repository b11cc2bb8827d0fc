// What was measured over a cluster, for a person and for a script: how much of the model's step and
// of the cluster's communication the profile covers.
#pragma once

#include <string>

#include "core/launch/measure/measure_job.h"

namespace strato::cli {

struct ClusterProfileReport {
  const MeasureJob& job;
  const Cluster& cluster;
  const MeasureResult& result;
  std::string launcher, output;
};

std::string cluster_profile_json(const ClusterProfileReport& report, double wall_seconds);
std::string cluster_profile_text(const ClusterProfileReport& report);

}  // namespace strato::cli
