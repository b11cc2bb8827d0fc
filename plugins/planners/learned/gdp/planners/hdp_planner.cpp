#include "plugins/planners/learned/gdp/planners/hdp_planner.h"

#include <fmt/format.h>

#include "core/search/api/reporter.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/gdp/planners/hdp_model.h"
#include "plugins/planners/learned/gdp/planners/learning_curve.h"
#include "plugins/planners/learned/gdp/policy/options.h"
#include "plugins/planners/learned/gdp/policy/search_budget.h"
#include "plugins/planners/learned/gdp/policy/warm_starts.h"

namespace strato::gdp {
namespace {

struct HdpOptions : WholeOpOptions {
  int rollouts = 16;
  double rate = 0.003;

  OptionTable option_table() {
    return OptionTable({{"rollouts", rollouts, {1, 10'000}, "placements tried a round"},
                        {"rate", rate, {0, 10}, "of learning (Adam)"}})
        .add(WholeOpOptions::option_table());
  }
};

class Hdp final : public Planner {
 public:
  std::string name() const override { return "hdp"; }
  std::vector<OptionHelp> options() const override { return list_options<HdpOptions>(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    HdpOptions options = read_options<HdpOptions>(common.set);
    options.placement.paper = true;
    PlacementTask task(problem, evaluator, options.placement);
    SearchBudget budget(task, common, observer, std::move(stop));
    task.evaluate(task.known_placements());
    const WarmStarts starts(problem, task, evaluator, common.seeds);
    HdpModel model(task.features(), common.seed);
    Random random(common.seed);
    LearningCurve curve;
    std::int64_t rounds = 0;
    for (; budget.left() > 0; ++rounds) {
      const int count = static_cast<int>(std::min<std::int64_t>(options.rollouts, budget.left()));
      const std::vector<HdpDraw> draws = model.draw(count, random);
      std::vector<Placement> placements;
      for (const HdpDraw& draw : draws) placements.push_back(draw.placement());
      std::vector<double> advantages;
      const double usual = task.mean_reward();
      double mean_reward = 0;
      for (const Score& score : task.evaluate(placements)) {
        advantages.push_back(task.reward(score) - (rounds == 0 ? task.reward(score) : usual));
        task.count_reward(task.reward(score));
        mean_reward += task.reward(score) / static_cast<double>(count);
      }
      const double surprise = model.learn(draws, advantages, options.rate);
      curve.add_round(task.evaluations(), mean_reward, task.reward(*task.best_score()),
                      surprise / task.units().count);
      budget.report(false);
    }
    budget.report(true);
    PlanResult result = starts.result_of(task);
    result.note =
        fmt::format("{} rounds, {} units in {} groups", rounds, task.units().count, model.groups());
    result.facts = {{"Groups", std::to_string(model.groups())},
                    {"Mean reward", fmt::format("{:.3f}", task.mean_reward())}};
    result.curves = curve.curves();
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_hdp() { return std::make_unique<Hdp>(); }

}  // namespace strato::gdp
