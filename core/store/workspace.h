// The workspace: one .strata file (SQLite, WAL, schema version) that keeps models, clusters,
// strategies, runs and results. Values are kept once, by digest; large ones compressed (zstd).
//
// Several processes may have the same file open (window and command line); writers wait for each
// other briefly. One Workspace object per thread. Every failure is an InputError that names the
// file: not SQLite, from a newer version, read-only, full disk. A crash loses at most the last
// second of a search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/store/annotation.h"

namespace strato {

using ModelRow = std::int64_t;  // SQLite row ids
using ClusterRow = std::int64_t;
using StrategyRow = std::int64_t;
using RunRow = std::int64_t;
using TrainingRow = std::int64_t;
using LaunchRow = std::int64_t;
using QueuedRow = std::int64_t;

struct StoredModel {
  ModelRow id = 0;
  std::string name, path;  // where it was read from
  std::string options;     // JSON: batch, optimizer, groups
  Digest digest;           // of the training graph
  std::string
      content;  // serialised forward graph (graph_file.h), so that the workspace stands alone
};
struct StoredCluster {
  ClusterRow id = 0;
  std::string name, json;
  Digest digest;
};
enum class Origin : std::uint8_t { Run, Edit, Import };
struct StoredStrategy {
  StrategyRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::optional<StrategyRow> parent;  // the strategy that it was edited from
  std::optional<RunRow> run;          // the run that found it
  Origin origin = Origin::Run;
  std::string label;
  std::string json;  // strategy_file.h text
  Digest digest;
  std::int64_t step_time_ns = 0;
  bool feasible = false;
  std::string created;  // ISO 8601, UTC
};
enum class RunState : std::uint8_t { Running, Paused, Finished, Stopped, Failed };
std::string_view name_of(RunState state);  // "running", ...
struct StoredRun {
  RunRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::string planner;
  std::string options;  // JSON: iterations, budget, seed, set
  RunState state = RunState::Running;
  std::optional<StrategyRow> best;
  std::int64_t baseline_ns = 0, best_ns = 0, evaluations = 0;
  double wall_seconds = 0;
  std::string note, created;
};
struct HistoryPoint {  // one improvement, or one heartbeat, of a run
  std::int64_t evaluations = 0;
  double elapsed_seconds = 0;
  std::int64_t best_ns = 0;
};

struct StoredTraining {  // of a planner that learns
  TrainingRow id = 0;
  std::string planner, options;  // options: JSON
  std::string weights;           // the file that it writes
  std::string created;
};
struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> held_out_loss;
  double elapsed_seconds = 0;
};

// Running: when the program that launched it was left; attaching to `job` tells how it is now.
enum class LaunchState : std::uint8_t { Finished, Failed, Cancelled, Running };
std::string_view name_of(LaunchState state);  // "finished", ...
struct StoredLaunch {                         // of a strategy on real processes
  LaunchRow id = 0;
  StrategyRow strategy = 0;
  std::string launcher;
  std::string options;  // JSON: engine, transport, device, steps, settings
  LaunchState state = LaunchState::Finished;
  std::int64_t predicted_ns = 0, measured_ns = 0;  // step times; measured: 0 when it failed
  std::string note;                                // the cause when it failed
  std::string created;                             // ISO 8601, UTC
  std::string result;       // text of the measured result (core/launch/job/job.h); may be empty
  std::string job, folder;  // for Launcher::attach(): "slurm:4711", and its folder; may be empty
};

struct StoredQueued {  // a search that has not begun
  QueuedRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::string planner;
  std::string options;  // as a run's
  std::string
      groups;  // strategy_file.h text that names their ops; empty: as the model's options say
  std::string created;  // ISO 8601, UTC
};

class Workspace {
 public:
  static constexpr int kSchemaVersion = 6;
  // Opens, or creates when there is no such file. `read_only` never writes, not even the schema: a
  // file of an older version is read into memory as it is now, and data_version() stays.
  explicit Workspace(const std::filesystem::path& file, bool read_only = false);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  const std::filesystem::path& file() const;

  ModelRow add(const StoredModel& model);  // the row that is there, when the digest and options are
  ClusterRow add(const StoredCluster& cluster);
  // A strategy that is there already for model and cluster keeps its first parent and name; but
  // what runs only had on their way to their best is taken over by what is of no run.
  StrategyRow add(const StoredStrategy& strategy);
  RunRow add(const StoredRun& run);
  void update(const StoredRun& run);  // state, best, figures, note
  void add_history(RunRow run, const HistoryPoint& point);
  void save_tree(RunRow run, std::string_view bytes);
  TrainingRow add(const StoredTraining& training);
  void add_loss(TrainingRow training, const LossPoint& point);
  LaunchRow add(const StoredLaunch& launch);  // with its id when it has one: comes back
  void update(const StoredLaunch& launch);    // state, measured, note, result, job and folder
  void remove_launch(LaunchRow launch);
  QueuedRow add(const StoredQueued& queued);  // behind those that are there
  void remove_queued(QueuedRow queued);
  void order_queued(
      const std::vector<QueuedRow>& order);  // those named stand so, the others behind
  void remove_run(RunRow run);  // with its history, tree, tags and note; strategies stay
  void rename_strategy(StrategyRow strategy, std::string_view label);
  // Instead of what was said about it before; an empty one takes that away. Throws InputError when
  // there is no such row, or a tag is no word (annotation.h).
  void annotate(const StoredItem& item, const Annotation& annotation);

  std::vector<StoredModel> models() const;  // without content
  std::vector<StoredCluster> clusters() const;
  std::vector<StoredStrategy> strategies() const;  // without json
  std::vector<StoredRun> runs() const;
  std::optional<StoredModel> model(ModelRow id) const;
  std::optional<StoredCluster> cluster(ClusterRow id) const;
  std::optional<StoredStrategy> strategy(StrategyRow id) const;
  std::optional<StoredRun> run(RunRow id) const;
  std::vector<HistoryPoint> history(RunRow run) const;
  // Throws InputError when it is damaged; all else of the run stays usable.
  std::optional<std::string> tree(RunRow run) const;

  std::vector<StoredTraining> trainings() const;
  std::vector<LossPoint> losses(TrainingRow training) const;  // ascending by step

  std::vector<StoredLaunch> launches() const;  // without result
  std::optional<StoredLaunch> launch(LaunchRow id) const;

  std::vector<StoredQueued> queued() const;  // in the order in which they are to be done

  // Returns the annotations of all values that have one.
  std::map<StoredItem, Annotation> annotations() const;
  Annotation annotation(const StoredItem& item) const;  // empty: nothing was said

  std::optional<std::string> setting(std::string_view key) const;
  // Those whose key begins so, by key.
  std::map<std::string, std::string> settings(std::string_view prefix) const;
  void set_setting(std::string_view key, std::string_view value);

  // Changes whenever any connection has written: views poll it.
  std::int64_t data_version() const;

  // Calls `read`, which does not write and sees one moment of the workspace, whoever writes
  // meanwhile.
  void read_at_one_moment(const std::function<void()>& read) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strato
