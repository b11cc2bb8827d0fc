// From a site and a strategy to its integer program: the weights (see SfbCosts). Private to this
// folder.
#pragma once

#include <string>
#include <vector>

#include "core/program/sfb/replicas.h"
#include "core/program/sfb/sfb.h"
#include "core/program/sfb/sfb_problem.h"
#include "core/program/sfb/sites.h"

namespace strato {

// How the tensors and ops of one site stand under one strategy: all that its program depends on,
// beside the group's devices.
struct SiteState {
  enum class Sync : char { None = 'n', AllReduce = 'a', Ps = 'p' };
  enum class Need : char {
    Free = 'f',    // it is whole on every device, or another op has it gathered anyway
    Gather = 'g',  // slices of the batch
    Sum = 's',     // partial sums: they are synchronised like the gradient
  };
  std::vector<Sync> sync;     // by gradient; None: no need, or its update is elsewhere
  std::vector<char> sharded;  // by op
  std::vector<Need> needs;    // by edge
  bool fused = false;         // AllReduces share their latency

  bool synchronises() const;
};

SiteState state_of(const SfbSite& site, const Tables& tables, const Strategy& complete,
                   const Replicas& replicas);
// Equal for equal programs of this site.
std::string key_of(const SiteState& state, const Replicas::Group& group);

// tau: the least of the paths' bandwidths between two of the devices, bytes per ns, as the cost
// model has it for large transfers.
double bottleneck_bandwidth(const Tables& tables, const std::vector<DeviceId>& devices);

// Op 0 of the program is the site's, op 1 the update; from there on they are one off.
inline std::size_t site_op(int of_program) {
  return static_cast<std::size_t>(of_program <= SfbProblem::kUpdate ? 0 : of_program - 1);
}
SfbProblem sfb_problem_of(const SfbSite& site, const SiteState& state, const Tables& tables,
                          const Replicas::Group& group, SfbCosts costs, double tau);

}  // namespace strato
