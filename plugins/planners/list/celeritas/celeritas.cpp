#include "plugins/planners/list/celeritas/celeritas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/quantity_text.h"
#include "core/plugin/api/planner_function.h"
#include "core/schedule/list/placement.h"

namespace strato {
namespace {
using namespace strato::celeritas;

struct Settings {
  bool paper = false;
  Recipe recipe;

  OptionTable option_table() {
    Scheduling::Options& scheduling = recipe.placing.scheduling;
    return {
        {"variant",
         paper,
         {"default", "paper"},
         "default, or paper: one placement, as in Celeritas 5"},
        {"order", recipe.order, {"cpd", "dfs", "m"}, "topological order: cpd, dfs or m"},
        {"range", recipe.range, {1}, "R: ops in one cluster at most; 1: no fusion"},
        {"cluster-memory", recipe.cluster_memory, kPart,
         "M: a cluster's part of the smallest device's memory"},
        {"memory", scheduling.memory, kPart, "part of every device's memory to be used"},
        {"insert", scheduling.insert, "nodes may be put into idle time between others"},
        {"transfer-tasks", scheduling.transfers_are_tasks,
         "transfers occupy the devices' communication, one at a time"},
    };
  }

 private:
  static constexpr OptionRange kPart{.low = 0, .high = 1, .above_low = true};
};

struct Attempt {
  Recipe recipe;
  Placed placed;
  Strategy strategy;
  Score score;
};

Recipe in_order(Recipe recipe) {  // Order-Place
  recipe.placing.adjust = false;
  return recipe;
}

Recipe with_memory(Recipe recipe, double part) {
  recipe.placing.scheduling.memory = part;
  return recipe;
}

// Makes placements after recipes and keeps the best.
class PlacementSearch {
 public:
  explicit PlacementSearch(const PlanRequest& request)
      : request_(request), fine_(request.problem) {}

  // Evaluates them together; the first among equally good ones wins.
  void attempt(const std::vector<Recipe>& recipes) {
    std::vector<Attempt> attempts;
    std::vector<Strategy> strategies;
    for (const Recipe& recipe : recipes) {
      attempts.push_back(make(recipe));
      strategies.push_back(attempts.back().strategy);
    }
    const std::vector<Score> scores = request_.evaluator.evaluate(strategies);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      attempts[i].score = scores[i];
      ++evaluations_;
      if (best_ && !scores[i].better_than(best_->score)) continue;
      best_ = std::move(attempts[i]);
      request_.observer.on_improvement(best_->strategy, best_->score,
                                       {evaluations_, evaluations_, 0, best_->score});
    }
  }

  // The best one again with less of every device's memory until it fits. What is more than the
  // devices hold gets no smaller by that.
  void shrink_memory() {
    const Recipe recipe = best_->recipe;
    for (const double part : {0.9, 0.8, 0.65, 0.5, 0.35}) {
      if (best_->score.feasible || !best_->placed.schedule.fits || request_.stop.stop_requested())
        return;
      attempt({with_memory(recipe, part * recipe.placing.scheduling.memory)});
    }
  }

  // Tries what order-place finds, then others than the paper's `recipe`.
  void explore(const Recipe& recipe) {
    attempt({in_order(recipe)});
    shrink_memory();
    const double memory = best_->recipe.placing.scheduling.memory;  // that Order-Place needs to fit
    std::vector<Recipe> recipes;
    for (const Recipe& each : alternatives(recipe)) {
      if (memory < recipe.placing.scheduling.memory) recipes.push_back(with_memory(each, memory));
      recipes.push_back(each);
    }
    recipes.resize(std::min(recipes.size(), tries()));
    if (!request_.stop.stop_requested()) attempt(recipes);
    if (request_.stop.stop_requested() || tries() < 4) return;
    shrink_memory();
    Recipe enforced = best_->recipe;
    enforced.enforce_order = true;
    attempt({enforced});
  }

  PlanResult result() {
    PlanResult result;
    result.strategy = best_->strategy;
    result.score = best_->score;
    result.evaluations = evaluations_;
    result.facts = facts();
    if (!best_->placed.schedule.fits)
      result.note = "not everything found room: what did not went to the emptiest device";
    if (request_.options.record_steps)
      result.steps = steps_of(fine_, coarse_of(best_->recipe), best_->recipe);
    return result;
  }

 private:
  // Strategies that are simulated at once: some 100,000 ops.
  std::size_t tries() const {
    return std::clamp<std::size_t>(100'000 / std::max<std::size_t>(fine_.dag.size(), 1), 1, 24);
  }

  // The most promising first, the paper's before them.
  std::vector<Recipe> alternatives(const Recipe& paper) const {
    std::vector<Recipe> recipes = {paper};
    Recipe other = paper;
    other.placing.by_finish = true;
    other.fastest_first = true;
    for (const std::int64_t divisor : {4, 16, 1, 64}) {
      other.range = std::max<std::int64_t>(1, paper.range / divisor);
      for (const bool adjust : {true, false}) {
        other.placing.adjust = adjust;
        recipes.push_back(other);
      }
    }
    return recipes;
  }

  const Coarse& coarse_of(const Recipe& recipe) {
    auto& coarse = coarse_[{recipe.order, recipe.range, recipe.cluster_memory}];
    if (!coarse) coarse = coarsen(fine_, recipe);
    return *coarse;
  }

  Attempt make(const Recipe& recipe) {
    const Coarse& coarse = coarse_of(recipe);
    Placed placed = place(fine_, coarse, recipe);
    Strategy strategy =
        strategy_of(fine_.problem, placed.schedule, coarse.fusion.cluster_of, recipe.enforce_order);
    return {recipe, std::move(placed), std::move(strategy), {}};
  }

  std::vector<PlanResult::Fact> facts() {
    const Coarse& coarse = coarse_of(best_->recipe);
    const auto ratio = [](const Weights& weights) {
      return significant_text(communication_to_computing(weights));
    };
    std::vector<PlanResult::Fact> facts = {
        {"nodes", fmt::format("{} -> {}", fine_.dag.size(), coarse.dag.size())},
        {"communication to computing",
         fmt::format("{} -> {}", ratio(fine_.weights), ratio(coarse.weights))},
        {"moves", fmt::to_string(best_->placed.moves)},
        {"range", fmt::to_string(best_->recipe.range)}};
    if (const double memory = best_->recipe.placing.scheduling.memory; memory < 1)
      facts.push_back({"memory planned with", percent_text(memory)});
    return facts;
  }

  const PlanRequest& request_;
  Fine fine_;
  std::map<std::tuple<Order, std::int64_t, double>, std::optional<Coarse>> coarse_;
  std::optional<Attempt> best_;
  std::int64_t evaluations_ = 0;
};

PlanResult order_place(const PlanRequest& request, const Settings& settings) {
  PlacementSearch planning(request);
  planning.attempt({in_order(settings.recipe)});
  if (!settings.paper) planning.shrink_memory();
  return planning.result();
}

PlanResult celeritas_plan(const PlanRequest& request, const Settings& settings) {
  PlacementSearch planning(request);
  if (settings.paper)
    planning.attempt({settings.recipe});
  else
    planning.explore(settings.recipe);
  return planning.result();
}

}  // namespace

std::unique_ptr<Planner> make_celeritas(std::string_view name) {
  if (name == "order-place") return make_planner(name, order_place, true);
  return make_planner(name, celeritas_plan);
}

}  // namespace strato
