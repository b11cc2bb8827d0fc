// Parts of variables that a server sums up, updates and sends back (Reduce, Broadcast). Not thread
// safe.
#pragma once

#include <vector>

#include "core/program/variable/sync_tasks.h"

namespace strato {

class VariableServer {
 public:
  VariableServer(const Cluster& cluster, Emitter& emitter, SyncTasks& sync)
      : cluster_(cluster), emitter_(emitter), sync_(sync) {}
  void serve(const SyncedPart& part);

 private:
  // Where a replica sends its term, and has the new value from. In the server's machine that is the
  // server.
  DeviceId station_of(const SyncedPart& part, DeviceId replica) const;
  GradientTerm collect(const SyncedPart& part, DeviceId station);
  std::vector<GradientTerm> terms_at_server(const SyncedPart& part);
  void send_back(const SyncedPart& part, TaskId updated);

  const Cluster& cluster_;
  Emitter& emitter_;
  SyncTasks& sync_;
};

}  // namespace strato
