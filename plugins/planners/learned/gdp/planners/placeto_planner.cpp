#include "plugins/planners/learned/gdp/planners/placeto_planner.h"

#include <fmt/format.h>

#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/gdp/planners/learning_curve.h"
#include "plugins/planners/learned/gdp/planners/placeto.h"
#include "plugins/planners/learned/gdp/policy/options.h"
#include "plugins/planners/learned/gdp/policy/search_budget.h"
#include "plugins/planners/learned/gdp/policy/warm_starts.h"

namespace strato::gdp {
namespace {

// Half as wide as GDP's: it is asked, and learns, once a move.
NetworkSize network_size() {
  NetworkSize size;
  size.graph_width = size.width = 64;
  size.heads = 4;
  size.head_width = 16;
  size.inner = 128;
  size.superposition = false;
  size.stepwise = true;
  return size;
}

struct PlacetoPlannerOptions : WholeOpOptions {
  PlacetoOptions placeto;

  OptionTable option_table() {
    return OptionTable(
               {{"epochs", placeto.epochs, {1, 1'000}, "times that an episode is learned from"},
                {"rate", placeto.learn.rate, {0, 10}, "of learning (Adam)"},
                {"entropy", placeto.learn.entropy, {0, 10}, "weight of the policy's entropy"},
                {"discount", placeto.discount, {0, 1}, "of what later moves of an episode gain"}})
        .add(WholeOpOptions::option_table());
  }
};

class PlacetoPlanner final : public Planner {
 public:
  std::string name() const override { return "placeto"; }
  std::vector<OptionHelp> options() const override { return list_options<PlacetoPlannerOptions>(); }

  // Every episode starts from the best of what is known before anything is learned.
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    const auto options = read_options<PlacetoPlannerOptions>(common.set);
    PlacementTask task(problem, evaluator, options.placement);
    SearchBudget budget(task, common, observer, std::move(stop));
    task.evaluate(task.known_placements());
    const WarmStarts starts(problem, task, evaluator, common.seeds);
    const Placement start = task.best();
    Network network = Network::make(network_size(), common.seed);
    Placeto placeto(task, network, options.placeto);
    Random random(common.seed);
    std::int64_t episodes = 0;
    Episode last;
    LearningCurve curve;
    for (; budget.left() > 0; ++episodes) {
      last = placeto.play(
          start, [&] { return budget.left() > 0; }, random);
      if (!last.steps.empty())
        curve.add_round(task.evaluations(), last.reward, task.reward(*task.best_score()),
                        last.entropy);
      if (budget.left() > 0) placeto.learn(last);
      budget.report(false);
    }
    budget.report(true);
    PlanResult result = starts.result_of(task);
    result.note = fmt::format("{} episodes of {} moves", episodes, placeto.groups());
    result.facts = {{"Moves of an episode", std::to_string(placeto.groups())},
                    {"Policy's entropy", fmt::format("{:.3f} nats", last.entropy)}};
    result.curves = curve.curves();
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_placeto() { return std::make_unique<PlacetoPlanner>(); }

}  // namespace strato::gdp
