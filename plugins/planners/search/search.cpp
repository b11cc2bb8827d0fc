// The planners that search without learning.
#include "core/plugin/api/plugin.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/search/exact/exact.h"
#include "plugins/planners/search/mcmc/mcmc.h"
#include "plugins/planners/search/portfolio/auto.h"

namespace {

using namespace strato;

// Monte-Carlo tree search with uniform priors: TAG section 4.2.2 without its network ("pure MCTS").
// The search itself, and how it goes beyond the paper, is in core/search/portfolio/tree_search.h;
// --set variant=paper is the paper's.
class Mcts final : public Planner {
 public:
  std::string name() const override { return "mcts"; }
  std::vector<OptionHelp> options() const override { return list_options<TreeSearchOptions>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    const auto prior = make_uniform_prior();
    return tree_search(problem, evaluator, *prior, options, TreeSearchOptions::from(options),
                       observer, stop, std::move(resume));
  }
};

std::unique_ptr<Planner> make(std::string_view name, const PluginRegistry& registry) {
  if (name == "mcts") return std::make_unique<Mcts>();
  if (name == "mcmc") return mcmc::make_mcmc();
  if (name == "exact") return exact::make_exact();
  if (name == "auto") return portfolio::make_auto(registry);
  return nullptr;
}

}  // namespace

STRATOSCOPE_PLANNER(make)
