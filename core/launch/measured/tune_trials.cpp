// Strategies that are judged by running them.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "core/base/random.h"
#include "core/launch/measured/tune.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/run_planner.h"

namespace strato {
namespace {

struct Interrupted {};  // out of the middle of a planner

class TrialEvaluator final : public Evaluator {
 public:
  TrialEvaluator(const Problem& problem, const TrialsSetting& setting, std::string made_by)
      : Evaluator(*problem.cluster),
        problem_(problem),
        setting_(setting),
        made_by_(std::move(made_by)) {}

  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<Score> scores;
    for (const CompleteStrategy& strategy : strategies) scores.push_back(score_of(strategy));
    return scores;
  }

  void set_maker(std::string made_by) { made_by_ = std::move(made_by); }
  const std::vector<Trial>& trials() const { return trials_; }
  const Trial* best() const { return best_ ? &trials_[*best_] : nullptr; }

 private:
  Score score_of(const CompleteStrategy& strategy) {
    if (const auto known = index_.find(strategy.digest()); known != index_.end())
      return trials_[known->second].score;
    trials_.push_back(trial_of(*strategy));
    index_.emplace(strategy.digest(), trials_.size() - 1);
    if (!best_ || trials_.back().score.better_than(trials_[*best_].score))
      best_ = trials_.size() - 1;
    if (setting_.report) setting_.report(trials_.back());
    return trials_.back().score;
  }

  Trial trial_of(const Strategy& strategy) const {
    const bool is_known = setting_.known != nullptr;
    if (const auto known = is_known ? setting_.known(strategy) : std::nullopt)
      return known_trial(strategy, *known);
    TunePlan plan{static_cast<int>(trials_.size()), made_by_, strategy, problem_,
                  simulate_strategy(problem_, strategy, false, setting_.simulation)};
    Trial trial{strategy, plan.predicted.score, plan.predicted.score, {}};
    trial.score.feedback.reset();
    if (!trial.predicted.feasible) {
      trial.problem = "is not thought to fit into memory, and was not run";
      return trial;
    }
    const PlanRun came = setting_.run(plan);
    trial.ran = true;
    if (came.state == PlanRun::State::Stopped) throw Interrupted();
    trial.score.feasible =
        came.state == PlanRun::State::Measured && came.result.step_time > Nanos(0);
    if (trial.score.feasible)
      trial.score.step_time = came.result.step_time;
    else
      trial.problem = came.problem.empty() ? "measured nothing" : came.problem;
    return trial;
  }

  Trial known_trial(const Strategy& strategy, Nanos measured) const {
    Trial trial{strategy, {}, {}, {}};
    trial.known = trial.ran = true;
    trial.predicted = simulate_strategy(problem_, strategy, false, setting_.simulation).score;
    trial.score.step_time = measured;
    trial.score.feasible = measured > Nanos(0);
    if (!trial.score.feasible) {
      trial.score.step_time = trial.predicted.step_time;
      trial.problem = "failed before";
    }
    return trial;
  }

  const Problem& problem_;
  const TrialsSetting& setting_;
  std::string made_by_;
  std::vector<Trial> trials_;
  std::unordered_map<Digest, std::size_t> index_;
  std::optional<std::size_t> best_;
};

// Two draws of a uniform one (Box and Muller).
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

// Bounds are of what the cost model says: measured times may be shorter.
PlannerOptions without_bounds(const Planner& planner, PlannerOptions options) {
  for (const OptionHelp& option : planner.options())
    if (option.name == "bounds") options.set["bounds"] = "false";
  return options;
}

}  // namespace

std::int64_t TrialsResult::failed() const {
  return std::ranges::count_if(trials, [](const Trial& t) { return t.ran && !t.score.feasible; });
}

TrialsResult plan_by_trials(const Problem& problem, Planner& planner, const PlannerOptions& options,
                            const TrialsSetting& setting, Observer& observer,
                            std::stop_token stop) {
  refuse_unknown_options(planner, options);
  const auto constraints = bind_constraints(options.constraints.get(), problem);
  TrialEvaluator evaluator(problem, setting, "dp-allreduce");
  TrialsResult result;
  try {
    const Strategy simple = data_parallel(problem);
    const Score start = evaluator.evaluate(constraints ? constraints->repaired(simple) : simple);
    if (start.feasible) result.start = start.step_time;
    evaluator.set_maker(planner.name());
    result.plan = plan_within(
        constraints.get(), planner,
        {problem, evaluator, without_bounds(planner, options), observer, std::move(stop)});
  } catch (const Interrupted&) {
    result.stopped = true;
    result.plan.evaluations = std::ssize(evaluator.trials());
    result.plan.note = "stopped";
  }
  result.trials = evaluator.trials();
  const Trial* best = evaluator.best();
  if (best != nullptr && (result.stopped || best->score.better_than(result.plan.score))) {
    result.plan.strategy = best->strategy;
    result.plan.score = best->score;
    if (!result.stopped) result.plan.note = "data parallelism won; " + result.plan.note;
  }
  return result;
}

RunPlan simulated_trials(double spread, std::uint64_t seed) {
  return [spread, seed](const TunePlan& plan) {
    const Digest digest = plan.strategy.digest();
    Random random(seed * 0x9e3779b97f4a7c15U + digest.low);
    PlanRun run;
    const auto exact = static_cast<double>(plan.predicted.score.step_time.value);
    run.result.step_time = Nanos(std::llround(exact * std::exp(spread * normal(random))));
    return run;
  };
}

}  // namespace strato
