// "op-by-op": decides each op by itself, whatever its group: stretches of ops, in turn replicated
// and on every device, shorter ones from try to try. A baseline, so that its results are kept
// however slow.
#include <algorithm>

#include "core/plugin/api/plugin.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/tree/search_tree.h"

namespace {

using namespace strato;

Strategy in_stretches(const Problem& problem, std::size_t stretches) {
  const std::size_t devices = problem.cluster->device_count();
  std::vector<Decision> choices = {*data_parallel(problem).groups[GroupId(0)]};
  for (std::size_t d = 0; d < devices; ++d) choices.push_back(decision_on_device(DeviceId(d)));
  const auto is_forward = [](const Op& op) { return !op.forward.valid(); };
  const auto count =
      static_cast<std::size_t>(std::ranges::count_if(problem.graph->ops(), is_forward));
  std::vector<std::int32_t> choice_of;
  std::size_t place = 0;  // among the forward ops; all others are where theirs is
  for (const Op& op : problem.graph->ops())
    choice_of.push_back(
        is_forward(op) ? static_cast<std::int32_t>(place++ * stretches / count % choices.size())
                       : choice_of[op.forward.index()]);
  return strategy_by_ops(problem, choice_of, choices);
}

class OpByOp final : public Planner {
 public:
  std::string name() const override { return "op-by-op"; }
  bool is_baseline() const override { return true; }
  std::vector<OptionHelp> options() const override {
    return {{"stretches", "7", "how often the device changes along the ops"}};
  }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token, std::shared_ptr<const SearchTree>) override {
    const auto most = options.set.contains("stretches") ? std::stoul(options.set.at("stretches"))
                                                        : std::size_t{7};
    PlanResult result;
    for (std::size_t stretches = 2; stretches <= most; ++stretches) {
      result.strategy = in_stretches(problem, stretches);
      result.score = evaluator.evaluate(result.strategy);
      const auto done = static_cast<std::int64_t>(stretches) - 1;
      observer.on_improvement(result.strategy, result.score, {done, done, 0, result.score});
    }
    result.note = "every op by itself";
    result.facts = {{"stretches", std::to_string(most)},
                    {"groups", std::to_string(result.strategy.groups.size())}};
    return result;
  }
};

std::unique_ptr<Planner> make(std::string_view) { return std::make_unique<OpByOp>(); }

}  // namespace

STRATOSCOPE_PLANNER(make)
