#include "plugins/planners/gdp/planners.h"

#include "core/plugin/plugin.h"

namespace {

std::unique_ptr<strato::Planner> make(std::string_view name) {
  return name == "hdp" ? strato::gdp::make_hdp() : strato::gdp::make_gdp();
}

}  // namespace

STRATOSCOPE_PLANNER(make)
