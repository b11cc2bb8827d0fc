// A comparison as one HTML page for people without the tool: the sentence, the waterfall as a
// picture, and the tables. Loads nothing from elsewhere; light and dark as the reader's system is.
#pragma once

#include <string>

#include "core/compare/compare_plans.h"

namespace strato {

std::string comparison_html(const PlanComparison& comparison);

}  // namespace strato
