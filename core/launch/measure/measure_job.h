// A measurement job: what the workers of a cluster are to measure into a profile
// (core/cost/value/profile.h), as a folder that any launcher starts, beside the job that runs a
// plan (job.h):
//
//   measure.json          what is measured by which ranks, versions and digests
//   graph-<i>.bin         a training graph at one batch size (core/graph/build/graph_file.h)
//   secret, log-<r>.txt, meeting.json, failure.json   as of every job (job.h, run_files.h)
//   profile.json          the result, which rank 0 writes: a profile that all cost options read
//   measured.json         what was left out, and why
//
// Values; throws InputError for what is not whole, and for names that would leave the folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"
#include "core/graph/value/graph.h"
#include "core/launch/job/job.h"
#include "core/plugin/use/launching.h"

namespace strato {

// The engine measures the ops; with a GPU, it holds the memory that is sent.
struct MeasureJobOptions : WorkerOptions {
  int repetitions = 5;  // steps at each batch size; short ones are repeated for a second
  // The budget is for all measurements together, without the ranks' meeting. What does not fit is
  // left out: large messages first, then whole pairs and sets, from the end of `probes`.
  std::chrono::milliseconds budget{60'000};
  // Messages double from the one to the other, as far as the ranks' memory allows.
  Bytes smallest{1024}, largest{std::int64_t{1} << 30};
};

// One pair or set of devices whose communication is measured.
struct Probe {
  std::optional<Collective> collective;  // nothing: a transfer from the first member to the second
  std::vector<int> members;              // ranks; of a collective ascending
};

struct MeasureJob {
  static constexpr int kVersion = 1;
  struct Rank {
    std::string device, gpu;  // names in the cluster; ops are noted under the GPU type's
    int machine = 0;          // index in the cluster
  };

  std::string name;  // of the model, or of the cluster
  MeasureJobOptions options;
  std::vector<Rank> ranks;
  std::vector<std::shared_ptr<const Graph>> graphs;  // one a batch size, falling; may be empty
  std::vector<Probe> probes;                         // the most useful first; may be empty
};

void stage_measure_job(const std::filesystem::path& folder, const MeasureJob& job);
bool is_measure_job(const std::filesystem::path& folder);

struct StagedMeasureJob {
  MeasureJob job;
  std::string digest;  // of all that is measured: peers compare it before they start
  std::string secret;
};
// Throws InputError when `rank` is none of the job's, too.
StagedMeasureJob load_measure_job(const std::filesystem::path& folder, int rank);

// Everything there is to measure on a cluster, by one rank a device: all ops of the graphs on each
// GPU type, the transfers of every pair both ways, and all-reduce, all-gather and reduce-scatter of
// all devices, of every machine's, of every GPU type's and of one device a machine. First one pair
// of each kind (which GPU types, one machine or two), then the sets, then the others.
MeasureJob make_measure_job(const Cluster& cluster, const std::string& name,
                            std::vector<std::shared_ptr<const Graph>> graphs,
                            const MeasureJobOptions& options);

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

struct MeasureRun : JobEnd {
  MeasureResult result;  // of a finished one
};

// Takes a measurement job from staging to its profile, the one way that the command line and the
// window share: stages `job` in `folder` (on a path that all nodes see), starts its ranks with the
// launcher's `settings`, and waits for its end. `worker`: see worker_program() of
// core/launch/measured. A stop request cancels it: no process is left. `progress` is called on this
// thread. Throws InputError when it cannot be staged or started.
MeasureRun measure_on(Launcher& launcher, const MeasureJob& job,
                      const std::filesystem::path& folder, const std::filesystem::path& worker,
                      const LaunchSettings& settings, const std::stop_token& stop,
                      const std::function<void(const MeasureEvent&)>& progress);

}  // namespace strato
