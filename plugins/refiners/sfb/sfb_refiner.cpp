// The refiner "sfb": PLANNER+sfb.
#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/refiners/sfb/refine.h"

namespace {

using namespace strato;

class SfbRefiner final : public Refiner {
 public:
  std::string name() const override { return "sfb"; }
  std::vector<OptionHelp> options() const override { return list_options<SfbRefinement>(); }

  PlanResult refine(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                    const PlannerOptions& options, Observer& observer,
                    std::stop_token stop) override {
    auto refinement = read_options<SfbRefinement>(options.set);
    refinement.threads = options.threads;
    return refine_by_sfb(problem, evaluator, std::move(planned), refinement, observer, stop);
  }
};

std::unique_ptr<Refiner> make(std::string_view) { return std::make_unique<SfbRefiner>(); }

}  // namespace

STRATOSCOPE_REFINER(make)
