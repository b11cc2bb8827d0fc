#include "plugins/planners/list/celeritas/celeritas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/quantity_text.h"
#include "core/plugin/api/planner_function.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/list/celeritas/planning.h"

namespace strato {
namespace {
using namespace strato::celeritas;

struct Settings {
  bool paper = false;
  Recipe recipe;

  OptionTable option_table() {
    return {
        {"variant",
         paper,
         {"default", "paper"},
         "default, or paper: one placement, as in Celeritas 5"},
        {"order", recipe.order, {"cpd", "dfs", "m"}, "topological order: cpd, dfs or m"},
        {"range", recipe.range, {1}, "R: ops in one cluster at most; 1: no fusion"},
        {"cluster-memory", recipe.cluster_memory, kPart,
         "M: a cluster's part of the smallest device's memory"},
        {"memory", recipe.memory, kPart, "part of every device's memory to be used"},
        {"insert", recipe.insert, "nodes may be put into idle time between others"},
        {"transfer-tasks", recipe.transfers_are_tasks,
         "transfers occupy the devices' communication, one at a time"},
    };
  }

 private:
  static constexpr OptionRange kPart{.low = 0, .high = 1, .above_low = true};
};

struct Attempt {
  Recipe recipe;
  std::shared_ptr<const Coarse> coarse;
  Placed placed;
  Strategy strategy;
  Score score;
};

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
      best_ = std::make_unique<Attempt>(std::move(attempts[i]));
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
      Recipe smaller = recipe;
      smaller.memory *= part;
      attempt({smaller});
    }
  }

  // Tries what order-place finds, then others than the paper's `recipe`.
  void explore(const Recipe& recipe) {
    Recipe in_order = recipe;
    in_order.adjust = false;
    attempt({in_order});
    shrink_memory();
    std::vector<Recipe> recipes = alternatives(recipe);
    const double memory = best_->recipe.memory;  // that Order-Place needs to fit
    for (std::size_t i = recipes.size(); memory < recipe.memory && i-- > 0;) {
      recipes.insert(recipes.begin() + static_cast<std::ptrdiff_t>(i), recipes[i]);
      recipes[i].memory = memory;
    }
    recipes.resize(std::min(recipes.size(), tries()));
    if (!request_.stop.stop_requested()) attempt(recipes);
    if (request_.stop.stop_requested() || tries() < 4) return;
    shrink_memory();
    Recipe enforced = best_->recipe;
    enforced.enforce_order = true;
    attempt({enforced});
  }

  PlanResult result() const {
    PlanResult result;
    result.strategy = best_->strategy;
    result.score = best_->score;
    result.evaluations = evaluations_;
    result.facts = facts();
    if (!best_->placed.schedule.fits)
      result.note = "not everything found room: what did not went to the emptiest device";
    if (request_.options.record_steps)
      result.steps = steps_of(fine_, *best_->coarse, best_->recipe);
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
    other.by_finish = true;
    other.fastest_first = true;
    for (const std::int64_t divisor : {4, 16, 1, 64}) {
      other.range = std::max<std::int64_t>(1, paper.range / divisor);
      for (const bool adjust : {true, false}) {
        other.adjust = adjust;
        recipes.push_back(other);
      }
    }
    return recipes;
  }

  Attempt make(const Recipe& recipe) {
    Attempt attempt;
    attempt.recipe = recipe;
    auto& coarse = coarse_[{recipe.order, recipe.range, recipe.cluster_memory}];
    if (coarse == nullptr) coarse = std::make_shared<const Coarse>(coarsen(fine_, recipe));
    attempt.coarse = coarse;
    attempt.placed = place(fine_, *coarse, recipe);
    attempt.strategy = strategy_of(fine_.problem, attempt.placed.schedule,
                                   coarse->fusion.cluster_of, recipe.enforce_order);
    return attempt;
  }

  std::vector<PlanResult::Fact> facts() const {
    const Coarse& coarse = *best_->coarse;
    const Recipe& recipe = best_->recipe;
    std::vector<PlanResult::Fact> facts;
    facts.push_back({"nodes", fmt::format("{} -> {}", fine_.dag.size(), coarse.dag.size())});
    facts.push_back({"communication to computing",
                     significant_text(communication_to_computing(fine_.weights)) + " -> " +
                         significant_text(communication_to_computing(coarse.weights))});
    facts.push_back({"moves", std::to_string(best_->placed.moves)});
    facts.push_back({"range", std::to_string(recipe.range)});
    if (recipe.memory < 1) facts.push_back({"memory planned with", percent_text(recipe.memory)});
    return facts;
  }

  const PlanRequest& request_;
  Fine fine_;
  std::map<std::tuple<Order, std::int64_t, double>, std::shared_ptr<const Coarse>> coarse_;
  std::unique_ptr<Attempt> best_;
  std::int64_t evaluations_ = 0;
};

PlanResult order_place(const PlanRequest& request, const Settings& settings) {
  Recipe recipe = settings.recipe;
  recipe.adjust = false;
  PlacementSearch planning(request);
  planning.attempt({recipe});
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
