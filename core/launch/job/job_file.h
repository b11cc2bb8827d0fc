// A job's folder, whatever kind of job it holds; job.json, and the files beside it, which are
// written down with size and digest and read only if they are the same (internal to core/launch).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/graph/value/graph.h"
#include "core/io/json.h"
#include "core/launch/job/job.h"

namespace strato {

// Fills a new folder, which gets its name when `write` is done; or one that an earlier job left,
// whose files are taken away first, but for checkpoints. Throws InputError for a folder of other
// things, one that everybody may write to, or where nothing can be written.
void stage_folder(const std::filesystem::path& folder,
                  const std::function<void(const std::filesystem::path&)>& write);

// A random one that nobody else can open at any time. Throws InputError; for reading also when
// others may read the file or write to the folder.
void write_secret(const std::filesystem::path& folder);
std::string read_secret(const std::filesystem::path& folder);

// A file beside job.json: its size is checked before it is read, its digest afterwards.
struct StagedFile {
  std::uintmax_t bytes = 0;
  Digest digest;
};
StagedFile staged(const std::string& content);
// Throws InputError when the file is not the one that was staged.
std::string read_staged(const std::filesystem::path& file, const StagedFile& expected);
Json to_json(const StagedFile& file);
StagedFile staged_file_from(const JsonView& view);

// A file with a graph, which has to be understood as it was when it was staged.
struct StagedGraph {
  StagedFile file;
  Digest graph;
};
StagedGraph stage_graph(const std::filesystem::path& file, const Graph& graph);
std::shared_ptr<const Graph> read_staged(const std::filesystem::path& file,
                                         const StagedGraph& expected);
Json to_json(const StagedGraph& graph);
StagedGraph staged_graph_from(const JsonView& view);

// A JobPlan's files.
struct StagedPlan {
  StagedFile plan;
  std::optional<StagedFile> calibration, profile;
  bool priorities = true, fair_links = false;
  Digest digest;  // of the problem and the strategy
};
StagedPlan stage_plan(const std::filesystem::path& folder, const JobPlan& plan);
JobPlan read_staged(const std::filesystem::path& folder, const StagedPlan& expected);

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

// A number that an int holds, from `low` on. Throws InputError.
inline int count_from(const JsonView& view, std::int64_t low) {
  return static_cast<int>(view.integer(low, std::numeric_limits<int>::max()));
}
void read_worker_options(const JsonView& view, WorkerOptions& options);
// Both throw InputError (place: the option) for what no worker can run, or a name that is not
// plain.
void check_worker_options(const WorkerOptions& options, const std::string& file);
void check_options(const JobOptions& options, const std::string& file);

// Throws InputError when `rank` is none of the job's.
void check_rank(int rank, int ranks, const std::string& file);

inline std::string rank_file(int rank) { return "rank-" + std::to_string(rank) + ".bin"; }

}  // namespace strato
