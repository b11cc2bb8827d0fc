// The tables of a workspace, which live as long as it does. Their errors and threads are those of
// the workspace. What find() and its like do not find is nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/stored.h"

namespace strato {

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
