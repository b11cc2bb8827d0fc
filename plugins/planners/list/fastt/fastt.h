// FastT (sections 3 to 5): DPOS (Algorithm 1, core/schedule/list/dpos.h) and OS-DPOS (Algorithm
// 2, os_dpos.h) on the data-parallel graph where data parallelism fits, otherwise on the model's
// graph (replica_graph.h). The schedule's order is enforced as priorities.
//
// Beyond the paper (variant=paper leaves it out): gradients may also be summed by servers or
// all-reduced, in buckets, and the order need not be enforced; fewer devices, the model's graph and
// placing without the critical-path device are tried, too; splitting goes on after some ops that
// were not worth it; what does not fit is made again with less of every device's memory. The
// simulator decides.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "plugins/planners/list/fastt/os_dpos.h"

namespace strato {

std::unique_ptr<Planner> make_fastt();

namespace fastt {

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
// Makes a strategy of a schedule of replicas, parts and slices. An op is replicated over the
// devices of its replicas and parts, with their samples as shares; an op in slices is one of
// Strategy::splits. What the schedule says nothing about is how the gradients of replicated ops are
// summed, so there is one strategy for each synchronisation.
Strategy strategy_of(const Problem& problem, const Plan& plan, const Translation& translation);

}  // namespace fastt
}  // namespace strato
