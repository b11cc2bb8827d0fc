// The planners "gdp", "hdp" and "placeto": one policy network, three methods.
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "plugins/planners/learned/gdp/planners/gdp_planner.h"
#include "plugins/planners/learned/gdp/planners/hdp.h"
#include "plugins/planners/learned/gdp/planners/placeto.h"

namespace {

std::unique_ptr<strato::Planner> make(std::string_view name,
                                      const strato::PluginRegistry& registry) {
  if (name == "hdp") return strato::gdp::make_hdp();
  if (name == "placeto") return strato::gdp::make_placeto();
  return strato::gdp::make_gdp(registry);
}

}  // namespace

STRATOSCOPE_PLANNER(make)
