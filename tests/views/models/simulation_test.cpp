#include <QSignalSpy>
#include <fstream>

#include "core/cost/value/profile.h"
#include "core/search/evaluate/baselines.h"
#include "core/strategy/file/plan_file.h"
#include "tests/views/models/fixture.h"
#include "views/models/explanation.h"
#include "views/models/vital_signs.h"

namespace strato {
namespace {

using SimulationSwitch = SessionTest;
using Costs = SessionTest;

constexpr Simulation kAll[] = {{TaskOrder::Fifo, false},
                               {TaskOrder::Fifo, true},
                               {TaskOrder::Priority, false},
                               {TaskOrder::Priority, true}};

TEST_F(SimulationSwitch, SimulatesTheStrategyAndItsBaselineAlike) {
  open_lenet();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  session_.settle();
  const Nanos bound = session_.snapshot().lower_bound;
  for (const Simulation& simulation : kAll) {
    session_.set_simulation(simulation);
    session_.settle();
    const Snapshot& snapshot = session_.snapshot();
    const Timeline& shown = *snapshot.outcome->timeline;
    EXPECT_EQ(shown.options.fair_links, simulation.fair_links);
    EXPECT_EQ(shown.options.priorities, simulation.order == TaskOrder::Priority);
    EXPECT_EQ(snapshot.baseline->timeline->options, shown.options);
    EXPECT_EQ(shown.step_time,
              simulate_as(problem(), snapshot.strategy, simulation).timeline->step_time);
    EXPECT_EQ(snapshot.baseline->timeline->step_time,
              simulate_as(problem(), data_parallel(problem()), simulation).timeline->step_time);
    EXPECT_LE(bound, shown.step_time);
    EXPECT_EQ(snapshot.lower_bound, bound);
  }
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(SimulationSwitch, PriorityOrdersByRankUnlessTheStrategyHasAnOrder) {
  open_lenet();
  Strategy strategy = session_.snapshot().strategy;
  EXPECT_TRUE(ordered(problem(), strategy, {}).priorities.empty());
  const Simulation priority{TaskOrder::Priority, false};
  EXPECT_EQ(ordered(problem(), strategy, priority).priorities.size(), problem().graph->op_count());
  strategy.priorities.assign(problem().graph->op_count(), 3);
  EXPECT_EQ(ordered(problem(), strategy, priority), strategy);
}

TEST_F(SimulationSwitch, ASavedPlanHasTheOrderThatWasSeenAndOpensWithIt) {
  open_lenet();
  session_.set_simulation({TaskOrder::Priority, false});
  session_.settle();
  const Nanos seen = step_time();
  const std::string file = folder_.filePath("plan.json").toStdString();
  session_.export_plan(file);
  session_.settle();
  Session other;
  other.open_plan(file);
  other.settle();
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_FALSE(other.snapshot().strategy.priorities.empty());
  EXPECT_EQ(other.simulation().order, TaskOrder::Priority);
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, seen);
}

TEST_F(SimulationSwitch, KeepsThePictureUntilTheNextIsThereAndKnowsOldOnes) {
  open_lenet();
  const auto first = session_.snapshot().outcome;
  QSignalSpy outcomes(&session_, &Session::outcome_changed);
  session_.set_simulation({TaskOrder::Fifo, true});
  EXPECT_EQ(session_.snapshot().outcome, first);
  EXPECT_TRUE(session_.busy());
  session_.settle();
  EXPECT_NE(session_.snapshot().outcome, first);
  EXPECT_EQ(outcomes.count(), 1);
  session_.set_simulation({});  // known: at once
  EXPECT_FALSE(session_.busy());
  EXPECT_EQ(session_.snapshot().outcome, first);
  EXPECT_EQ(session_.snapshot().baseline, first);
}

TEST_F(SimulationSwitch, OnlyTheLastOfQuickSwitchesIsShown) {
  open_lenet();
  QSignalSpy outcomes(&session_, &Session::outcome_changed);
  for (const Simulation& simulation : kAll) session_.set_simulation(simulation);
  session_.settle();
  EXPECT_EQ(outcomes.count(), 1);
  EXPECT_TRUE(session_.snapshot().outcome->timeline->options.fair_links);
  EXPECT_TRUE(session_.snapshot().outcome->timeline->options.priorities);
}

TEST_F(SimulationSwitch, HoldsForWhatIsEditedUndoneAndOpenedLater) {
  session_.set_simulation({TaskOrder::Fifo, true});
  open_lenet();
  EXPECT_TRUE(session_.snapshot().outcome->timeline->options.fair_links);
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  session_.settle();
  session_.set_simulation({});
  session_.settle();
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_FALSE(session_.snapshot().outcome->timeline->options.fair_links);
  EXPECT_EQ(session_.snapshot().outcome->timeline->step_time,
            session_.snapshot().baseline->timeline->step_time);
}

TEST_F(SimulationSwitch, WhatIsChosenWhileAModelLoadsCounts) {
  ImportOptions import;
  import.batch = 16;
  session_.open_model(sample("models/lenet.onnx"), import, {});
  session_.set_simulation({TaskOrder::Fifo, true});
  session_.settle();
  ASSERT_TRUE(session_.snapshot().outcome);
  EXPECT_TRUE(session_.snapshot().outcome->timeline->options.fair_links);
  EXPECT_TRUE(session_.snapshot().baseline->timeline->options.fair_links);
}

TEST_F(SimulationSwitch, StoredScoresAreThoseOfSearches) {
  open_workspace();
  session_.set_simulation({TaskOrder::Priority, true});
  open_lenet();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  session_.settle();
  const Nanos expected =
      simulate_as(problem(), session_.snapshot().strategy, {}).timeline->step_time;
  const auto stored = session_.workspace()->strategies();
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[1].step_time_ns, expected.value);
  EXPECT_EQ(stored[1].parent, stored[0].id);
}

// A measured time for every op on every GPU type, twice what the analytic model says.
Profile slow_profile(const Problem& problem) {
  Profile profile;
  profile.name = "slow";
  const Graph& graph = *problem.graph;
  for (std::size_t type = 0; type < problem.cluster->gpu_types().size(); ++type) {
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      OpProfile op;
      op.signature = op_signature(graph, OpId(i));
      op.gpu = problem.cluster->gpu_types()[GpuTypeId(type)].name;
      for (const std::int64_t samples : {graph.batch() / 2, graph.batch()}) {
        const Nanos time = problem.cost->compute(OpId(i), GpuTypeId(type), samples) * 2;
        if (time.value > 0) op.measurements.push_back({samples, time, Nanos(0), 3});
      }
      if (!op.measurements.empty()) profile.ops.push_back(op);
    }
  }
  return normalised(profile);
}

TEST_F(Costs, AProfileCostsTheSameStrategyAnewAndCanBeClosed) {
  open_lenet();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  session_.settle();
  const Strategy strategy = session_.snapshot().strategy;
  const Nanos before = step_time();
  const std::string file = folder_.filePath("slow.json").toStdString();
  write_profile(file, slow_profile(problem()));
  session_.open_profile(file);
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  ASSERT_TRUE(session_.snapshot().costs.profile);
  EXPECT_EQ(session_.snapshot().strategy, strategy);
  EXPECT_GT(step_time(), before);
  EXPECT_FALSE(session_.snapshot().coverage.isEmpty());
  ASSERT_TRUE(session_.snapshot().explanation);
  EXPECT_GT(session_.snapshot().explanation->error.profile, 0);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, data_parallel(problem()));
  session_.undo_stack().redo();
  session_.close_costs();
  session_.settle();
  EXPECT_FALSE(session_.snapshot().costs.profile);
  EXPECT_EQ(step_time(), before);
}

TEST_F(Costs, AProfileHoldsForModelsOpenedLater) {
  open_lenet();
  const Nanos before = step_time();
  const std::string file = folder_.filePath("slow.json").toStdString();
  write_profile(file, slow_profile(problem()));
  Session other;
  other.open_profile(file);
  other.open_cluster(sample("clusters/tag-2x1080ti.json"));
  ImportOptions import;
  import.batch = 16;
  ProblemOptions options;
  options.grouping.max_groups = 8;
  other.open_model(sample("models/lenet.onnx"), import, options);
  other.settle();
  ASSERT_TRUE(other.snapshot().costs.profile);
  EXPECT_GT(other.snapshot().outcome->timeline->step_time, before);
}

TEST_F(Costs, ABadProfileIsOneLineAndKeepsWhatIsShown) {
  open_lenet();
  const auto problem = session_.snapshot().problem;
  const std::string file = folder_.filePath("bad.json").toStdString();
  std::ofstream(file) << R"({"format":"stratoscope-profile","version":1,"ops":[{"gpu":3}]})";
  session_.open_profile(file);
  session_.settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_[0].contains("bad.json")) << failures_[0].toStdString();
  EXPECT_EQ(session_.snapshot().problem, problem);
  EXPECT_FALSE(session_.snapshot().costs.profile);
}

TEST_F(Costs, WarningsReachTheSnapshot) {
  open_lenet();
  Profile profile = slow_profile(problem());
  for (OpProfile& op : profile.ops) op.gpu = "no-such-gpu";
  const std::string file = folder_.filePath("strange.json").toStdString();
  write_profile(file, profile);
  session_.open_profile(file);
  session_.settle();
  EXPECT_FALSE(session_.snapshot().warnings.isEmpty());
}

}  // namespace
}  // namespace strato
