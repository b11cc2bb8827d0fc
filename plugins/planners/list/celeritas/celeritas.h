// celeritas and order-place: Celeritas (sections 4 and 5). Ops are fused into clusters of
// consecutive ones of the CPD-TOPO order by Kernighan's dynamic program (core/schedule/dag/
// fusion.h), and the clusters placed in order (placing.h). order-place with range=1 and order=dfs
// or m is the placement of the Standard Evaluation (4.2.2).
//
// Beyond the paper (variant=paper leaves it out): a placement that the simulator finds not to fit
// is made again with less of every device's memory; and celeritas begins with what order-place
// finds, tries smaller clusters, adjusting and not, by the earliest finish, fast devices first, in
// the order of the schedule, and takes what the simulator finds fastest. How much it tries falls
// with the size of the graph, so that it stays quick.
#pragma once

#include <memory>
#include <string_view>

#include "core/search/api/planner.h"

namespace strato {

// "celeritas" or "order-place".
std::unique_ptr<Planner> make_celeritas(std::string_view name);

}  // namespace strato
