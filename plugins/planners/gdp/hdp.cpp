// The planner "hdp": see hdp.h.
#include "plugins/planners/gdp/hdp.h"

#include <fmt/format.h>

#include "core/search/api/reporter.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/gdp/course.h"
#include "plugins/planners/gdp/planner_options.h"
#include "plugins/planners/gdp/planners.h"

namespace strato::gdp {
namespace {

class Hdp final : public Planner {
 public:
  std::string name() const override { return "hdp"; }
  std::vector<OptionHelp> options() const override {
    return with_whole_op_help(
        {{"rollouts", "16", "placements tried a round"}, {"rate", "0.003", "of learning (Adam)"}});
  }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& common,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    PlacementOptions how = whole_op_placement(common);
    how.paper = true;
    const int rollouts = whole_option(common, "rollouts", 16, 10'000);
    const double rate = number_option(common, "rate", 0.003, 10);
    PlacementTask task(problem, evaluator, how);
    Budget budget(task, common, observer, std::move(stop));
    task.evaluate(task.known_placements());
    const Starts starts(problem, task, evaluator, common.seeds);
    HdpModel model(task.features(), common.seed);
    Random random(common.seed);
    Course course;
    std::int64_t rounds = 0;
    for (; budget.left() > 0; ++rounds) {
      const int count = static_cast<int>(std::min<std::int64_t>(rollouts, budget.left()));
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
      const double surprise = model.learn(draws, advantages, rate);
      course.add_round(task.evaluations(), mean_reward, task.reward(*task.best_score()),
                       surprise / task.units().count);
      budget.report(false);
    }
    budget.report(true);
    PlanResult result = starts.result_of(task);
    result.note =
        fmt::format("{} rounds, {} units in {} groups", rounds, task.units().count, model.groups());
    result.facts = {{"Groups", std::to_string(model.groups())},
                    {"Mean reward", fmt::format("{:.3f}", task.mean_reward())}};
    result.curves = course.curves();
    return result;
  }
};

}  // namespace

std::unique_ptr<Planner> make_hdp() { return std::make_unique<Hdp>(); }

}  // namespace strato::gdp
