// The place of a search that waits, in its workspace: stored when it is added, given up when its
// run has begun or a person no longer wants it, so that it is offered again after a restart or a
// crash. Whoever holds its lock (core/store/workspace.h) has it: no two windows do the same search.
// Functions write and wait for disks, on any thread but the GUI's; each takes its turn.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/store/workspace.h"

namespace strato {

struct QueuedSearch;  // queued_search.h

class QueuedPlace {
 public:
  QueuedPlace() = default;  // none yet
  // Of one that is stored. Throws InputError when another window or program has it.
  QueuedPlace(const Workspace& workspace, QueuedRow row);

  // Does nothing once it has ended.
  void store(Workspace& workspace, const QueuedSearch& search);
  void end(Workspace& workspace);
  void leave();           // for whoever opens the workspace next
  QueuedRow row() const;  // 0: none

 private:
  mutable std::mutex mutex_;
  QueuedRow row_ = 0;
  bool ended_ = false;
  std::unique_ptr<RunLock> lock_;
};

// One that was left from another time. Its problem is made when it begins.
struct LeftSearch {
  std::shared_ptr<const QueuedSearch> search;
  std::string trouble;  // why it cannot be done; else empty
};
// That nobody else has, in the order in which they are to be done.
std::vector<LeftSearch> left_searches(const Workspace& workspace);

// With its model and problem. Throws InputError, also when it is no longer there.
QueuedSearch with_problem(const QueuedSearch& left);

}  // namespace strato
