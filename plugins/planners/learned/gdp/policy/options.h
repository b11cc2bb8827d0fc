// Options of the planners that place whole ops (hdp, placeto).
#pragma once

#include "core/search/api/option_table.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

// With parameters' units, each on one device, unless told otherwise.
struct WholeOpOptions {
  PlacementOptions placement{.colocate = Colocate::Parameters, .replicate = false};
  OptionTable option_table();
};

}  // namespace strato::gdp
