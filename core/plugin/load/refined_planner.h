// Private to core/plugin: "PLANNER+REFINER" is one planner.
#pragma once

#include <memory>

#include "core/search/api/refiner.h"

namespace strato {

std::unique_ptr<Planner> refined(std::unique_ptr<Planner> planner,
                                 std::unique_ptr<Refiner> refiner);

}  // namespace strato
