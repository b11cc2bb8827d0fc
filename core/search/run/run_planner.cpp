#include "core/search/run/run_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// Counts what the planner asks for until something is faster than data parallelism (or, where that
// does not fit, until something fits), every strategy once; one that a baseline had counts, too.
class RaceEvaluator final : public Evaluator {
 public:
  RaceEvaluator(Evaluator& inner, const Score& data_parallel)
      : Evaluator(inner.cluster()), inner_(inner), data_parallel_(data_parallel) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<Score> scores = inner_.score(strategies);
    for (std::size_t i = 0; i < scores.size() && !won; ++i) {
      seen_.insert(strategies[i].digest());
      if (scores[i].feasible && scores[i].better_than(data_parallel_))
        won = static_cast<std::int64_t>(seen_.size());
    }
    return scores;
  }
  std::optional<std::int64_t> won;

 private:
  Evaluator& inner_;
  Score data_parallel_;
  std::unordered_set<Digest> seen_;
};

// Tells the observer about the better of the planner's and the baselines' best.
class FloorObserver final : public Observer {
 public:
  FloorObserver(Observer& inner, std::optional<Score> floor)  // empty: there is none
      : inner_(inner), floor_(std::move(floor)) {}

  void on_progress(const Progress& progress) override { inner_.on_progress(raised(progress)); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    if (floor_ && !score.better_than(*floor_)) return;
    inner_.on_improvement(strategy, score, raised(progress));
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override { inner_.on_tree(std::move(tree)); }

 private:
  Progress raised(Progress progress) const {
    if (floor_ && (!progress.best || floor_->better_than(*progress.best))) progress.best = floor_;
    return progress;
  }

  Observer& inner_;
  std::optional<Score> floor_;
};

// Tells the observer about strategies as they were evaluated: beside a ChangingEvaluator.
class ChangingObserver final : public Observer {
 public:
  using Change = std::function<Strategy(const Strategy&)>;
  ChangingObserver(Observer& inner, Change change) : inner_(inner), change_(std::move(change)) {}
  void on_progress(const Progress& progress) override { inner_.on_progress(progress); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    inner_.on_improvement(change_(strategy), score, progress);
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override { inner_.on_tree(std::move(tree)); }

 private:
  Observer& inner_;
  const Change change_;
};

// What the options have of every strategy that does not say so itself, as far as the constraints
// (null: none) allow it.
class WantedOfAll {
 public:
  WantedOfAll(const PlannerOptions& options, std::shared_ptr<const Graph> graph,
              const BoundConstraints* constraints)
      : graph_(std::move(graph)),
        constraints_(constraints),
        micro_batches_(options.micro_batches),
        tensor_(options.tensor),
        recomputed_(recomputed_ops(*graph_, options.recompute, options.micro_batches.count)),
        offloaded_(offloaded_ops(*graph_, options.offload)) {}

  bool is_nothing() const {
    return micro_batches_.count == 1 && tensor_ == 1 && recomputed_.empty() && offloaded_.empty();
  }
  // Micro-batches not where each device has a slice of some op.
  Strategy operator()(Strategy strategy) const {
    if (is_nothing()) return strategy;
    const bool was_allowed = constraints_ != nullptr && constraints_->violated(strategy).empty();
    const auto updates = [&](const OpSplit& split) {
      return graph_->op(split.op).phase == Phase::Update;
    };
    if (strategy.micro_batches.count == 1 && std::ranges::all_of(strategy.splits, updates))
      strategy.micro_batches = micro_batches_;
    if (strategy.recomputed.empty()) strategy.recomputed = recomputed_;
    if (strategy.offloaded.empty()) strategy.offloaded = kept_ones(offloaded_, strategy.recomputed);
    for (std::optional<Decision>& decision : strategy.groups)
      if (decision && decision->roles.tensor == 1)
        decision = on_rows(std::move(*decision), tensor_);
    return was_allowed ? constraints_->repaired(strategy) : strategy;
  }

 private:
  std::shared_ptr<const Graph> graph_;
  const BoundConstraints* constraints_;
  MicroBatches micro_batches_;
  std::int32_t tensor_;
  std::vector<OpId> recomputed_, offloaded_;
};

// "12.3 ms", for notes.
std::string outcome_words(const Score& score) {
  const std::int64_t tenths = (score.step_time.value + 50'000) / 100'000;
  return fmt::format("{}.{} ms{}", tenths / 10, tenths % 10,
                     score.feasible ? "" : ", out of memory");
}

void check_belongs(const SearchTree& tree, const Problem& problem) {
  if (tree.problem != problem.digest() || tree.vertices.empty() ||
      tree.order.size() != problem.grouping->size())
    throw InputError(
        "", "search tree", "it belongs to another problem",
        "start a new search, or resume with the same model, batch, groups and cluster");
  if (tree.pinned.empty()) return;
  Strategy pins;
  pins.groups = tree.pinned;
  validate(pins, *problem.grouping, *problem.cluster);
}

// The result as it is allowed, scored again; a fact tells what had to be changed.
void hold_to_constraints(PlanResult& result, const BoundConstraints& constraints,
                         const Problem& problem, Evaluator& evaluator) {
  Strategy kept = constraints.repaired(result.strategy);
  const Strategy found = complete(result.strategy, *problem.cluster);
  std::size_t ops = 0;
  const Problem before = problem_for(problem, found), after = problem_for(problem, kept);
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const OpId op(i);
    ops += found.groups[before.grouping->group_of(op)] != kept.groups[after.grouping->group_of(op)];
  }
  result.facts.push_back({"constraints", ops == 0
                                             ? "kept by the planner's own result"
                                             : fmt::format("moved {} ops of its result", ops)});
  result.strategy = std::move(kept);
  result.score = evaluator.evaluate(result.strategy);
}

void check_size(const Planner& planner, const Cluster& cluster) {
  if (cluster.device_count() <= planner.most_devices()) return;
  throw InputError("", cluster.name(),
                   fmt::format("has {} devices, and the planner {} is for at most {}",
                               cluster.device_count(), planner.name(), planner.most_devices()),
                   "choose pipeline, dp-allreduce or horovod");
}

struct Floor {
  Baseline baseline;
  Score score;
};

// The simple baselines as the constraints and a person's steering leave them: with the pinned
// decisions, outside of what is excluded.
std::vector<Baseline> allowed_baselines(const Problem& problem, const SearchTree* steering,
                                        const BoundConstraints* constraints) {
  std::vector<Baseline> baselines = simple_baselines(problem);
  const auto constrain = [&](const Strategy& strategy) {
    return constraints != nullptr ? constraints->repaired(strategy) : strategy;
  };
  const bool pins =
      steering != nullptr &&
      std::ranges::any_of(steering->pinned, [](const auto& pin) { return pin.has_value(); });
  for (auto& [name, strategy] : baselines) {
    Strategy kept = constrain(strategy);
    if (kept != strategy) name += " under the constraints";
    if (pins) name += " with the pins";
    strategy =
        steering != nullptr ? constrain(with_pins(*steering, std::move(kept))) : std::move(kept);
  }
  if (steering != nullptr)
    std::erase_if(baselines, [&](const Baseline& baseline) {
      return is_forbidden(*steering, baseline.strategy);
    });
  return baselines;
}

std::optional<Floor> best_baseline(std::vector<Baseline> baselines, Evaluator& evaluator) {
  if (baselines.empty()) return std::nullopt;
  std::vector<Strategy> strategies;
  for (const Baseline& baseline : baselines) strategies.push_back(baseline.strategy);
  const std::vector<Score> scores = evaluator.evaluate(strategies);
  const std::size_t best = best_of(scores);
  return Floor{std::move(baselines[best]), scores[best]};
}

// Keeps the planner's result unless the best baseline is strictly better; the note names it either
// way.
void apply_floor(PlanResult& result, const Planner& planner, const Floor& floor) {
  const bool baseline_won = floor.score.better_than(result.score);
  const std::string own = outcome_words(result.score), simple = outcome_words(floor.score);
  std::string note =
      baseline_won ? fmt::format("baseline {} won ({}): {} found nothing faster ({})",
                                 floor.baseline.name, simple, planner.name(), own)
      : result.score.feasible && !floor.score.feasible
          ? fmt::format("{} ({}) fits in memory, and no simple baseline does", planner.name(), own)
          : fmt::format("{} ({}) is {} the best baseline, {} ({})", planner.name(), own,
                        result.score.better_than(floor.score) ? "better than" : "as good as",
                        floor.baseline.name, simple);
  if (!result.note.empty()) note += "; " + result.note;
  result.note = std::move(note);
  if (!baseline_won) return;
  // Facts and steps of the planner are about what it found.
  if (!result.facts.empty())
    result.facts.insert(result.facts.begin(),
                        {"facts of", fmt::format("{}'s own ({})", planner.name(), own)});
  result.strategy = floor.baseline.strategy;
  result.score = floor.score;
}

void check_tensor(std::int32_t tensor, const Cluster& cluster) {
  if (tensor > 0 && static_cast<std::size_t>(tensor) <= cluster.device_count()) return;
  throw InputError("", fmt::format("tensor {}", tensor),
                   fmt::format("{} has {} devices to compute an op together", cluster.name(),
                               cluster.device_count()),
                   "give a number from 1 to that");
}

// A width that was asked for and that divides nothing is said.
void tell_of_tensor(PlanResult& result, std::int32_t tensor) {
  if (tensor == 1 || std::ranges::any_of(result.strategy.groups, [](const auto& decision) {
        return decision && columns_of(*decision) > 1;
      }))
    return;
  result.facts.push_back(
      {"tensor",
       fmt::format("no op group has rows of {}: it divides none's devices, or is forbidden",
                   tensor)});
}

}  // namespace

void refuse_unknown_options(const Planner& planner, const PlannerOptions& options) {
  refuse_unknown_options("planner '" + planner.name() + "'", planner.options(), options.set);
}

PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const PlanRequest& request) {
  const auto& [problem, evaluator, options, observer, stop, resume] = request;
  if (constraints == nullptr)
    return planner.plan(problem, evaluator, options, observer, stop, resume);
  ChangingEvaluator repairing(evaluator, [&](const CompleteStrategy& strategy) {
    return constraints->violated(*strategy).empty()
               ? strategy
               : CompleteStrategy(constraints->repaired(*strategy), *request.problem.cluster);
  });
  ChangingObserver told(observer,
                        [&](const Strategy& strategy) { return constraints->repaired(strategy); });
  PlanResult result = planner.plan(problem, repairing, options, told, stop, resume);
  hold_to_constraints(result, *constraints, problem, evaluator);
  return result;
}

PlanResult run_planner(Planner& planner, const Problem& problem, const PlannerOptions& given,
                       Observer& told, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  refuse_unknown_options(planner, given);
  check_size(planner, *problem.cluster);
  PlannerOptions options = given;
  // Searches go on from what they are given and may return it as it is: so what changes the results
  // of training (lossy encodings, staleness) is given to none.
  const std::size_t left_out =
      std::erase_if(options.seeds, [](const Strategy& start) { return !keeps_results(start); });
  if (problem.grouping->size() == 0)
    throw InputError("", problem.graph->name(), "the graph has no op to plan",
                     "give a model with at least one op");
  check_tensor(options.tensor, *problem.cluster);
  if (resume) check_belongs(*resume, problem);
  const auto constraints = bind_constraints(options.constraints.get(), problem);
  const auto simulating =
      make_simulating_evaluator(problem, options.threads, planner.wants_feedback());
  CountingEvaluator counting(*simulating);
  const auto caching = make_caching_evaluator(counting);
  const WantedOfAll wanted(options, problem.graph, constraints.get());
  ChangingEvaluator changing(*caching, [&](const CompleteStrategy& strategy) {
    return CompleteStrategy(wanted(*strategy), *problem.cluster);
  });
  Evaluator& evaluator = wanted.is_nothing() ? *caching : changing;
  ChangingObserver of_changed(told, wanted);
  Observer& observer = wanted.is_nothing() ? told : of_changed;
  const auto plan = [&](Evaluator& asked, Observer& of) {
    return plan_within(constraints.get(), planner, {problem, asked, options, of, stop, resume});
  };
  PlanResult result;
  if (planner.is_baseline() || !options.floor) {
    result = plan(evaluator, observer);
  } else {
    const std::optional<Floor> floor =
        best_baseline(allowed_baselines(problem, resume.get(), constraints.get()), evaluator);
    if (floor)
      observer.on_improvement(floor->baseline.strategy, floor->score,
                              {0, counting.count(), 0, floor->score});
    FloorObserver raised(observer, floor ? std::optional(floor->score) : std::nullopt);
    RaceEvaluator race(evaluator, evaluator.evaluate(data_parallel(problem)));
    result = plan(race, raised);
    if (floor) apply_floor(result, planner, *floor);
    result.evaluations_to_beat_data_parallel = race.won;
  }
  result.strategy = wanted(std::move(result.strategy));
  tell_of_tensor(result, options.tensor);
  result.evaluations = counting.count();
  if (left_out > 0)
    result.facts.push_back(
        {"Start strategies left out",
         fmt::format("{}: lossy or stale, which would change the results of training", left_out)});
  return result;
}

}  // namespace strato
