// job.json (internal to core/launch).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/launch/job/job.h"
#include "core/launch/job/staged_file.h"

namespace strato {

struct JobFile {
  struct Rank {
    std::string device;
    DeviceId id;
    int machine = 0;
    StagedFile program;  // nothing of it where there is a plan
  };
  std::string name;
  JobOptions options;
  Nanos predicted;
  StagedGraph graph;
  std::optional<StagedPlan> plan;
  Digest programs;  // of the plan and its ranks, or of the ranks' programs
  std::vector<Rank> ranks;
};
Digest digest_of_programs(const JobFile& job);

std::string to_json(const JobFile& job);
JobFile parse_job(const std::string& json, const std::string& file);

// Throws InputError (place: the option) for what no worker can run, or a name that is not plain.
void check_options(const JobOptions& options, const std::string& file);

inline std::string rank_file(int rank) { return "rank-" + std::to_string(rank) + ".bin"; }

}  // namespace strato
