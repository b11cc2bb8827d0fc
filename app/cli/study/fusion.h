// How much smaller fusion makes a graph, and how much less of its time is communication (Celeritas
// table 2).
#pragma once

#include "core/search/api/problem.h"

namespace strato::cli {

struct FusionFigures {
  std::size_t nodes = 0, fused_nodes = 0;
  double ccr = 0, fused_ccr = 0;  // communication time over computation time (Equation 1)
};

// Optimal Operation Fusion with the paper's limits, as the planner celeritas begins.
FusionFigures fusion_figures(const Problem& problem);

}  // namespace strato::cli
