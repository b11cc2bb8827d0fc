// The refiner "sfb": PLANNER+sfb.
#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/refiners/sfb/refine.h"

namespace {

using namespace strato;

class SfbRefiner final : public Refiner {
 public:
  std::string name() const override { return "sfb"; }
  std::vector<OptionHelp> options() const override {
    return {{"sfb-check", "simulated",
             "simulated: try the integer programs' choices in the simulator, class by class, and "
             "keep what helps; model: all of them as the paper counts, or none"},
            {"sfb-time", "1", "seconds for each integer program, at most"}};
  }

  PlanResult refine(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                    const PlannerOptions& options, Observer& observer,
                    std::stop_token stop) override {
    SfbRefinement refinement;
    if (options.choice("sfb-check", "simulated", {"simulated", "model"}) == "model")
      refinement.check = SfbCheck::Model;
    refinement.seconds_per_program = options.number("sfb-time", 1);
    if (!(refinement.seconds_per_program > 0 && refinement.seconds_per_program <= 3600)) {
      throw InputError("", "sfb-time", "is not a time between 0 and 3600 seconds",
                       "give the seconds for each program, such as 1");
    }
    refinement.threads = options.threads;
    return refine_by_sfb(problem, evaluator, std::move(planned), refinement, observer, stop);
  }
};

std::unique_ptr<Refiner> make(std::string_view) { return std::make_unique<SfbRefiner>(); }

}  // namespace

STRATOSCOPE_REFINER(make)
