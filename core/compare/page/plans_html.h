// Two plans, or several, as one HTML page for people without the tool. Loads nothing from
// elsewhere; light and dark as the reader's system is.
#pragma once

#include <span>
#include <string>

#include "core/compare/plan_matrix.h"

namespace strato {

// The sentence, the waterfall as a picture, and the tables.
std::string comparison_html(const PlanComparison& comparison);

// Which one is the fastest and why, where the step of each goes, all timelines at one scale,
// memory, what is decided otherwise, and prices. Takes at least one plan, all simulated alike; the
// last one is the reference: its op groups and variables are the rows. Takes about as long as
// comparing each with the fastest.
std::string plans_html(std::span<const PlanToCompare> plans);

}  // namespace strato
