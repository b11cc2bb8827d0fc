#include "core/launch/measured/tune.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/json.h"
#include "core/launch/measured/measured.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/run_planner.h"

namespace strato {
namespace {

// A device whose memory did not suffice counts as having this part of what the strategy was thought
// to need: less is there by an amount that nobody knows.
constexpr double kHeld = 0.9;

// A cluster whose GPUs of one type hold less than its description says: the same devices, groups
// and links, under the same ids.
std::shared_ptr<const Cluster> with_memory(const Cluster& cluster, GpuTypeId type, Bytes memory) {
  CHECK(memory > Bytes(0), "a GPU has memory");
  Json json = Json::parse(cluster.json());
  for (Json& gpu : json.at("gpu_types"))
    if (gpu.at("name") == cluster.gpu_types()[type].name) gpu["memory_bytes"] = memory.value;
  return std::make_shared<const Cluster>(
      parse_cluster(json.dump(), cluster.name(), GpuCatalogue()));
}

class Tuner {
 public:
  Tuner(const Problem& problem, Planner& planner, const TuneOptions& options, Observer& planning,
        std::stop_token stop)
      : problem_(problem),
        planner_(planner),
        options_(options),
        planning_(planning),
        stop_(std::move(stop)),
        constraints_(bind_constraints(options.planner.constraints.get(), problem)) {
    if (options.costs.profile) known_ = *options.costs.profile;
    result_.profile = known_;
  }

  TuneResult tune(const RunPlan& run, const std::function<void(const TuneResult&)>& report) {
    while (static_cast<int>(result_.rounds.size()) < options_.rounds) {
      std::optional<TunePlan> plan = next();
      if (!plan) break;
      PlanRun came = run(*plan);
      if (came.state == PlanRun::State::Stopped) {
        result_.end = TuneResult::End::Stopped;
        break;
      }
      take(std::move(*plan), std::move(came));
      if (report) report(result_);
    }
    return std::move(result_);
  }

 private:
  // --- what to run next

  // Nothing: the loop ends, and why is in the result.
  std::optional<TunePlan> next() {
    std::optional<TunePlan> plan = result_.rounds.empty() ? first() : better();
    if (stop_.stop_requested()) {
      result_.end = TuneResult::End::Stopped;
      return std::nullopt;
    }
    if (!plan) plan = result_.best ? again() : simple();
    if (plan) return plan;
    result_.end = result_.best ? TuneResult::End::Stable : TuneResult::End::Nothing;
    return std::nullopt;
  }

  std::optional<TunePlan> first() {
    TunePlan plan = plan_of("dp-allreduce", allowed(data_parallel(problem_)));
    return can_run(plan) ? std::move(plan) : planned();
  }

  // Returns a plan that was not run yet; once the cost model is stable, only one that it promises
  // to be faster than the best.
  std::optional<TunePlan> better() {
    std::optional<TunePlan> plan = planned();
    if (!plan || !result_.best || !stable_) return plan;
    const Nanos best = best_now().score.step_time, promised = plan->predicted.score.step_time;
    return promised / best < 1 - options_.stable ? std::move(plan) : std::nullopt;
  }

  std::optional<TunePlan> planned() {
    PlannerOptions options = options_.planner;
    if (result_.best && !best_plan().strategy.grouping)
      options.seeds.push_back(best_plan().strategy);
    const PlanResult made = run_planner(planner_, problem_, options, planning_, stop_);
    TunePlan plan = plan_of(planner_.name(), made.strategy);
    return can_run(plan) ? std::optional(std::move(plan)) : std::nullopt;
  }

  // The best one, to learn more, until there is nothing to learn.
  std::optional<TunePlan> again() {
    if (stable_) return std::nullopt;
    TunePlan plan = best_plan();
    plan.predicted = best_now();
    plan.problem = problem_;
    plan.round = static_cast<int>(result_.rounds.size());
    return plan;
  }

  // While nothing has run: a strategy that is not the planner's.
  std::optional<TunePlan> simple() {
    for (const Baseline& baseline : simple_baselines(problem_)) {
      TunePlan plan = plan_of(baseline.name, allowed(baseline.strategy));
      if (can_run(plan)) return plan;
    }
    return std::nullopt;
  }

  Strategy allowed(const Strategy& strategy) const {
    return constraints_ ? constraints_->repaired(strategy) : strategy;
  }

  TunePlan plan_of(std::string made_by, Strategy strategy) const {
    Outcome predicted = simulate_strategy(problem_, strategy, false, options_.simulation);
    return {static_cast<int>(result_.rounds.size()), std::move(made_by), std::move(strategy),
            problem_, std::move(predicted)};
  }

  bool can_run(const TunePlan& plan) const {
    return plan.predicted.score.feasible && !seen_.contains(key_of(plan));
  }

  Digest key_of(const TunePlan& plan) const {
    return complete(plan.strategy, *problem_.cluster).digest();
  }

  // --- what a run teaches

  void take(TunePlan plan, PlanRun came) {
    seen_.insert(key_of(plan));
    TuneRound round;
    round.plan = std::move(plan);
    round.problem = std::move(came.problem);
    if (came.state == PlanRun::State::Failed) {
      round.verdict = TuneRound::Verdict::Failed;
      if (came.exhausted) learn_memory(round.plan, *came.exhausted);
    } else {
      round.measured = came.result.step_time;
      round.result = std::move(came.result);
      round.change = learn_times(round, came.devices);
      stable_ = round.change < options_.stable;
      round.verdict = judge(round);
    }
    result_.rounds.push_back(std::move(round));
    forget_tasks();
  }

  // A program of thousands of tasks is kept of the best round and of the last one only.
  void forget_tasks() {
    for (std::size_t i = 0; i + 1 < result_.rounds.size(); ++i) {
      if (result_.best == i) continue;
      result_.rounds[i].plan.predicted.program.reset();
      result_.rounds[i].plan.predicted.timeline.reset();
      result_.rounds[i].result.tasks = {};
    }
  }

  void learn_memory(const TunePlan& plan, DeviceId device) {
    const DeviceUse& use = plan.predicted.timeline->devices[device];
    const Bytes most = std::min(use.peak, use.capacity);
    const Bytes held(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(kHeld * static_cast<double>(most.value))));
    problem_.cluster = with_memory(*problem_.cluster, problem_.cluster->device(device).type, held);
    renew_costs();
  }

  // Returns the relative change of the plan's own costs.
  double learn_times(const TuneRound& round, const std::vector<DeviceId>& devices) {
    const Timeline& predicted = *round.plan.predicted.timeline;
    const Profile recent = learned_profile(measured_timeline(predicted, round.result, devices));
    learned_ = refit(learned_, recent, options_.keep);
    result_.profile = with_learned(known_, learned_);
    const std::shared_ptr<const CostModel> before = problem_.cost;
    renew_costs();
    return change_of_times(*predicted.program,
                           *retimed(*predicted.program, *before, *problem_.cost));
  }

  void renew_costs() {
    CostSources sources = options_.costs;
    sources.profile = std::make_shared<const Profile>(result_.profile);
    problem_.cost = make_cost_model(problem_.graph, problem_.cluster, sources);
  }

  TuneRound::Verdict judge(const TuneRound& round) {
    const std::size_t at = result_.rounds.size();
    if (!result_.first) result_.first = at;
    const bool faster = !result_.best || round.measured < result_.best_measured;
    if (faster) result_.best_measured = round.measured;
    if (result_.best && key_of(round.plan) == key_of(best_plan())) return TuneRound::Verdict::Again;
    if (!faster) return TuneRound::Verdict::RolledBack;
    result_.best = at;
    return TuneRound::Verdict::Kept;
  }

  const TunePlan& best_plan() const { return result_.rounds[*result_.best].plan; }

  // The best plan's own tasks under the costs of now.
  Outcome best_now() const {
    const TunePlan& best = best_plan();
    Outcome now = best.predicted;
    now.program = retimed(*best.predicted.program, *best.problem.cost, *problem_.cost);
    now.timeline =
        std::make_shared<const Timeline>(Simulator().simulate(now.program, options_.simulation));
    now.score.step_time = now.timeline->step_time;
    return now;
  }

  Problem problem_;  // as it is assumed now
  Planner& planner_;
  const TuneOptions& options_;
  Observer& planning_;
  std::stop_token stop_;
  const std::unique_ptr<const BoundConstraints> constraints_;  // null: none
  Profile known_, learned_;  // before the runs; from the runs alone
  std::set<Digest> seen_;    // strategies that were run
  bool stable_ = false;
  TuneResult result_;
};

}  // namespace

std::string_view name_of(TuneRound::Verdict verdict) {
  constexpr std::array<std::string_view, 4> names = {"kept", "again", "rolled back", "failed"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string_view name_of(TuneResult::End end) {
  constexpr std::array<std::string_view, 4> names = {
      "the cost model is stable", "all rounds were used", "stopped", "no strategy is left to run"};
  return names[static_cast<std::size_t>(end)];
}

TuneResult tune(const Problem& problem, Planner& planner, const TuneOptions& options,
                const RunPlan& run, const std::function<void(const TuneResult&)>& report,
                Observer& planning, std::stop_token stop) {
  return Tuner(problem, planner, options, planning, std::move(stop)).tune(run, report);
}

}  // namespace strato
