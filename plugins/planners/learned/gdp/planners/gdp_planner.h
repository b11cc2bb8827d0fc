// The planner "gdp" (GDP): a policy that places ops on devices, learned by trying.
//
// It starts from weights that were trained on many graphs and adapts them to this one
// ("GDP-generalization + finetune", section 4.3), or from nothing ("GDP-one"). Its trainer asks the
// quick planners of the registry, which must outlive the planner.
#pragma once

#include <memory>

#include "core/plugin/load/plugin_registry.h"

namespace strato::gdp {

std::unique_ptr<Planner> make_gdp(const PluginRegistry& registry);

}  // namespace strato::gdp
