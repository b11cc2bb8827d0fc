// What two plans decide otherwise for op groups. Private to this folder.
#pragma once

#include <vector>

#include "core/compare/compare_plans.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths);

}  // namespace strato
