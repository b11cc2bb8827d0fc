#include "views/lessons/exercise.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <algorithm>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "tests/paths.h"
#include "views/lessons/exercise_model.h"

namespace strato {
namespace {

Problem small_problem(int groups) {
  const PluginRegistry plugins;
  const std::filesystem::path model =
      std::string(kSourceFolder) + "/sample_graphs/models/lenet.onnx";
  ImportOptions import;
  import.batch = 32;
  ProblemOptions options;
  options.grouping.max_groups = groups;
  const auto cluster = std::make_shared<const Cluster>(
      read_cluster(std::string(kSourceFolder) + "/sample_graphs/clusters/tag-2x1080ti.json",
                   GpuCatalogue::bundled()));
  return make_problem(plugins.importer_for(model)->import(model, import), cluster, options);
}

Score fits(std::int64_t nanos) {
  Score score;
  score.step_time = Nanos(nanos);
  score.feasible = true;
  return score;
}

TEST(Exercise, TheSpaceIsCountedAndEveryNumberIsAnotherStrategy) {
  const StrategySpace space = strategy_space(small_problem(2));
  ASSERT_GE(space.actions.size(), 3u);
  const auto size = space.size();
  ASSERT_TRUE(size);
  std::uint64_t expected = 1;
  for (std::size_t g = 0; g < space.groups; ++g) expected *= space.actions.size();
  EXPECT_EQ(*size, expected);
  std::vector<Digest> seen;
  for (std::uint64_t n = 0; n < *size; ++n) seen.push_back(space.at(n).digest());
  std::ranges::sort(seen);
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  StrategySpace huge = space;
  huge.groups = 1000;
  EXPECT_FALSE(huge.size());
}

TEST(Exercise, TheOptimumIsThatOfTryingAll) {
  const Problem problem = small_problem(2);
  const StrategySpace space = strategy_space(problem);
  const Optimum best = find_optimum(problem, {});
  EXPECT_TRUE(best.proven);
  EXPECT_GE(best.tried, *space.size());
  for (std::uint64_t n = 0; n < *space.size(); ++n)
    EXPECT_FALSE(simulate_strategy(problem, space.at(n), false).score.better_than(best.score));
  EXPECT_FALSE(
      simulate_strategy(problem, data_parallel(problem), false).score.better_than(best.score));
  EXPECT_FALSE(best_single_change(problem, best.strategy, {}).has_value());
}

TEST(Exercise, WhatCannotBeTriedIsClimbed) {
  const Problem problem = small_problem(3);
  const Optimum all = find_optimum(problem, {});
  const Optimum climbed = find_optimum(problem, {}, {}, 0);
  EXPECT_FALSE(climbed.proven);
  EXPECT_FALSE(climbed.score.better_than(all.score));
  EXPECT_FALSE(
      simulate_strategy(problem, data_parallel(problem), false).score.better_than(climbed.score));
}

TEST(Exercise, AHintIsTheBestOfAllSingleChanges) {
  const Problem problem = small_problem(3);
  const Strategy from = data_parallel(problem, Mode::ReplicatePs);
  const auto hint = best_single_change(problem, from, {});
  ASSERT_TRUE(hint);
  Strategy changed = from;
  changed.groups[hint->group] = hint->decision;
  EXPECT_EQ(simulate_strategy(problem, changed, false).score.step_time, hint->score.step_time);
  const StrategySpace space = strategy_space(problem);
  for (std::size_t g = 0; g < space.groups; ++g) {
    for (const Decision& decision : space.actions) {
      Strategy other = from;
      other.groups[GroupId(g)] = decision;
      EXPECT_FALSE(simulate_strategy(problem, other, false).score.better_than(hint->score));
    }
  }
}

TEST(Exercise, StopsWhenItIsAskedTo) {
  const Problem problem = small_problem(3);
  std::stop_source stop;
  stop.request_stop();
  const Optimum best = find_optimum(problem, stop.get_token());
  EXPECT_FALSE(best.proven);
  EXPECT_GT(best.tried, 0u);  // the baselines
  EXPECT_FALSE(best_single_change(problem, data_parallel(problem), stop.get_token()));
}

TEST(Exercise, PointsGoFromDataParallelToTheOptimum) {
  EXPECT_EQ(exercise_points(fits(200), fits(200), fits(100)), 0);
  EXPECT_EQ(exercise_points(fits(150), fits(200), fits(100)), 50);
  EXPECT_EQ(exercise_points(fits(100), fits(200), fits(100)), 100);
  EXPECT_EQ(exercise_points(fits(90), fits(200), fits(100)), 110);
  EXPECT_EQ(exercise_points(fits(900), fits(200), fits(100)), 0);
  EXPECT_EQ(exercise_points(fits(100), fits(100), fits(100)), 100);
  EXPECT_EQ(exercise_points(fits(120), fits(100), fits(100)), 0);
  Score infeasible = fits(50);
  infeasible.feasible = false;
  EXPECT_EQ(exercise_points(infeasible, fits(200), fits(100)), 0);
  EXPECT_EQ(exercise_points(fits(100), infeasible, fits(100)), 100);
  EXPECT_EQ(exercise_points(fits(200), infeasible, fits(100)), 0);
}

class ExerciseModelTest : public ::testing::Test {
 protected:
  void open() {
    session_.open_cluster(std::string(kSourceFolder) + "/sample_graphs/clusters/tag-2x1080ti.json");
    ImportOptions import;
    import.batch = 32;
    ProblemOptions options;
    options.grouping.max_groups = 3;
    session_.open_model(std::string(kSourceFolder) + "/sample_graphs/models/lenet.onnx", import,
                        options);
    session_.settle();
  }
  void settle() {
    model_.wait();
    QCoreApplication::processEvents();
    session_.settle();
  }

  Session session_;
  ExerciseModel model_{session_};
};

TEST_F(ExerciseModelTest, TheBestHasAHundredPointsAndHintsLeadThere) {
  open();
  model_.begin();
  settle();
  ASSERT_TRUE(model_.final());
  session_.show_found(data_parallel(*session_.snapshot().problem, Mode::ReplicatePs),
                      QStringLiteral("PS"));
  settle();
  int hints = 0;
  for (;; ++hints) {
    ASSERT_LT(hints, 50);
    model_.want_hint();
    settle();
    ASSERT_TRUE(model_.hint_known());
    if (!model_.hint()) break;
    const auto before = *model_.points();
    session_.decide({model_.hint()->group}, model_.hint()->decision, QStringLiteral("hint"));
    settle();
    EXPECT_FALSE(model_.hint_known());  // it was about another strategy
    EXPECT_GE(*model_.points(), before);
  }
  EXPECT_GT(hints, 0);
  session_.show_found(model_.optimum()->strategy, QStringLiteral("best"));
  settle();
  EXPECT_EQ(model_.points(), 100);
  EXPECT_GE(*model_.best_points(), 100);
}

// What is shown on request is nobody's own, nor what is made of it afterwards.
TEST_F(ExerciseModelTest, TheBestThatWasShownIsNotOnesOwn) {
  open();
  session_.show_found(data_parallel(*session_.snapshot().problem, Mode::ReplicatePs),
                      QStringLiteral("PS"));
  session_.settle();
  model_.begin();
  model_.show_best(QStringLiteral("best"));  // nothing is known yet
  settle();
  ASSERT_TRUE(model_.final());
  const auto own = model_.best_points();
  ASSERT_TRUE(own);
  ASSERT_LT(*own, 100);
  model_.show_best(QStringLiteral("best"));
  settle();
  EXPECT_EQ(model_.points(), 100);
  EXPECT_EQ(model_.best_points(), own);
  session_.undo_stack().undo();
  settle();
  session_.undo_stack().redo();
  settle();
  EXPECT_EQ(model_.best_points(), own);
  model_.begin();  // again: what is shown counts as where one begins
  settle();
  EXPECT_FALSE(model_.was_shown());
}

TEST_F(ExerciseModelTest, LeavesWhenAnotherProblemIsOpenedAndEndsWhileItSearches) {
  model_.begin();  // nothing is open
  EXPECT_FALSE(model_.active());
  open();
  model_.begin();
  model_.want_hint();
  session_.regroup(2);
  settle();
  EXPECT_FALSE(model_.active());
  EXPECT_FALSE(model_.points());
  model_.begin();
  model_.want_hint();
  // Destroyed while both threads work.
}

}  // namespace
}  // namespace strato
