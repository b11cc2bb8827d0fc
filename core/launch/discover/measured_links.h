// Bandwidth and latency between the devices of a cluster, measured by a job of their own
// (core/profiling). Private to this folder.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cluster/read/discovered_cluster.h"
#include "core/cost/value/profile.h"
#include "core/plugin/api/launcher.h"

namespace strato {

struct LinkRequest {
  const Cluster& cluster;
  std::filesystem::path folder, worker;
  std::map<std::string, std::string> settings;  // the launcher's
};

struct LinkMeasurement {
  JobState state = JobState::Failed;
  std::string problem;
  std::vector<MeasuredLink> links;
  std::vector<std::string> notes;
};

LinkMeasurement measure_links(Launcher& launcher, const LinkRequest& request,
                              const std::stop_token& stop,
                              const std::function<void(const std::string&)>& progress);

// Fits a link to a transfer's times by size: the latency is that of the smallest message, the
// bandwidth is what the largest reaches beyond it.
MeasuredLink link_of(const TransferProfile& transfer);

}  // namespace strato
