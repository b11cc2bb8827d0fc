// A job as one of its ranks loads it: what the rank needs; the programs of other ranks are not
// read. Throws InputError for a folder that is not whole, or of which a file has changed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/job/job.h"

namespace strato {

struct RankJob {
  JobOptions options;
  std::string name;
  int rank = 0, ranks = 1;
  std::vector<std::string> devices;
  std::vector<DeviceId> device_of_rank;
  std::shared_ptr<const Graph> graph;
  std::optional<JobPlan> plan;  // `program` is to be made from it
  RankProgram program;
  std::string digest;  // job_digest()
  std::string secret;
};
RankJob load_rank(const std::filesystem::path& folder, int rank);
// Throws InputError (file: `name`) when the program is another rank's, or talks to devices that
// have no rank.
void expect_own_program(const RankJob& job, const std::string& name);

}  // namespace strato
