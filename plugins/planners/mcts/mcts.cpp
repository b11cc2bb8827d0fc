// Monte-Carlo tree search with uniform priors: TAG section 4.2.2 without its network ("pure MCTS").
// The search itself, and how it goes beyond the paper, is in core/search/mcts/tree_search.h; --set
// variant=paper is the paper's.
#include "core/plugin/api/plugin.h"
#include "core/search/mcts/tree_search.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

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

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<Mcts>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
