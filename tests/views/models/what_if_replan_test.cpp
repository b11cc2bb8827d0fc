// The changed problem of a what-if planned anew, where the strategy shown changes the results of
// training: it is no answer to a search that keeps them, however fast it is.
#include "views/models/what_if_replan.h"

#include "core/strategy/value/variable_check.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/scaling_replan.h"

namespace strato {
namespace {

// Gradients sent in half precision.
Strategy halved(const Problem& problem) {
  Strategy strategy = data_parallel(problem);
  SyncPart half;
  half.encoding = Encoding::Half;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    if (parameter_of(*problem.graph, OpId(i)).valid())
      strategy.variables.push_back({OpId(i), 0, {half}});
  return strategy;
}

TEST_F(SessionTest, WhatChangesResultsIsNotKeptByAReplan) {
  ImportOptions import;
  import.batch = 352;
  session_.open_cluster(sample("clusters/autodist-a2.json"));
  session_.open_model(sample("models/alexnet.onnx"), import, {});
  session_.settle();
  session_.edit(halved(problem()), "half precision");
  session_.settle();
  const Nanos lossy = step_time();
  Gate gate;
  WhatIfReplan replan(session_, tiny_factory(gate));
  replan.start({}, "dp", 1);
  replan.settle();
  ASSERT_TRUE(replan.found()) << replan.problem().toStdString();
  EXPECT_TRUE(keeps_results(replan.found()->strategy));
  EXPECT_GT(replan.found()->figures.step_time, lossy);
  // What keeps them stays where nothing better is found.
  session_.edit(all_on(problem(), 0), "alone");
  session_.settle();
  const Nanos alone = step_time();
  replan.start({}, "dp", 1);
  replan.settle();
  ASSERT_TRUE(replan.found());
  EXPECT_LE(replan.found()->figures.step_time, alone);
}

// One line of points is planned under the same demands, from the same strategy.
TEST_F(SessionTest, TheNextReplanIsOfWhatTheFirstWasOf) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  Gate gate;
  WhatIfReplan replan(session_, tiny_factory(gate));
  replan.start_next({});
  EXPECT_FALSE(replan.running());
  const Nanos spread = step_time();
  session_.edit(all_on(problem(), 0), "alone");
  session_.settle();
  const bool alone_is_faster = step_time() < spread;
  if (!alone_is_faster) session_.edit(data_parallel(problem()), "spread");
  session_.settle();
  const Strategy better = session_.snapshot().strategy;
  const QString planner = alone_is_faster ? "dp" : "one";  // that of the slower one
  replan.start({}, planner, 1);
  replan.settle();
  ASSERT_TRUE(replan.found()) << replan.problem().toStdString();
  EXPECT_EQ(replan.found()->strategy, better);
  session_.edit(alone_is_faster ? data_parallel(problem()) : all_on(problem(), 0), "slower");
  session_.settle();
  const auto before = replan.found();
  replan.start_next({});
  replan.settle();
  ASSERT_NE(replan.found(), before) << replan.problem().toStdString();
  EXPECT_EQ(replan.found()->strategy, better);
}

// Beside the reason why there is none, what was found before would be taken for its answer.
TEST_F(SessionTest, AReplanThatFailedHasFoundNothing) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  Gate gate;
  WhatIfReplan replan(session_, tiny_factory(gate));
  replan.start({}, "dp", 1);
  replan.settle();
  ASSERT_TRUE(replan.found()) << replan.problem().toStdString();
  replan.start({}, "refuses", 1);
  replan.settle();
  EXPECT_EQ(replan.found(), nullptr);
  EXPECT_TRUE(replan.problem().contains("no use for lenet")) << replan.problem().toStdString();
}

// What another planner found for the same change is no answer of this one.
TEST_F(SessionTest, AScalingTakesNoOldAnswer) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  Gate gate;
  ScalingReplan replan(session_, tiny_factory(gate));
  WhatIfScaling scaling;
  scaling.rows.emplace_back();  // as it is
  const ProblemChange as_it_is = scaling.rows[0].at.strong;
  replan.start(scaling, false, "dp", 1);
  replan.settle();
  ASSERT_TRUE(replan.found(as_it_is)) << replan.problem().toStdString();
  replan.start(scaling, false, "refuses", 1);
  replan.settle();
  EXPECT_EQ(replan.found(as_it_is), nullptr);
  EXPECT_TRUE(replan.problem().contains("no use for lenet")) << replan.problem().toStdString();
  EXPECT_EQ(replan.done(), 1u);
}

}  // namespace
}  // namespace strato
