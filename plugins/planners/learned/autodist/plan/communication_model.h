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
  explicit CommunicationModel(const SyncTask& task) : task_(task) {}

  // Returns the components of each variable. A message's cost is shared: by bytes, its latency
  // equally.
  std::vector<Components> of_variables(const SyncPlan& plan) const;
  // Returns those of the whole plan: sums, but for ToServers and FromServers, where nodes work side
  // by side: the busiest node's.
  Components of_plan(const SyncPlan& plan) const;
  // Seconds: of_plan times the fixed constants.
  double seconds(const SyncPlan& plan) const { return combine(of_plan(plan)); }
  static double combine(const Components& components);

 private:
  // What a part keeps its server's node busy with.
  Components through_server(const Variable& variable, Bytes bytes, const SyncPart& part) const;
  // The part (of one of `parts` that share it) of a collective; `share`: by bytes.
  void add_collective(Components& z, Collective kind, Bytes bytes, double share,
                      std::int64_t parts) const;
  void add_reduced(Components& z, const Variable& variable, Bytes bytes, const Message& message,
                   bool rows) const;
  double local_seconds(Bytes bytes) const;
  double gradient_part(const Variable& variable, const SyncPart& part) const;

  const SyncTask& task_;
};

// The speed that exact data parallelism can have on a cluster at best, whatever is chosen for each
// variable: how much of a search's goal its problem leaves.
//
// A lower bound of the step time with the task's replicas, for gradients that are sent as they are
// (sparse ones do not count). To sum a gradient that n devices hold parts of and to have the new
// value on all of them takes n - 1 messages of its size to the sum and n - 1 back, wherever the sum
// is made; so 2 (n - 1) S bytes enter the n devices' ports, and the same holds for machines and
// their ways to the network. None of them moves before the first gradient is made, for which all
// that it depends on has run on a device; where variables can be kept in parts that holds for half
// of them, since values may be gathered from the start of the step on.
Nanos data_parallel_limit(const SyncTask& task);

}  // namespace strato::autodist
