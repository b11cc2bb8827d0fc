// The planners of this plugin.
#pragma once

#include <memory>

#include "core/search/planner.h"

namespace strato::gdp {

std::unique_ptr<Planner> make_gdp();
std::unique_ptr<Planner> make_hdp();

}  // namespace strato::gdp
