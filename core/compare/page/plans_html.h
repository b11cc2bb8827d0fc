// Several plans as one HTML page for people without the tool: which one is the fastest and why,
// where the step of each goes, all timelines at one scale, memory, what is decided otherwise, and
// prices. Loads nothing from elsewhere; light and dark as the reader's system is.
#pragma once

#include <span>
#include <string>

#include "core/compare/plan_matrix.h"

namespace strato {

// Takes at least one plan, all simulated alike; the last one is the reference: its op groups and
// variables are the rows. Takes about as long as comparing each with the fastest.
std::string plans_html(std::span<const PlanToCompare> plans);

}  // namespace strato
