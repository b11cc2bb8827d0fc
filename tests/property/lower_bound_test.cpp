// No strategy beats the lower bounds: random graphs and models of all kinds of ops, with costs that
// have a fixed part, random strategies with all that strategies can say, and every plain strategy
// of small problems, on exclusive and on fair links.
#include "core/search/evaluate/lower_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/program/lower/lower.h"
#include "core/search/api/evaluator.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

// Compute costs as real GPUs have them: a launch, a rate, and a knee below which more samples are
// free; communication costs next to nothing, so that the bound is nearly reached. The smallest
// kernel takes as much as moving takes.
class RooflineCosts : public CostModel {
 public:
  RooflineCosts(std::shared_ptr<const CostModel> other, std::int64_t launch, std::int64_t knee,
                std::int64_t move)
      : other_(std::move(other)), launch_(launch), knee_(knee), move_(move) {}
  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return Nanos(launch_) + other_->compute(op, gpu, std::max(samples, knee_));
  }
  Nanos local_move(GpuTypeId, Bytes) const override { return Nanos(move_); }
  Nanos transfer(const Path&, Bytes) const override { return Nanos(1); }
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost = other_->collective(kind, devices, bytes);
    cost.duration = Nanos(1);
    cost.latency = Nanos(0);
    return cost;
  }
  const Digest& digest() const override { return other_->digest(); }

 private:
  std::shared_ptr<const CostModel> other_;
  std::int64_t launch_, knee_, move_;
};

Problem free_communication(const RandomProblem& problem, Random& random, bool free_moves = true) {
  const auto launch = static_cast<std::int64_t>(random.below(60));
  const auto knee = 1 + static_cast<std::int64_t>(random.below(3));
  return {problem.graph, problem.grouping, problem.cluster,
          std::make_shared<RooflineCosts>(problem.cost, launch, knee,
                                          free_moves ? 1 : std::max<std::int64_t>(1, launch / 2))};
}

struct Simulations {
  explicit Simulations(const Problem& problem)
      : lowering(problem.graph, problem.grouping, problem.cluster, problem.cost) {}
  Nanos step_time(const Strategy& strategy, const SimulateOptions& options) {
    simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)), options,
                       timeline);
    return timeline.step_time;
  }
  Lowering lowering;
  Simulator simulator;
  Timeline timeline;
};

struct Held {
  int strategies = 0;
  double tightest = 0;   // the bound's share of a step
  double most_over = 0;  // the other bound's
};

// Holds the bound against so many random strategies of each of 400 random problems, as `change`
// leaves them: nothing where it does not go with the problem.
template <class Change>
Held hold(BoundOf strategies, int count, const Change& change) {
  Held held;
  const BoundOf others = strategies == BoundOf::All ? BoundOf::WholeOps : BoundOf::All;
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = seed % 4 < 3 ? random_problem(random) : random_model_problem(random);
    const Problem problem = free_communication(made, random, seed % 8 < 6);
    const Nanos bound = lower_bound(problem, strategies), other = lower_bound(problem, others);
    EXPECT_LE(lower_bound(problem), lower_bound(problem, BoundOf::WholeOps));
    Simulations simulations(problem);
    for (int i = 0; i < count; ++i) {
      const std::optional<Strategy> strategy = change(random_strategy(made, random), made, random);
      if (!strategy) break;
      const Nanos time =
          simulations.step_time(*strategy, {.priorities = i % 2 == 0, .fair_links = i % 4 == 1});
      EXPECT_LE(bound, time) << "strategy " << i;
      held.tightest = std::max(held.tightest, bound / time);
      held.most_over = std::max(held.most_over, other / time);
      ++held.strategies;
    }
  }
  return held;
}

std::optional<Strategy> in_micro_batches(Strategy strategy, const RandomProblem& problem,
                                         Random& random) {
  const auto micro_batches = random_micro_batches(*problem.graph, random);
  if (!micro_batches || !goes_with(problem, *micro_batches)) return std::nullopt;
  strategy.micro_batches = *micro_batches;
  return strategy;
}

Strategy with_variables(const RandomProblem& problem, Strategy strategy, Random& random) {
  std::mt19937_64 numbers(random.next());
  strategy = complete(strategy, *problem.cluster);
  strategy.variables =
      RandomVariables{*problem.graph, *problem.grouping, *problem.cluster, numbers, true}.variables(
          strategy);
  return strategy;
}

TEST(LowerBound, OfWholeOpsHoldsForStrategiesThatDivideTheBatchAlone) {
  const Held held =
      hold(BoundOf::WholeOps, 40, [](Strategy strategy, const RandomProblem&, Random&) {
        return std::optional(std::move(strategy));
      });
  EXPECT_GT(held.tightest, 0.9);
  EXPECT_LE(held.most_over, 1);
}

// What several devices compute together may take less than any division of the batch.
TEST(LowerBound, HoldsForMeshes) {
  const Held held =
      hold(BoundOf::All, 20, [](Strategy strategy, const RandomProblem& problem, Random& random) {
        return std::optional(with_meshes(problem, std::move(strategy), random));
      });
  EXPECT_GT(held.tightest, 0.9);
  EXPECT_GT(held.most_over, 1.2);  // these beat the other bound
}

// Micro-batches make more tasks of an op than there are devices, each with its own launch.
TEST(LowerBound, HoldsInMicroBatches) {
  const Held held = hold(BoundOf::All, 20, in_micro_batches);
  EXPECT_GT(held.strategies, 1000);
  EXPECT_GT(held.tightest, 0.8);
}

TEST(LowerBound, HoldsForSplitOps) {
  const Held held =
      hold(BoundOf::All, 20, [](Strategy strategy, const RandomProblem& problem, Random& random) {
        strategy.splits = random_splits(problem, strategy, random);
        return std::optional(std::move(strategy));
      });
  EXPECT_GT(held.tightest, 0.9);
  EXPECT_GT(held.most_over, 1.02);
}

// In parts, whose servers update them side by side, and stale, so that nothing waits for gradients.
TEST(LowerBound, HoldsForVariablesInPartsAndStale) {
  const Held held =
      hold(BoundOf::All, 20, [](Strategy strategy, const RandomProblem& problem, Random& random) {
        return std::optional(with_variables(problem, std::move(strategy), random));
      });
  EXPECT_GT(held.tightest, 0.8);
}

TEST(LowerBound, HoldsForAllOfItTogether) {
  const auto all = [](Strategy strategy, const RandomProblem& problem,
                      Random& random) -> std::optional<Strategy> {
    if (random.below(4) != 0) strategy = with_meshes(problem, std::move(strategy), random);
    if (random.below(3) == 0) strategy = with_variables(problem, std::move(strategy), random);
    if (auto divided = in_micro_batches(strategy, problem, random)) return divided;
    strategy.splits = random_splits(problem, strategy, random);  // which has no micro-batches
    return strategy;
  };
  const Held held = hold(BoundOf::All, 20, all);
  EXPECT_GT(held.strategies, 1000);
  EXPECT_GT(held.tightest, 0.7);
}

// Every mode on every set of devices with every weight up to 2.
std::vector<Decision> all_decisions(std::size_t devices) {
  std::vector<Decision> decisions;
  for (int code = 1; code < static_cast<int>(std::pow(3, devices)); ++code) {
    Decision decision;
    int rest = code;
    for (std::size_t d = 0; d < devices; ++d, rest /= 3)
      if (rest % 3 > 0) decision.devices.push_back({DeviceId(d), rest % 3});
    for (int mode = 0; mode < 4; ++mode) {
      decision.mode = static_cast<Mode>(mode);
      decisions.push_back(decision);
    }
  }
  return decisions;
}

TEST(LowerBound, OfWholeOpsHoldsForEveryStrategyOfSmallProblems) {
  int problems = 0;
  double tightest = 0;
  for (std::uint64_t seed = 0; problems < 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random);
    const std::size_t devices = made.cluster->device_count();
    if (made.grouping->size() > 2 || devices > 3 || devices < 2) continue;
    ++problems;
    const Problem problem = free_communication(made, random);
    const Nanos bound = lower_bound(problem, BoundOf::WholeOps);
    const std::vector<Decision> decisions = all_decisions(devices);
    Simulations simulations(problem);
    Nanos best = Nanos::max();
    for (const Decision& first : decisions)
      for (const Decision& second : decisions) {
        Strategy strategy;
        strategy.groups.emplace_back(first);
        if (made.grouping->size() > 1) strategy.groups.emplace_back(second);
        best = std::min(best, simulations.step_time(strategy, {}));
        if (made.grouping->size() == 1) break;
      }
    EXPECT_LE(bound, best);
    tightest = std::max(tightest, bound / best);
  }
  EXPECT_GT(tightest, 0.9);
}

}  // namespace
}  // namespace strato
