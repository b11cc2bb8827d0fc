// Two plans side by side, and more than two, for a person and for a script.
#pragma once

#include <string>

#include "core/compare/compare_plans.h"
#include "core/compare/plan_matrix.h"
#include "core/io/json.h"

namespace strato::cli {

// All figures; groups and variables that differ.
Json comparison_json(const PlanComparison& comparison);
// `all`: every cause, group and variable; else the largest ones.
std::string comparison_text(const PlanComparison& comparison, bool all);

Json matrix_json(const PlanMatrix& matrix);
std::string matrix_text(const PlanMatrix& matrix, bool all);

}  // namespace strato::cli
