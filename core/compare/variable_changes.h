// What two plans decide otherwise for variables. Private to this folder.
#pragma once

#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match);

}  // namespace strato
