// The planners of this plugin.
#pragma once

#include <memory>

#include "core/plugin/load/plugin_registry.h"

namespace strato::gdp {

// `registry`: of the planners that teach in a training; must outlive the planner.
std::unique_ptr<Planner> make_gdp(const PluginRegistry& registry);
std::unique_ptr<Planner> make_hdp();
std::unique_ptr<Planner> make_placeto();

}  // namespace strato::gdp
