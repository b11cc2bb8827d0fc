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
#include <string>
#include <string_view>
#include <vector>

#include "core/store/tables.h"

namespace strato {

class Workspace {
 public:
  static constexpr int kSchemaVersion = 6;
  // Opens, or creates when there is no such file. `read_only` never writes, not even the schema: a
  // file of an older version is read into memory as it is now, and data_version() stays.
  explicit Workspace(const std::filesystem::path& file, bool read_only = false);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  const std::filesystem::path& file() const;

  // Its tables, which live as long as it does, also when it moves.
  ProblemTable& problems() { return tables_->problems; }
  const ProblemTable& problems() const { return tables_->problems; }
  StrategyTable& strategies() { return tables_->strategies; }
  const StrategyTable& strategies() const { return tables_->strategies; }
  RunTable& runs() { return tables_->runs; }
  const RunTable& runs() const { return tables_->runs; }
  TrainingTable& trainings() { return tables_->trainings; }
  const TrainingTable& trainings() const { return tables_->trainings; }
  LaunchTable& launches() { return tables_->launches; }
  const LaunchTable& launches() const { return tables_->launches; }
  QueueTable& queue() { return tables_->queue; }
  const QueueTable& queue() const { return tables_->queue; }
  AnnotationTable& annotations() { return tables_->annotations; }
  const AnnotationTable& annotations() const { return tables_->annotations; }
  SettingTable& settings() { return tables_->settings; }
  const SettingTable& settings() const { return tables_->settings; }

  // These put a value into the table of its type, as that table says.
  ModelRow add(const StoredModel& model) { return problems().add(model); }
  ClusterRow add(const StoredCluster& cluster) { return problems().add(cluster); }
  StrategyRow add(const StoredStrategy& strategy) { return strategies().add(strategy); }
  RunRow add(const StoredRun& run) { return runs().add(run); }
  TrainingRow add(const StoredTraining& training) { return trainings().add(training); }
  LaunchRow add(const StoredLaunch& launch) { return launches().add(launch); }
  QueuedRow add(const StoredQueued& queued) { return queue().add(queued); }
  void update(const StoredRun& run) { runs().update(run); }
  void update(const StoredLaunch& launch) { launches().update(launch); }

  // Changes whenever any connection has written: views poll it.
  std::int64_t data_version() const;

  // Calls `read`, which does not write and sees one moment of the workspace, whoever writes
  // meanwhile.
  void read_at_one_moment(const std::function<void()>& read) const;

 private:
  struct Tables {
    std::unique_ptr<store::Connection> connection;
    ProblemTable problems{*connection};
    StrategyTable strategies{*connection};
    RunTable runs{*connection};
    TrainingTable trainings{*connection};
    LaunchTable launches{*connection};
    QueueTable queue{*connection};
    AnnotationTable annotations{*connection};
    SettingTable settings{*connection};
  };
  std::unique_ptr<Tables> tables_;
};

// Lists what a workspace has, without its large values (graphs, strategies, trees, results), as it
// was at one moment. A value: whoever only shows it reads this, in any thread, and never waits for
// a disk.
class WorkspaceLists {
 public:
  explicit WorkspaceLists(std::filesystem::path file);  // nothing is read yet
  // Throws InputError. Of the settings it keeps those whose key begins with `settings`.
  WorkspaceLists(const Workspace& workspace, std::string_view settings);

  const std::filesystem::path& file() const { return file_; }
  bool is_read() const { return version_ >= 0; }  // false: it is being opened
  // Workspace::data_version() when it was read; negative: it was not.
  std::int64_t version() const { return version_; }

  // Each ascending by row.
  const std::vector<StoredModel>& models() const { return models_; }  // without content
  const std::vector<StoredCluster>& clusters() const { return clusters_; }
  const std::vector<StoredStrategy>& strategies() const { return strategies_; }  // without json
  const std::vector<StoredRun>& runs() const { return runs_; }
  const std::vector<StoredLaunch>& launches() const { return launches_; }  // without result
  const std::map<StoredItem, Annotation>& annotations() const { return annotations_; }

  // Returns the strategies of a problem: of every row of a model with that content, on the cluster.
  // Ascending.
  std::vector<const StoredStrategy*> strategies_of(const Digest& model,
                                                   const Digest& cluster) const;
  const StoredRun* run(RunRow id) const;                     // null: there is none
  const StoredStrategy* strategy(StrategyRow id) const;      // null: there is none
  const std::string* setting(const std::string& key) const;  // null: there is none, or not kept

 private:
  std::filesystem::path file_;
  std::int64_t version_ = -1;
  std::vector<StoredModel> models_;
  std::vector<StoredCluster> clusters_;
  std::vector<StoredStrategy> strategies_;
  std::vector<StoredRun> runs_;
  std::vector<StoredLaunch> launches_;
  std::map<StoredItem, Annotation> annotations_;
  std::map<std::string, std::string> settings_;
};

// Held while a run is searched, steered or deleted, so that no two programs do that to the same run
// at once: the later one would write its tree over the other's. Reading needs no lock. It goes with
// the process, also when that is killed. On one machine only.
class RunLock {
 public:
  // Throws InputError when another program (or another RunLock) holds it.
  RunLock(const std::filesystem::path& workspace, RunRow run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  std::filesystem::path file_;
  int handle_ = -1;
};

}  // namespace strato
