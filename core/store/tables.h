// The values that a workspace keeps, row by row, with the tags and notes that people annotate them
// with; and its tables, which live as long as it does. Times of creation are ISO 8601, UTC; an
// empty one becomes the moment of adding. Errors and threads of the tables are those of the
// workspace. What find() and its like do not find is nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"

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
  // The serialised forward graph (graph_file.h), so that the workspace stands alone.
  std::string content;
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
  std::string json;  // named_strategy.h text
  Digest digest;
  std::int64_t step_time_ns = 0;
  bool feasible = false;
  std::string created;
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

// It is Running when the program that launched it was left; attaching to `job` tells how it is now.
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
  std::string created;
  std::string result;       // text of the measured result (core/launch/job/job.h); may be empty
  std::string job, folder;  // for Launcher::attach(): "slurm:4711", and its folder; may be empty
};

struct StoredQueued {  // a search that waits for its turn
  QueuedRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::string planner;
  std::string options;  // as a run's
  // A named_strategy.h text that names the ops of each; empty: as the model's options say.
  std::string groups;
  std::string created;
};

enum class StoredKind : std::uint8_t { Model, Cluster, Run, Strategy };  // stored: order is fixed
std::string_view name_of(StoredKind kind);                               // "model", ...

struct StoredItem {  // a row that may be annotated
  StoredKind kind = StoredKind::Model;
  std::int64_t row = 0;
  friend auto operator<=>(const StoredItem&, const StoredItem&) = default;
};
// "run 3". Throws InputError for anything but the kind and number of a row.
StoredItem parse_stored_item(std::string_view kind, std::string_view row);

struct Annotation {
  std::vector<std::string> tags;  // sorted, each once, whatever its case
  std::string note;
  bool empty() const { return tags.empty() && note.empty(); }
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

inline constexpr std::size_t kLongestTag = 60;  // bytes of UTF-8

// Words between spaces and commas, a "#" before them left out; sorted, each once: the first way of
// writing it stays. Throws InputError for one that is too long, or has what is no text.
std::vector<std::string> parse_tags(std::string_view text);
std::string tags_text(const std::vector<std::string>& tags);  // "baseline slow"

namespace store {
class Connection;
}

class WorkspaceTable {
 public:
  explicit WorkspaceTable(store::Connection& connection) : connection_(connection) {}

 protected:
  store::Connection& connection_;
};

class ProblemTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  ModelRow add(const StoredModel& model);  // the row that is there, when the digest and options are
  ClusterRow add(const StoredCluster& cluster);
  std::vector<StoredModel> models() const;  // without content
  std::vector<StoredCluster> clusters() const;
  std::optional<StoredModel> model(ModelRow id) const;
  std::optional<StoredCluster> cluster(ClusterRow id) const;
};

class StrategyTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  // A strategy that is there already for model and cluster keeps its first parent and name; but
  // what runs only had on their way to their best is taken over by what is of no run.
  StrategyRow add(const StoredStrategy& strategy);
  void rename(StrategyRow strategy, std::string_view label);
  std::vector<StoredStrategy> all() const;  // without json
  std::optional<StoredStrategy> find(StrategyRow id) const;
};

// The runs with their histories and search trees.
class RunTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  RunRow add(const StoredRun& run);
  void update(const StoredRun& run);  // state, best, figures, note
  void remove(RunRow run);  // with its history, tree, tags, note and settings; strategies stay
  std::vector<StoredRun> all() const;
  std::optional<StoredRun> find(RunRow id) const;

  void add_history(RunRow run, const HistoryPoint& point);
  std::vector<HistoryPoint> history(RunRow run) const;
  void save_tree(RunRow run, std::string_view bytes);
  // Throws InputError when it is damaged; all else of the run stays usable.
  std::optional<std::string> tree(RunRow run) const;
};

class TrainingTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  TrainingRow add(const StoredTraining& training);
  std::vector<StoredTraining> all() const;
  // A step that is there is replaced: a training that goes on from a checkpoint does steps again.
  void add_loss(TrainingRow training, const LossPoint& point);
  std::vector<LossPoint> losses(TrainingRow training) const;  // ascending by step
};

class LaunchTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  LaunchRow add(const StoredLaunch& launch);  // with its id when it has one: comes back
  void update(const StoredLaunch& launch);    // state, measured, note, result, job and folder
  void remove(LaunchRow launch);
  std::vector<StoredLaunch> all() const;  // without result
  std::optional<StoredLaunch> find(LaunchRow id) const;
};

class QueueTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  QueuedRow add(const StoredQueued& queued);  // behind those that are there
  void remove(QueuedRow queued);
  void order(const std::vector<QueuedRow>& order);  // those named stand so, the others behind
  std::vector<StoredQueued> all() const;            // in the order in which they are to be done
};

class AnnotationTable : public WorkspaceTable {
 public:
  using WorkspaceTable::WorkspaceTable;
  // Instead of what was said about the item before; an empty one takes that away. Throws InputError
  // when there is no such row, or a tag is no word.
  void set(const StoredItem& item, const Annotation& annotation);
  std::map<StoredItem, Annotation> all() const;  // of those that have one
  Annotation of(const StoredItem& item) const;   // empty: nothing was said
};

class SettingTable : public WorkspaceTable {  // texts by key
 public:
  using WorkspaceTable::WorkspaceTable;
  void set(std::string_view key, std::string_view value);
  std::optional<std::string> find(std::string_view key) const;
  std::map<std::string, std::string> with_prefix(std::string_view prefix) const;  // of the keys
};

}  // namespace strato
