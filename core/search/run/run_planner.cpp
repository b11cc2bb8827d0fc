#include "core/search/run/run_planner.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/search/api/planner.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/constraints/constrained.h"
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
  FloorObserver(Observer& inner, const std::optional<Score>& floor)
      : inner_(inner), floor_(floor) {}

  void on_progress(const Progress& progress) override { inner_.on_progress(raised(progress)); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    if (!floor_ || score.better_than(*floor_))
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

// "12.3 ms", for notes.
std::string milliseconds(Nanos time) {
  const std::int64_t tenths = (time.value + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string outcome_words(const Score& score) {
  return milliseconds(score.step_time) + (score.feasible ? "" : ", out of memory");
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

struct Floor {
  Baseline baseline;
  Score score;
};

// The baselines as the constraints leave them.
std::vector<Baseline> constrained_baselines(const Problem& problem,
                                            const BoundConstraints* constraints) {
  std::vector<Baseline> baselines = simple_baselines(problem);
  if (constraints == nullptr) return baselines;
  for (Baseline& baseline : baselines) {
    Strategy kept = constraints->repaired(baseline.strategy);
    if (kept != baseline.strategy) baseline.name += " under the constraints";
    baseline.strategy = std::move(kept);
  }
  return baselines;
}

// The baselines as a person's steering leaves them: with the pinned decisions, outside of what is
// excluded.
std::vector<Baseline> steered_baselines(const Problem& problem, const SearchTree* steering,
                                        const BoundConstraints* constraints) {
  std::vector<Baseline> baselines = constrained_baselines(problem, constraints);
  if (steering == nullptr) return baselines;
  const bool pins =
      std::ranges::any_of(steering->pinned, [](const auto& pin) { return pin.has_value(); });
  for (Baseline& baseline : baselines) {
    baseline.strategy = with_pins(*steering, std::move(baseline.strategy));
    if (constraints != nullptr) baseline.strategy = constraints->repaired(baseline.strategy);
    if (pins) baseline.name += " with the pins";
  }
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
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i].better_than(scores[best])) best = i;
  return Floor{std::move(baselines[best]), scores[best]};
}

// Keeps the planner's result unless the best baseline is strictly better; the note names it either
// way.
void apply_floor(PlanResult& result, const Planner& planner, const Floor& floor) {
  const bool baseline_won = floor.score.better_than(result.score);
  std::string note =
      baseline_won ? "baseline " + floor.baseline.name + " won (" + outcome_words(floor.score) +
                         "): " + planner.name() + " found nothing faster (" +
                         outcome_words(result.score) + ")"
                   : planner.name() + " (" + outcome_words(result.score) + ") is " +
                         (result.score.better_than(floor.score) ? "better than" : "as good as") +
                         " the best baseline, " + floor.baseline.name + " (" +
                         outcome_words(floor.score) + ")";
  if (!result.note.empty()) note += "; " + result.note;
  result.note = std::move(note);
  if (!baseline_won) return;
  // Facts and steps of the planner are about what it found.
  if (!result.facts.empty())
    result.facts.insert(result.facts.begin(), {"facts of", planner.name() + "'s own (" +
                                                               outcome_words(result.score) + ")"});
  result.strategy = floor.baseline.strategy;
  result.score = floor.score;
}

// Searches go on from what they are given and may return it as it is: so what changes the results
// of training (lossy encodings, staleness) is given to none. Returns how many were left out.
std::size_t leave_out_what_changes_results(std::vector<Strategy>& starts) {
  return std::erase_if(starts, [](const Strategy& start) { return !keeps_results(start); });
}

void tell_left_out(PlanResult& result, std::size_t starts) {
  if (starts == 0) return;
  result.facts.push_back(
      {"Start strategies left out", std::to_string(starts) +
                                        ": lossy or stale, which would change the results "
                                        "of training"});
}

// One planner's run: its problem, what it is held to, and what it asks.
struct Run {
  Planner& planner;
  const Problem& problem;
  const PlannerOptions& options;
  const BoundConstraints* constraints;  // null: none
  Evaluator& evaluator;
  const CountingEvaluator& counting;
  std::stop_token stop;
  std::shared_ptr<const SearchTree> resume;
};

PlanResult plan_within_constraints(const Run& run, Evaluator& evaluator, Observer& observer) {
  return plan_within(run.constraints, run.planner, run.problem, evaluator, run.options, observer,
                     run.stop, run.resume);
}

PlanResult plan_above_floor(const Run& run, Observer& observer) {
  const std::optional<Floor> floor = best_baseline(
      steered_baselines(run.problem, run.resume.get(), run.constraints), run.evaluator);
  std::optional<Score> floor_score;
  if (floor) {
    floor_score = floor->score;
    observer.on_improvement(floor->baseline.strategy, floor->score,
                            {0, run.counting.count(), 0, floor->score});
  }
  FloorObserver raised(observer, floor_score);
  RaceEvaluator race(run.evaluator, run.evaluator.evaluate(data_parallel(run.problem)));
  PlanResult result = plan_within_constraints(run, race, raised);
  if (floor) apply_floor(result, run.planner, *floor);
  result.evaluations_to_beat_data_parallel = race.won;
  return result;
}

}  // namespace

void refuse_unknown_options(const Planner& planner, const PlannerOptions& options) {
  refuse_unknown_options("planner '" + planner.name() + "'", planner.options(), options.set);
}

PlanResult run_planner(Planner& planner, const Problem& problem, const PlannerOptions& given,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  refuse_unknown_options(planner, given);
  PlannerOptions options = given;
  const std::size_t left_out = leave_out_what_changes_results(options.seeds);
  if (problem.grouping->size() == 0)
    throw InputError("", problem.graph->name(), "the graph has no op to plan",
                     "give a model with at least one op");
  if (resume) check_belongs(*resume, problem);
  const auto constraints = bind_constraints(options.constraints.get(), problem);
  const auto simulating =
      make_simulating_evaluator(problem, options.threads, planner.wants_feedback());
  CountingEvaluator counting(*simulating);
  const auto caching = make_caching_evaluator(counting);
  const Run run{planner,  problem,  options, constraints.get(),
                *caching, counting, stop,    std::move(resume)};
  const bool alone = planner.is_baseline() || !options.floor;
  PlanResult result =
      alone ? plan_within_constraints(run, *caching, observer) : plan_above_floor(run, observer);
  result.evaluations = counting.count();
  tell_left_out(result, left_out);
  return result;
}

}  // namespace strato
