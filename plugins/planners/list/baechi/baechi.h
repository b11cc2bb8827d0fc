// The planners "m-topo", "m-etf" and "m-sct" of Baechi (Jeon et al.: "Baechi: fast device placement
// of machine learning graphs", SoCC 2020): see memory_topo.h, earliest_task_first.h, favourites.h.
// The model's costs stand in for Baechi's profile of a run.
#pragma once

#include <memory>
#include <string_view>

#include "core/search/api/planner.h"

namespace strato {

// "m-topo", "m-etf" or "m-sct".
std::unique_ptr<Planner> make_baechi(std::string_view name);

}  // namespace strato
