// Groups of ops by METIS (TAG 4.1.1). Thread-safe, no state; the same groups for the same graph and
// times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/graph/group/grouping.h"
#include "core/graph/value/graph.h"

namespace strato {

struct MetisOptions {
  int max_groups = 60;
  double balance = 2.0;  // largest group's compute time over the mean (METIS ubfactor)
  // Keeps a forward op, its gradient ops and the updates of its parameters in one group, so that
  // saved activations and parameters never cross a group boundary. Off: ops alone, as TAG 4.1.1 has
  // it.
  bool keep_layers_together = true;
};

// A k-way partition minimising tensor bytes on cut edges with compute time as balance
// (TAG 4.1.1).
Grouping group_by_metis(const Graph& graph, std::span<const Nanos> op_time,
                        const MetisOptions& options);

// Splits `ops` (ascending) into at most `parts` parts the same way: result[i] is the part of
// ops[i]. Used for the model-parallel option inside a group. Update ops follow the gradient's
// forward op.
std::vector<std::int32_t> partition_ops(const Graph& graph, std::span<const OpId> ops,
                                        std::span<const Nanos> op_time, int parts);

}  // namespace strato
