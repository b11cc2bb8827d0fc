// Makes strategies of a schedule of replicas, parts and slices.
//
// An op is replicated over the devices of its replicas and parts, with their samples as shares; an
// op in slices is one of Strategy::splits. What the schedule says nothing about is how the
// gradients of replicated ops are summed, so there is one strategy for each synchronisation.
#pragma once

#include <string_view>

#include "plugins/planners/list/fastt/os_dpos.h"

namespace strato::fastt {

enum class Sync : std::uint8_t {
  Variable,   // at the device of the parameter, which others fetch it from (TensorFlow in-graph)
  Servers,    // at one of the op's devices, round robin, and sent back (ReplicatePs)
  AllReduce,  // between the op's devices, which all keep the parameter
};
std::string_view name_of(Sync sync);  // "variable", "ps", "allreduce"

struct Translation {
  Sync sync = Sync::Variable;
  bool with_order = true;  // ops run in the order of the schedule (order enforcement, FastT 4)
  Bytes bucket;            // see Strategy::bucket
};
Strategy strategy_of(const Problem& problem, const Plan& plan, const Translation& translation);

}  // namespace strato::fastt
