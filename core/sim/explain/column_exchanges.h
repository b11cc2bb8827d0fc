// What it costs that devices compute ops together: the columns of a mesh, the parts of a split op,
// rows that have experts among them. Pure functions of a timeline; deterministic; safe from any
// thread.
#pragma once

#include <cstdint>

#include "core/sim/timeline/timeline.h"

namespace strato {

// Their exchanges: collectives of slices along another axis than the batch and of partial sums over
// a letter, and transfers of slices among devices that computed the tensor together. Parameters
// that are updated in slices, and gradients on their way to the update, are not among them, unless
// they are partial sums over a letter; neither is what devices split, join and sum up on their own.
struct ColumnExchanges {
  std::int64_t tasks = 0;
  // Means over the devices that take part: while an exchange goes on there, and while besides the
  // device computes nothing.
  Nanos taken, exposed;
};
ColumnExchanges column_exchanges(const Timeline& timeline);
// The same of copies to and from the memory of hosts, whichever way.
ColumnExchanges host_copies(const Timeline& timeline);

// The same of the AllToAlls in which rows give each other tokens for their experts, and get them
// back (MeshRoles::expert).
ColumnExchanges expert_exchanges(const Timeline& timeline);

}  // namespace strato
