// The planners that schedule lists: ops, or clusters of them, are ordered and placed one after
// another.
#include "core/plugin/api/plugin.h"
#include "plugins/planners/list/baechi/baechi.h"
#include "plugins/planners/list/celeritas/celeritas.h"
#include "plugins/planners/list/fastt/fastt.h"

namespace {

std::unique_ptr<strato::Planner> make(std::string_view name) {
  if (name == "fastt") return strato::make_fastt();
  if (name == "celeritas" || name == "order-place") return strato::make_celeritas(name);
  if (name == "m-topo" || name == "m-etf" || name == "m-sct") return strato::make_baechi(name);
  return nullptr;
}

}  // namespace

STRATOSCOPE_PLANNER(make)
