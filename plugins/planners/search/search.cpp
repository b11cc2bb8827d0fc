// The planners that search without learning.
#include "core/plugin/api/planner_function.h"
#include "core/plugin/api/plugin.h"
#include "core/search/portfolio/tree_search.h"
#include "plugins/planners/search/exact/exact.h"
#include "plugins/planners/search/mcmc/mcmc.h"
#include "plugins/planners/search/portfolio/portfolio.h"

namespace strato {
namespace {

// Monte-Carlo tree search with uniform priors: TAG section 4.2.2 without its network ("pure MCTS").
// The search itself, and how it goes beyond the paper, is in core/search/portfolio/tree_search.h;
// --set variant=paper is the paper's.
PlanResult mcts(const PlanRequest& request, const TreeSearchOptions& options) {
  return tree_search(request, options);
}

std::unique_ptr<Planner> make(std::string_view name, const PluginRegistry& registry) {
  if (name == "mcts") return make_planner(name, mcts);
  if (name == "mcmc") return make_planner(name, mcmc::plan);
  if (name == "exact") return make_planner(name, exact::plan);
  if (name == "auto") return portfolio::make_auto(registry);
  return nullptr;
}

}  // namespace
}  // namespace strato

STRATOSCOPE_PLANNER(strato::make)
