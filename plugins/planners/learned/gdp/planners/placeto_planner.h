// The planner "placeto": episodes of moves from the best placement that is known (placeto.h).
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato::gdp {

std::unique_ptr<Planner> make_placeto();

}  // namespace strato::gdp
