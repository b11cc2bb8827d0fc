#include "views/lessons/exercise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/simulating_evaluator.h"

namespace strato {
namespace {

constexpr std::size_t kBatch = 64;  // strategies evaluated between two looks at the stop token

// Scores what it is given and keeps the best.
class BestOf {
 public:
  explicit BestOf(const Problem& problem) : evaluator_(make_simulating_evaluator(problem, 1)) {}

  // The place of the best of these when it is better than all before.
  std::optional<std::size_t> add(const std::vector<Strategy>& strategies) {
    const std::vector<Score> scores = evaluator_->evaluate(strategies);
    std::optional<std::size_t> better;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (best.tried > 0 && !scores[i].better_than(best.score)) {
        ++best.tried;
        continue;
      }
      ++best.tried;
      best.score = scores[i];
      best.strategy = strategies[i];
      better = i;
    }
    return better;
  }

  Optimum best;

 private:
  std::unique_ptr<Evaluator> evaluator_;
};

void try_all(const StrategySpace& space, std::uint64_t size, BestOf& best, std::stop_token stop,
             const std::function<void(const Optimum&)>& progress) {
  std::vector<Strategy> batch;
  for (std::uint64_t from = 0; from < size; from += kBatch) {
    if (stop.stop_requested()) return;
    batch.clear();
    for (std::uint64_t n = from; n < std::min<std::uint64_t>(size, from + kBatch); ++n)
      batch.push_back(space.at(n));
    best.add(batch);
    if (progress) progress(best.best);
  }
  best.best.proven = true;
}

struct Change {
  GroupId group;
  std::size_t action = 0;
};

// All changes of one group of this strategy, in groups of kBatch; false: stopped.
template <class Take>
bool for_changes(const StrategySpace& space, const Strategy& strategy, std::stop_token stop,
                 Take take) {
  std::vector<Strategy> batch;
  std::vector<Change> changes;
  const auto flush = [&] {
    if (!batch.empty()) take(batch, changes);
    batch.clear();
    changes.clear();
  };
  for (std::size_t g = 0; g < space.groups; ++g) {
    for (std::size_t a = 0; a < space.actions.size(); ++a) {
      if (stop.stop_requested()) return false;
      if (strategy.groups[GroupId(g)] == space.actions[a]) continue;
      batch.push_back(strategy);
      batch.back().groups[GroupId(g)] = space.actions[a];
      changes.push_back({GroupId(g), a});
      if (batch.size() == kBatch) flush();
    }
  }
  flush();
  return true;
}

void climb(const StrategySpace& space, BestOf& best, std::stop_token stop,
           const std::function<void(const Optimum&)>& progress) {
  bool improved = true;
  while (improved && best.best.tried < kMostTried) {
    improved = false;
    const Strategy from = best.best.strategy;
    const bool whole = for_changes(space, from, stop, [&](const auto& batch, const auto&) {
      improved |= best.add(batch).has_value();
      if (progress) progress(best.best);
    });
    if (!whole) return;
  }
}

}  // namespace

std::optional<std::uint64_t> StrategySpace::size() const {
  std::uint64_t size = 1;
  for (std::size_t g = 0; g < groups; ++g) {
    if (actions.empty() || size > std::numeric_limits<std::uint64_t>::max() / actions.size())
      return std::nullopt;
    size *= actions.size();
  }
  return size;
}

Strategy StrategySpace::at(std::uint64_t number) const {
  Strategy strategy;
  strategy.groups.resize(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    strategy.groups[GroupId(g)] = actions[number % actions.size()];
    number /= actions.size();
  }
  return strategy;
}

StrategySpace strategy_space(const Problem& problem) {
  StrategySpace space;
  space.actions = make_actions(problem, {});
  space.groups = problem.grouping->size();
  return space;
}

Optimum find_optimum(const Problem& problem, std::stop_token stop,
                     const std::function<void(const Optimum&)>& progress, std::uint64_t most) {
  const StrategySpace space = strategy_space(problem);
  BestOf best(problem);
  std::vector<Strategy> simple;
  for (Baseline& baseline : simple_baselines(problem))
    simple.push_back(std::move(baseline.strategy));
  best.add(simple);
  const auto size = space.size();
  if (size && *size <= most) {
    try_all(space, *size, best, stop, progress);
  } else {
    climb(space, best, stop, progress);
  }
  return best.best;
}

std::optional<SingleChange> best_single_change(const Problem& problem, const Strategy& strategy,
                                               std::stop_token stop) {
  const StrategySpace space = strategy_space(problem);
  if (strategy.groups.size() != space.groups) return std::nullopt;  // it has groups of its own
  BestOf best(problem);
  best.add({strategy});
  std::optional<SingleChange> found;
  const bool whole = for_changes(
      space, strategy, stop, [&](const auto& batch, const std::vector<Change>& changes) {
        const auto better = best.add(batch);
        if (!better) return;
        const Change& change = changes[*better];
        found = SingleChange{change.group, space.actions[change.action], best.best.score};
      });
  return whole ? found : std::nullopt;
}

int exercise_points(const Score& score, const Score& data_parallel, const Score& optimum) {
  if (!score.feasible) return 0;
  const auto at = [](const Score& s) { return static_cast<double>(s.step_time.value); };
  // Where data parallelism does not fit, whatever fits counts from twice the optimum.
  const double slow = data_parallel.feasible ? at(data_parallel) : 2 * at(optimum);
  const double gain = slow - at(optimum);
  if (gain <= 0) return at(score) <= at(optimum) ? 100 : 0;
  return std::clamp(static_cast<int>(std::lround(100 * (slow - at(score)) / gain)), 0, 1000);
}

}  // namespace strato
