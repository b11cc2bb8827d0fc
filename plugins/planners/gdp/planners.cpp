#include "plugins/planners/gdp/planners.h"

#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"

namespace {

std::unique_ptr<strato::Planner> make(std::string_view name,
                                      const strato::PluginRegistry& registry) {
  if (name == "hdp") return strato::gdp::make_hdp();
  if (name == "placeto") return strato::gdp::make_placeto();
  return strato::gdp::make_gdp(registry);
}

}  // namespace

STRATOSCOPE_PLANNER(make)
