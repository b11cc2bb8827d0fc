// How long to search, as a person writes it.
#pragma once

#include <QString>

#include "core/search/api/planner.h"

namespace strato {

// "800 iterations", "30 s", "2 min" -> options; false when it is none of them.
bool parse_budget(const QString& text, PlannerOptions& options);

}  // namespace strato
