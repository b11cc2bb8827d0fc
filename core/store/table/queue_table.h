// The searches of a workspace that wait for their turn. Its errors and threads are those of the
// workspace.
#pragma once

#include <string>
#include <vector>

#include "core/store/table/rows.h"

namespace strato {

struct StoredQueued {  // a search that has not begun
  QueuedRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::string planner;
  std::string options;  // as a run's
  // A strategy_file.h text that names the ops of each; empty: as the model's options say.
  std::string groups;
  std::string created;  // ISO 8601, UTC
};

class QueueTable {
 public:
  explicit QueueTable(store::Connection& connection) : connection_(connection) {}

  QueuedRow add(const StoredQueued& queued);  // behind those that are there
  void remove(QueuedRow queued);
  void order(const std::vector<QueuedRow>& order);  // those named stand so, the others behind
  std::vector<StoredQueued> all() const;            // in the order in which they are to be done

 private:
  store::Connection& connection_;
};

}  // namespace strato
