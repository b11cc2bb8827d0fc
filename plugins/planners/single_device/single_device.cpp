// Everything on one device: the fastest that holds it (or comes closest to it), by simulation.
// Devices of one GPU type are equal here, so one of each type is tried. The single-GPU baseline of
// TAG section 5 and GDP section 4.
#include "core/plugin/api/plugin.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

class SingleDevice final : public Planner {
 public:
  std::string name() const override { return "single-device"; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    for (const Baseline& baseline : simple_baselines(problem)) {
      if (baseline.name != name()) continue;
      const Score score = evaluator.evaluate(baseline.strategy);
      const bool first = result.evaluations++ == 0;
      if (!first && !score.better_than(result.score)) continue;
      result.strategy = baseline.strategy;
      result.score = score;
      observer.on_improvement(result.strategy, score,
                              {result.evaluations, result.evaluations, 0, score});
    }
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<SingleDevice>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
