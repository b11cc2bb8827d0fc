// Lists what a workspace has, without its large values (graphs, strategies, trees, results), as it
// was at one moment. A value: whoever only shows it reads this, in any thread, and never waits for
// a disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/workspace.h"

namespace strato {

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

}  // namespace strato
