// A human expert's placement by layer blocks, the baseline of GDP (section 4.1) and Baechi
// (section 5): every layer, with its gradients and updates, is whole on one device. How layers are
// shared out is in core/schedule/dag/layers.h.
#include "core/plugin/api/plugin.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

class Expert final : public Planner {
 public:
  std::string name() const override { return "expert"; }
  bool is_baseline() const override { return true; }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions&,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    std::vector<Decision> choices;
    for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
      choices.push_back(decision_on_device(DeviceId(d)));
    std::vector<std::int32_t> choice_of;
    for (const DeviceId device : expert_devices(problem)) choice_of.push_back(device.value());
    PlanResult result;
    result.strategy = strategy_by_ops(problem, choice_of, choices);
    result.score = evaluator.evaluate(result.strategy);
    result.evaluations = 1;
    result.facts.push_back(
        {"layers", is_recurrent(problem) ? "recurrent: round robin" : "in blocks of equal work"});
    observer.on_improvement(result.strategy, result.score, {1, 1, 0, result.score});
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<Expert>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
