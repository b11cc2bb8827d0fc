// The planner "tag" (TAG 4.2): tree search with the graph network's prior.
#include "core/plugin/plugin.h"
#include "core/search/tree_search.h"

namespace {

using namespace strato;

class Tag final : public Planner {
 public:
  std::string name() const override { return "tag"; }
  bool wants_feedback() const override { return true; }
  std::vector<OptionHelp> options() const override { return TreeSearchOptions::help(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    const auto prior = make_uniform_prior();
    return tree_search(problem, evaluator, *prior, options, TreeSearchOptions::from(options),
                       observer, stop, std::move(resume));
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<Tag>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
