// Two plans side by side, for a person and for a script.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/compare/compare_plans.h"

namespace strato::cli {

// All figures; groups and variables that differ.
Json comparison_json(const PlanComparison& comparison);
// `all`: every cause, group and variable; else the largest ones.
std::string comparison_text(const PlanComparison& comparison, bool all);

}  // namespace strato::cli
