#include "core/search/portfolio/tree_search.h"

#include "core/search/constraints/bound_constraints.h"
#include "core/search/portfolio/portfolio.h"

namespace strato {

PlanResult tree_search(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
                       const PlannerOptions& common, const TreeSearchOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  TreeSearchOptions own = options;
  const auto constraints = bind_constraints(common.constraints.get(), problem);
  if (constraints) own.pins = constraints->pins();
  if (constraints) own.bounds = false;  // a strategy that is repaired is another one
  return Portfolio(problem, evaluator, prior, common, own, observer, std::move(stop), resume.get())
      .run(resume.get());
}

}  // namespace strato
