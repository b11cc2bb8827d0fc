// Delta evaluation against full runs: every task, byte and figure is the same after any sequence of
// edits.
#include "core/sim/engine/delta.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/program/delta/delta_lower.h"
#include "core/program/lower/lower.h"
#include "core/sim/timeline/feedback.h"
#include "tests/core/program/toy.h"
#include "tests/core/sim/expect_same.h"

namespace strato {
namespace {

// A chain of layers in as many groups, on two machines.
struct Layers {
  static std::vector<std::pair<std::string, int>> groups(int layers) {
    std::vector<std::pair<std::string, int>> result;
    for (int i = 1; i <= layers; ++i)
      for (const char* kind : {"f", "gw", "gx", "u"})
        if (i > 1 || std::string(kind) != "gx")
          result.emplace_back(kind + std::to_string(i), i - 1);
    return result;
  }
  explicit Layers(int layers)
      : bench(toy::training_chain(8, layers, 16), toy::cluster(2, 2), groups(layers)),
        delta(bench.graph, bench.grouping, bench.cluster, bench.costs) {}

  Decision decision(Random& random) const {
    std::vector<int> devices, weights;
    for (int d = 0; d < 4; ++d)
      if (random.below(2) == 0) devices.push_back(d);
    if (devices.empty()) devices.push_back(static_cast<int>(random.below(4)));
    for (std::size_t i = 0; i < devices.size(); ++i)
      weights.push_back(1 + static_cast<int>(random.below(3)));
    return toy::Bench::decision(static_cast<Mode>(random.below(4)), devices, weights);
  }
  void compare(const Strategy& strategy) {
    const DeltaEvaluator::Result& result = delta.evaluate(bench.complete(strategy));
    deltas += !result.full;
    const Timeline full = bench.run(strategy), mine = delta.timeline();
    expect_same(*mine.program, *full.program);
    expect_same(mine, full);
    expect_same(delta.feedback(), feedback(full, *bench.grouping));
    EXPECT_EQ(result.step_time, full.step_time);
    EXPECT_EQ(result.tasks, full.tasks.size());
  }

  toy::Bench bench;
  DeltaEvaluator delta;
  int deltas = 0;
};

TEST(Delta, AnySequenceOfEditsGivesWhatFullRunsGive) {
  int deltas = 0;
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Layers layers(4 + static_cast<int>(random.below(6)));
    Strategy strategy;
    for (std::size_t g = 0; g < layers.bench.grouping->size(); ++g)
      strategy.groups.push_back(layers.decision(random));
    for (int edit = 0; edit < 25 && !testing::Test::HasFatalFailure(); ++edit) {
      layers.compare(strategy);
      for (std::uint64_t i = random.below(3); i < 2; ++i)  // none: the same again
        strategy.groups[GroupId(random.below(strategy.groups.size()))] = layers.decision(random);
    }
    deltas += layers.deltas;
  }
  EXPECT_GT(deltas, 400) << "hardly anything was evaluated from the strategy before";
}

TEST(Delta, OneGroupsChangeLowersFewTasks) {
  Layers layers(20);
  Strategy strategy = layers.bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  layers.compare(strategy);
  strategy.groups[GroupId(7)] = toy::Bench::decision(Mode::ModelParallel, {1});
  layers.compare(strategy);
  EXPECT_FALSE(layers.delta.result().full);
  EXPECT_LT(layers.delta.result().lowered * 8, layers.delta.result().tasks);
}

TEST(Delta, DuplicatingOneGradientLowersFewTasks) {
  Layers layers(20);
  Strategy strategy = layers.bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  layers.compare(strategy);
  const Strategy before = strategy;
  strategy.duplicated = {layers.bench.graph->find_op("gw7")};
  EXPECT_TRUE(layers.delta.is_near(layers.bench.complete(strategy)));
  layers.compare(strategy);
  EXPECT_FALSE(layers.delta.result().full);
  EXPECT_LT(layers.delta.result().lowered * 8, layers.delta.result().tasks);
  layers.compare(before);
  EXPECT_FALSE(layers.delta.result().full);
  strategy.duplicated.clear();
  for (std::size_t i = 0; i < layers.bench.graph->op_count(); ++i)
    strategy.duplicated.push_back(OpId(i));
  EXPECT_FALSE(layers.delta.is_near(layers.bench.complete(strategy))) << "all of it changes";
}

TEST(Delta, TheSameStrategyAgainDoesNothing) {
  Layers layers(10);
  const Strategy strategy = layers.bench.everywhere(Mode::ReplicatePs, {0, 1, 2, 3});
  layers.compare(strategy);
  layers.compare(strategy);
  EXPECT_FALSE(layers.delta.result().full);
  EXPECT_EQ(layers.delta.result().lowered, 0u);
}

TEST(Delta, BucketsAndPrioritiesAreEvaluatedInFull) {
  Layers layers(10);
  Strategy strategy = layers.bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  layers.compare(strategy);
  Strategy fused = strategy;
  fused.bucket = Bytes(1 << 20);
  layers.compare(fused);
  EXPECT_TRUE(layers.delta.result().full);
  Strategy ordered = strategy;
  for (std::size_t i = 0; i < layers.bench.graph->op_count(); ++i)
    ordered.priorities.push_back(static_cast<std::int32_t>(i * 7 % 5));
  layers.compare(ordered);
  EXPECT_TRUE(layers.delta.result().full);
  strategy.groups[GroupId(3)] = toy::Bench::decision(Mode::Duplicate, {2, 3});
  layers.compare(strategy);
}

TEST(Delta, UndecidedGroupsAreCompleted) {
  Layers layers(8);
  Strategy strategy;
  strategy.groups.resize(layers.bench.grouping->size());
  EXPECT_FALSE(layers.delta.is_near(layers.bench.complete(strategy)));
  layers.compare(strategy);
  EXPECT_TRUE(layers.delta.is_near(layers.bench.complete(strategy)));
  strategy.groups[GroupId(5)] = toy::Bench::decision(Mode::Duplicate, {0, 3});
  layers.compare(strategy);
}

TEST(Delta, AStrategyOfAnotherGroupingIsRefusedAndTheNextOneIsFine) {
  Layers layers(6);
  const Strategy strategy = layers.bench.everywhere(Mode::Duplicate, {0, 1});
  layers.compare(strategy);
  Strategy wrong = strategy;
  wrong.groups.push_back(wrong.groups[GroupId(0)]);
  EXPECT_ANY_THROW(layers.delta.evaluate(layers.bench.complete(wrong)));
  layers.compare(strategy);
}

}  // namespace
}  // namespace strato
