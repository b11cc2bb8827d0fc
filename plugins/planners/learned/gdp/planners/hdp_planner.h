// The planner "hdp": hierarchical device placement from nothing (hdp_model.h).
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato::gdp {

std::unique_ptr<Planner> make_hdp();

}  // namespace strato::gdp
