// The predefined communication model (AutoDist 2.4): what a plan's synchronisation costs, without
// running anything. Per variable six components; T = T_sync (computation hides behind it), a linear
// combination with fixed constants of the components accumulated over variables.
//
// Appendix C, which lists the paper's components, is not at hand; these are ours, in seconds:
// collectives by bandwidth and by latency, what reaches servers, what leaves them, the latency of
// their messages, and local work (sums at servers, cutting and stitching of parts).
#pragma once

#include <array>
#include <vector>

#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

inline constexpr std::size_t kComponents = 6;
enum Component : std::size_t { Volume, Calls, ToServers, FromServers, ServerCalls, Local };
using Components = std::array<double, kComponents>;

class CommunicationModel {
 public:
  explicit CommunicationModel(const SyncTask& task);

  // Returns the components of each variable. A message's cost is shared: by bytes, its latency
  // equally.
  std::vector<Components> of_variables(const SyncPlan& plan) const;
  // Returns those of the whole plan: sums, but for ToServers and FromServers, where nodes work side
  // by side: the busiest node's.
  Components of_plan(const SyncPlan& plan) const;
  // Seconds: of_plan times the fixed constants.
  double seconds(const SyncPlan& plan) const { return combine(of_plan(plan)); }
  static double combine(const Components& components);

  struct Message {  // parts that are all-reduced as one
    Bytes bytes;
    std::int64_t parts = 0;
  };

 private:
  struct Traffic {  // seconds that a part keeps its server's node busy
    double in = 0, out = 0, calls = 0, local = 0;
  };
  Traffic through_server(const Variable& variable, Bytes bytes, const SyncPart& part) const;
  void add_reduced(Components& z, const Variable& variable, Bytes bytes, Message message,
                   bool rows) const;
  void add_sharded(Components& z, Bytes bytes) const;
  void add_served(Components& z, const Variable& variable, Bytes bytes, const SyncPart& part) const;
  double local_seconds(Bytes bytes) const;
  double gradient_part(const Variable& variable, const SyncPart& part) const;

  const SyncTask& task_;
};

}  // namespace strato::autodist
