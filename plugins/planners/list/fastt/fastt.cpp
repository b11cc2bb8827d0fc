#include "plugins/planners/list/fastt/fastt.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/base/at.h"
#include "core/plugin/api/planner_function.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {
using namespace strato::fastt;

struct Settings {
  enum class Gradients { Best, Variable, Ps, AllReduce };
  enum class Order { Best, On, Off };
  enum class Scheduled { Best, Auto, DataParallel, Model };

  bool paper = false, split = true;
  SplitOptions splitting{.axes = true, .patience = 8};
  Gradients sync = Gradients::Best;
  Order order = Order::Best;
  Scheduled graph = Scheduled::Best;

  void follow_paper() {
    paper = true;
    splitting.patience = 0;
    sync = Gradients::Variable;
    order = Order::On;
    graph = Scheduled::Auto;
  }

  OptionTable option_table() {
    return {
        {"variant",
         paper,
         {"default", "paper"},
         "default, or paper: Algorithms 1 and 2 as they are"},
        {"split", split, "split ops on the critical path (OS-DPOS); false: DPOS alone"},
        {"axes", splitting.axes, "also along other axes than the batch"},
        {"patience",
         splitting.patience,
         {0, 1'000'000},
         "ops that may not be worth splitting before it ends (paper: 0)"},
        {"sync",
         sync,
         {"best", "variable", "ps", "allreduce"},
         "gradients: variable (paper), ps, allreduce, or best"},
        {"order",
         order,
         {"best", "on", "off"},
         "enforce the order of the schedule: on (paper), off, or best"},
        {"graph",
         graph,
         {"best", "auto", "data-parallel", "model"},
         "data-parallel, model, auto: the first where it fits; or best"},
    };
  }
};

struct Recipe {
  std::size_t replicas = 1;
  DposOptions dpos;
};

struct Attempt {
  Recipe recipe;
  Plan plan = {};
  Translation translation = {};
  Strategy strategy = {};
  Score score = {};
  int splits = 0;
};

// Fast devices first, those of one machine together.
std::vector<DeviceId> by_speed(const Problem& problem) {
  const IdVector<GpuTypeId, Nanos> times = graph_times(problem);
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d) devices.emplace_back(d);
  std::ranges::stable_sort(devices, {}, [&](DeviceId device) {
    const Device& it = problem.cluster->device(device);
    return std::pair(times[it.type], it.machine);
  });
  return devices;
}

class PlacementSearch {
 public:
  PlacementSearch(const PlanRequest& request, const Settings& settings)
      : request_(request), problem_(request.problem), settings_(settings) {}

  PlanResult run() {
    std::optional<Attempt> best;
    for (const Recipe& recipe : recipes()) {
      if (best && request_.stop.stop_requested()) break;
      keep_better(best, attempt(recipe));
    }
    if (!settings_.paper)
      for (double memory = 0.8; memory > 0.2 && !best->score.feasible; memory -= 0.2) {
        if (request_.stop.stop_requested()) break;
        Recipe less = best->recipe;
        less.dpos.memory = memory;
        keep_better(best, attempt(less));
      }
    std::shared_ptr<PlanningSteps> steps;
    if (request_.options.record_steps) steps = recorded(*best);
    if (settings_.split) best = split(std::move(*best));
    if (steps) steps->trials = best->plan.trials;
    PlanResult result;
    result.facts = facts(bound_of(*best->plan.dpos));
    add_facts(*best, result.facts);
    result.steps = std::move(steps);
    result.strategy = std::move(best->strategy);
    result.score = best->score;
    result.evaluations = evaluations_;
    return result;
  }

 private:
  std::vector<Recipe> recipes() {
    const std::vector<DeviceId> devices = by_speed(problem_);
    const std::size_t all = devices.size();
    const bool fits = evaluate(data_parallel(problem_)).feasible;
    const bool from_data_parallel = settings_.graph == Settings::Scheduled::DataParallel ||
                                    (settings_.graph != Settings::Scheduled::Model && fits);
    std::vector<Recipe> recipes;
    const auto add = [&](std::size_t replicas, std::size_t count, bool path_device) {
      const auto end = devices.begin() + static_cast<std::ptrdiff_t>(count);
      Recipe recipe{replicas,
                    {.devices = {devices.begin(), end}, .critical_path_device = path_device}};
      std::ranges::sort(recipe.dpos.devices);
      recipes.push_back(std::move(recipe));
    };
    add(from_data_parallel ? all : 1, all, true);
    if (settings_.paper) return recipes;
    add(recipes.front().replicas, all, false);
    for (std::size_t count = all / 2; count > 0; count /= 2)
      add(from_data_parallel ? count : 1, count, true);
    if (settings_.graph == Settings::Scheduled::Best && all > 1)
      add(from_data_parallel ? 1 : all, all, true);
    return recipes;
  }

  std::vector<Translation> translations(const Recipe& recipe) const {
    using Gradients = Settings::Gradients;
    using Order = Settings::Order;
    std::vector<Translation> result;
    for (const auto& [gradients, sync] :
         {std::pair(Gradients::Variable, Sync::Variable), std::pair(Gradients::Ps, Sync::Servers),
          std::pair(Gradients::AllReduce, Sync::AllReduce)}) {
      if (settings_.sync != Gradients::Best && settings_.sync != gradients) continue;
      for (const bool with_order : {true, false}) {
        if (settings_.order == (with_order ? Order::Off : Order::On)) continue;
        result.push_back({sync, with_order, Bytes()});
        if (sync == Sync::AllReduce && !settings_.paper && recipe.replicas > 1)
          result.push_back({sync, with_order, Bytes(std::int64_t{32} << 20)});
      }
    }
    return result;
  }

  Score evaluate(const Strategy& strategy) {
    ++evaluations_;
    return request_.evaluator.evaluate(strategy);
  }

  Attempt attempt(const Recipe& recipe) {
    Attempt made{recipe, make_plan(problem_, recipe.replicas, recipe.dpos)};
    translate(made);
    return made;
  }

  // Chooses the best of the strategies that say what the schedule says.
  void translate(Attempt& attempt) {
    const std::vector<Translation> ways = translations(attempt.recipe);
    std::vector<Strategy> strategies;
    for (const Translation& way : ways)
      strategies.push_back(strategy_of(problem_, attempt.plan, way));
    const std::vector<Score> scores = request_.evaluator.evaluate(strategies);
    evaluations_ += static_cast<std::int64_t>(strategies.size());
    std::size_t best = 0;
    for (std::size_t i = 1; i < scores.size(); ++i)
      if (scores[i].better_than(scores[best])) best = i;
    attempt.translation = ways[best];
    attempt.strategy = std::move(strategies[best]);
    attempt.score = scores[best];
    tell(attempt);
  }

  void tell(const Attempt& attempt) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    if (told_ && !attempt.score.better_than(*told_)) return;
    told_ = attempt.score;
    request_.observer.on_improvement(attempt.strategy, attempt.score,
                                     {evaluations_, evaluations_, elapsed.count(), told_});
  }

  static void keep_better(std::optional<Attempt>& best, Attempt attempt) {
    if (!best || attempt.score.better_than(best->score)) best = std::move(attempt);
  }

  // Algorithm 2 on the best attempt. The paper takes what it finds; we only where it is faster.
  Attempt split(Attempt best) {
    if (settings_.paper) {
      best.splits = os_dpos(problem_, best.plan, settings_.splitting, request_.stop);
      translate(best);
      return best;
    }
    Attempt with{best.recipe, make_plan(problem_, best.recipe.replicas, best.recipe.dpos)};
    with.splits = os_dpos(problem_, with.plan, settings_.splitting, request_.stop);
    if (with.splits > 0) translate(with);
    if (with.splits > 0 && with.score.better_than(best.score)) return with;
    best.plan.trials = std::move(with.plan.trials);
    return best;
  }

  void add_facts(const Attempt& best, std::vector<PlanResult::Fact>& facts) const {
    facts.insert(
        facts.end(),
        {{"devices used", fmt::format("{} of {}", best.plan.dpos->devices().size(),
                                      problem_.cluster->device_count())},
         {"scheduled graph", best.recipe.replicas > 1 ? fmt::format("data parallel, {} replicas",
                                                                    best.plan.graph.replicas())
                                                      : "model"},
         {"gradients", std::string(name_of(best.translation.sync))},
         {"order enforced", best.translation.with_order ? "yes" : "no"},
         {"ops split", fmt::format("{} (of {} tried)", best.splits, best.plan.trials.size())}});
  }

  std::shared_ptr<PlanningSteps> recorded(const Attempt& attempt) const {
    auto steps = std::make_shared<PlanningSteps>();
    const Dpos& dpos = *attempt.plan.dpos;
    steps->algorithm = "DPOS (FastT 5.1, Algorithm 1)";
    for (const NodeInfo& node : attempt.plan.graph.nodes) {
      steps->nodes.push_back({node.op});
      steps->names.push_back(name_of(*problem_.graph, node));
    }
    const Dag& dag = attempt.plan.graph.dag;
    for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
      steps->ranking.value.push_back(dpos.rank(node));
      for (const DagEdge& edge : dag.successors(node))
        steps->edges.push_back({node, edge.node, dag.bytes(edge.edge)});
    }
    steps->ranking.name = "upward rank";
    steps->ranking.order.assign(dpos.order().begin(), dpos.order().end());
    steps->ranking.critical_path.assign(dpos.critical_path().begin(), dpos.critical_path().end());
    steps->steps = dpos.steps();
    return steps;
  }

  const PlanRequest& request_;
  const Problem& problem_;
  const Settings& settings_;
  std::int64_t evaluations_ = 0;
  std::optional<Score> told_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

PlanResult plan_fastt(const PlanRequest& request, const Settings& settings) {
  return PlacementSearch(request, settings).run();
}

}  // namespace

std::unique_ptr<Planner> make_fastt() { return make_planner("fastt", plan_fastt); }

}  // namespace strato
