// The models and clusters of a workspace. Its errors and threads are those of the workspace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/store/table/rows.h"

namespace strato {

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

class ProblemTable {
 public:
  explicit ProblemTable(store::Connection& connection) : connection_(connection) {}

  ModelRow add(const StoredModel& model);  // the row that is there, when the digest and options are
  ClusterRow add(const StoredCluster& cluster);
  std::vector<StoredModel> models() const;  // without content
  std::vector<StoredCluster> clusters() const;
  std::optional<StoredModel> model(ModelRow id) const;
  std::optional<StoredCluster> cluster(ClusterRow id) const;

 private:
  store::Connection& connection_;
};

}  // namespace strato
