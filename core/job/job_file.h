// job.json (internal to core/job).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/job/job.h"

namespace strato {

// A file beside job.json: its size is checked before it is read, its digest afterwards.
struct StagedFile {
  std::uintmax_t bytes = 0;
  Digest digest;
};
StagedFile staged(const std::string& content);
// Throws InputError when the file is not the one that was staged.
std::string read_staged(const std::filesystem::path& file, const StagedFile& expected);

struct JobFile {
  struct Rank {
    std::string device;
    DeviceId id;
    int machine = 0;
    StagedFile program;
  };
  std::string name;
  JobOptions options;
  Nanos predicted;
  StagedFile graph;
  Digest graph_digest;
  Digest programs;
  std::vector<Rank> ranks;
};

std::string to_json(const JobFile& job);
JobFile parse_job(const std::string& json, const std::string& file);

// Throws InputError (place: the option) for what no worker can run, or a name that is not plain.
void check_options(const JobOptions& options, const std::string& file);

inline std::string rank_file(int rank) { return "rank-" + std::to_string(rank) + ".bin"; }

}  // namespace strato
