// FastT (sections 3 to 5): DPOS (Algorithm 1, core/schedule/list/dpos.h) and OS-DPOS (Algorithm
// 2, os_dpos.h) on the data-parallel graph where data parallelism fits, otherwise on the model's
// graph (replica_graph.h). The schedule's order is enforced as priorities.
//
// Beyond the paper (variant=paper leaves it out): gradients may also be summed by servers or
// all-reduced, in buckets, and the order need not be enforced (translate.h); fewer devices, the
// model's graph and placing without the critical-path device are tried, too; splitting goes on
// after some ops that were not worth it; what does not fit is made again with less of every
// device's memory. The simulator decides.
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato {

std::unique_ptr<Planner> make_fastt();

}  // namespace strato
