// A job: a plan made ready to run, as a folder that a launcher hands to the workers.
//
//   job.json      what runs, versions and digests; options; no code, no absolute paths
//   graph.bin     the training graph (core/graph/build/graph_file.h)
//   job-plan.json the plan, of which every rank makes its own program (two-stage rewriting,
//                 AutoDist 2.3), with job-calibration.json and job-profile.json, where its costs
//                 need them
//   rank-<r>.bin  in place of a plan: one rank's program (core/program/rank/rank_program.h)
//   secret        random, readable by its owner only; every peer presents it
//   log-<r>.txt   what the rank wrote to standard error
//   result.json, tasks.bin   what rank 0 gathered at the end
//   weights/, inputs/        parameters and input batches that are not synthetic (core/data)
//   checkpoint-<step>/       see app/worker
//
// Written to a temporary name and renamed: a folder with job.json is whole. Everything read is
// checked before use: sizes, digests, names that would leave the folder. Throws InputError.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"

namespace strato {

// What the workers of every kind of job are told.
struct WorkerOptions {
  std::string engine = "torch";    // a plugin: "torch" computes, "replay" takes the simulated times
  std::string transport = "gloo";  // a plugin: "gloo", "nccl"
  std::string device = "cpu";      // "cpu", "cuda"
  std::uint64_t seed = 1;
  int threads = 1;                   // of the CPU, for one op
  std::chrono::seconds timeout{60};  // a rank without progress for so long is hung
};

struct JobOptions : WorkerOptions {
  int steps = 5;
  int warm_up = 1;  // of the steps: not in the mean step time
  std::optional<double> learning_rate;
  int checkpoint_every = 0;      // steps; 0: none but what `keep_parameters` asks
  bool keep_parameters = false;  // write a checkpoint after the last step
  std::string resume;            // name of a checkpoint folder inside the job's; empty: fresh
  bool weights = false;          // parameters are in the folder's weights/, else seeded
  bool inputs = false;           // input batches are in the folder's inputs/, else synthetic
};

// A rank makes its own program from this, beside the graph: texts, which are read the same
// everywhere (core/launch/measured/make_job.h).
struct JobPlan {
  std::string plan;         // core/strategy/file/plan_file.h
  std::string calibration;  // core/cost/value/calibration.h; empty: the standard one
  std::string profile;      // core/cost/value/profile.h; empty: nothing was measured
  bool priorities = true, fair_links = false;  // SimulateOptions, of the order of tasks
  Digest digest;                               // of the problem and the strategy that they are
};

struct Job {
  static constexpr int kVersion = 2;
  std::string name;  // of the plan
  JobOptions options;
  std::shared_ptr<const Graph> graph;
  // Nothing: `programs` are shipped, which no plan makes in this order, or with these times.
  std::optional<JobPlan> plan;
  RankPrograms programs;             // empty where there is a plan
  std::vector<DeviceId> device_ids;  // of a plan, by rank; of programs they say it
  std::vector<std::string> devices;  // by rank: the device's name in the cluster
  std::vector<int> machines;         // by rank: the machine's index in the cluster
  Nanos predicted;                   // simulated step time
  // Writes weights/ and inputs/ into the new folder; may be empty when the options ask for neither.
  std::function<void(const std::filesystem::path& folder)> write_data;
};

void stage_job(const std::filesystem::path& folder, const Job& job);
// Returns the digest of what runs, without options, as hexadecimal digits. Peers compare it before
// the first step.
std::string job_digest(const Job& job);

// A job as one of its ranks loads it: what the rank needs; the programs of other ranks are not
// read. Throws InputError for a folder that is not whole, or of which a file has changed.
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
