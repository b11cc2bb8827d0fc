#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/search/baselines.h"
#include "core/search/planner.h"

namespace strato {
namespace {

class CountingEvaluator final : public Evaluator {
 public:
  explicit CountingEvaluator(Evaluator& inner) : inner_(inner) {}
  using Evaluator::evaluate;
  std::vector<Score> evaluate(std::span<const Strategy> strategies) override {
    count += static_cast<std::int64_t>(strategies.size());
    return inner_.evaluate(strategies);
  }
  std::int64_t count = 0;

 private:
  Evaluator& inner_;
};

// Tells the observer about the better of the planner's and the baselines' best.
class FloorObserver final : public Observer {
 public:
  FloorObserver(Observer& inner, const Score& floor) : inner_(inner), floor_(floor) {}

  void on_progress(const Progress& progress) override { inner_.on_progress(raised(progress)); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    if (score.better_than(floor_)) inner_.on_improvement(strategy, score, raised(progress));
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override { inner_.on_tree(std::move(tree)); }

 private:
  Progress raised(Progress progress) const {
    if (!progress.best || floor_.better_than(*progress.best)) progress.best = floor_;
    return progress;
  }

  Observer& inner_;
  Score floor_;
};

void refuse_unknown_options(const Planner& planner, const PlannerOptions& options) {
  const std::vector<OptionHelp> known = planner.options();
  for (const auto& [key, value] : options.set) {
    const std::string& wanted = key;
    if (std::ranges::any_of(known, [&](const OptionHelp& o) { return o.name == wanted; })) continue;
    std::string list;
    for (const OptionHelp& option : known) list += (list.empty() ? "" : ", ") + option.name;
    throw InputError("", "--set " + key + "=" + value,
                     "planner '" + planner.name() + "' has no option '" + key + "'",
                     list.empty() ? "leave it out" : "it has: " + list);
  }
}

// "12.3 ms", for notes.
std::string milliseconds(Nanos time) {
  const std::int64_t tenths = (time.value + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string outcome_words(const Score& score) {
  return milliseconds(score.step_time) + (score.feasible ? "" : ", out of memory");
}

struct Floor {
  Baseline baseline;
  Score score;
};

Floor best_baseline(const Problem& problem, Evaluator& evaluator) {
  std::vector<Baseline> baselines = simple_baselines(problem);
  std::vector<Strategy> strategies;
  for (const Baseline& baseline : baselines) strategies.push_back(baseline.strategy);
  const std::vector<Score> scores = evaluator.evaluate(strategies);
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i].better_than(scores[best])) best = i;
  return {std::move(baselines[best]), scores[best]};
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
  result.strategy = floor.baseline.strategy;
  result.score = floor.score;
}

}  // namespace

PlanResult run_planner(Planner& planner, const Problem& problem, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  refuse_unknown_options(planner, options);
  if (problem.grouping->size() == 0)
    throw InputError("", problem.graph->name(), "the graph has no op to plan",
                     "give a model with at least one op");
  if (resume && resume->problem != problem.digest())
    throw InputError(
        "", "search tree", "it belongs to another problem",
        "start a new search, or resume with the same model, batch, groups and cluster");
  const auto simulating =
      make_simulating_evaluator(problem, options.threads, planner.wants_feedback());
  CountingEvaluator counting(*simulating);
  const auto caching = make_caching_evaluator(counting, *problem.cluster);
  PlanResult result;
  if (planner.is_baseline()) {
    result = planner.plan(problem, *caching, options, observer, stop, std::move(resume));
  } else {
    const Floor floor = best_baseline(problem, *caching);
    observer.on_improvement(floor.baseline.strategy, floor.score,
                            {0, counting.count, 0, floor.score});
    FloorObserver raised(observer, floor.score);
    result = planner.plan(problem, *caching, options, raised, stop, std::move(resume));
    apply_floor(result, planner, floor);
  }
  result.evaluations = counting.count;
  return result;
}

}  // namespace strato
