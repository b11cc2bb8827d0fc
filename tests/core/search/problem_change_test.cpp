// Problems changed, strategies carried over, and what curves and tables are made of.
#include "core/search/run/problem_change.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/graph/build/copy_graph.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/what_if_curve.h"
#include "tests/core/search/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

Problem chain_problem(std::shared_ptr<const Cluster> cluster, std::int64_t batch = 64) {
  ProblemOptions options;
  options.grouping.max_groups = 4;
  return make_problem(toy::chain({256, 1024, 1024, 512}, batch), std::move(cluster), options);
}

Nanos step_of(const Problem& problem, const Strategy& strategy) {
  return simulate_strategy(problem, strategy, false).score.step_time;
}

Outcome plainly(const Problem& problem, const Strategy& strategy) {
  return simulate_strategy(problem, strategy, false);
}

class ProblemChanges : public testing::Test {
 protected:
  Nanos with(const ProblemChange& change) {
    const ChangedProblem changed = changer_.apply(change);
    return step_of(changed.problem, carry_over(data_parallel(problem_), changed));
  }
  Problem problem_ = chain_problem(toy::small_cluster(2, 2));
  ProblemChanger changer_{problem_, {}};
};

TEST_F(ProblemChanges, NothingChangesNothing) {
  const ChangedProblem same = changer_.apply({});
  EXPECT_EQ(same.problem.digest(), problem_.digest());
  EXPECT_EQ(same.problem.cost, problem_.cost);
  EXPECT_TRUE(same.remarks.empty());
  EXPECT_EQ(describe(ProblemChange()), "as it is");
}

TEST_F(ProblemChanges, AnotherBatchIsTheProblemMadeWithIt) {
  const ChangedProblem changed = changer_.apply({.batch = 256, .cluster = {}});
  const Problem made = chain_problem(problem_.cluster, 256);
  EXPECT_EQ(changed.problem.graph->digest(), made.graph->digest());
  EXPECT_EQ(step_of(changed.problem, data_parallel(changed.problem)),
            step_of(made, data_parallel(made)));
  EXPECT_EQ(changer_.apply({.batch = 256, .cluster = {}}).problem.graph, changed.problem.graph);
}

TEST_F(ProblemChanges, MoreOfAnythingIsNeverSlower) {
  const Nanos today = with({});
  for (const double factor : {1.5, 4.0}) {
    ProblemChange change;
    change.cluster.network_bandwidth = factor;
    EXPECT_LT(with(change), today);
    change = {};
    change.cluster.machine_bandwidth = factor;
    EXPECT_LE(with(change), today);
    change = {};
    change.speed = factor;
    EXPECT_LT(with(change), today);
    change = {};
    change.cluster.latency = 1 / factor;
    EXPECT_LT(with(change), today);
    change = {};
    change.cluster.memory = factor;
    EXPECT_EQ(with(change), today);
  }
}

TEST_F(ProblemChanges, FasterDevicesTakeTheirShareOfTheTime) {
  const ChangedProblem changed = changer_.apply({.batch = {}, .speed = 2, .cluster = {}});
  const GpuTypeId gpu(0);
  for (std::size_t op = 0; op < problem_.graph->op_count(); ++op) {
    const Nanos before = problem_.cost->compute(OpId(op), gpu, 64);
    const Nanos now = changed.problem.cost->compute(OpId(op), gpu, 64);
    EXPECT_EQ(now.value, (before.value + 1) / 2);
    EXPECT_EQ(changed.problem.cost->explain_compute(OpId(op), gpu, 64).time, now);
  }
  EXPECT_NE(changed.problem.digest(), problem_.digest());
  EXPECT_THROW(changer_.apply({.batch = {}, .speed = 0, .cluster = {}}), InputError);
  EXPECT_THROW(changer_.apply({.batch = {}, .speed = std::nan(""), .cluster = {}}), InputError);
}

TEST_F(ProblemChanges, MoreMachinesTakePartInDataParallelism) {
  ProblemChange change;
  change.cluster.machines = {{"slow", 5}};
  const ChangedProblem changed = changer_.apply(change);
  const Strategy carried = carry_over(data_parallel(problem_), changed);
  EXPECT_EQ(carried, data_parallel(changed.problem));
  change.cluster.machines = {{"slow", 1}};
  const ChangedProblem fewer = changer_.apply(change);
  EXPECT_EQ(carry_over(data_parallel(problem_), fewer), data_parallel(fewer.problem));
}

TEST_F(ProblemChanges, WhatRunsOnOneDeviceStaysOnOne) {
  ProblemChange change;
  change.cluster.machines = {{"fast", 2}};
  const ChangedProblem changed = changer_.apply(change);
  const Strategy alone = on_one_device(problem_, DeviceId(1));
  const Strategy carried = carry_over(alone, changed);
  for (const auto& decision : carried.groups) EXPECT_EQ(decision->devices.size(), 1u);
}

// Whatever the strategy and the machines left: valid, and it runs.
TEST_F(ProblemChanges, EveryStrategyIsCarriedOverValidly) {
  std::vector<Strategy> strategies;
  for (const Baseline& baseline : simple_baselines(problem_))
    strategies.push_back(baseline.strategy);
  Strategy mixed = data_parallel(problem_);
  const DeviceId slow0 = problem_.cluster->find_device("slow-0:0");
  const DeviceId slow1 = problem_.cluster->find_device("slow-1:0");
  mixed.groups[GroupId(0)] = Decision{Mode::ModelParallel, {{slow0, 1}, {slow1, 1}}};
  mixed.groups[GroupId(1)] = decision_on_device(slow1);
  mixed.groups[GroupId(2)] = Decision{Mode::ReplicatePs, {{DeviceId(0), 3}, {slow1, 2}}};
  strategies.push_back(mixed);
  for (const std::int64_t slow : {0, 1, 2, 7}) {
    for (const std::int64_t fast : {0, 1, 3}) {
      if (slow + fast == 0) continue;
      ProblemChange change;
      change.cluster.machines = {{"slow", slow}, {"fast", fast}};
      change.batch = 48;
      const ChangedProblem changed = changer_.apply(change);
      for (const Strategy& strategy : strategies) {
        const Strategy carried = carry_over(strategy, changed);
        validate(carried, *changed.problem.grouping, *changed.problem.cluster);
        EXPECT_GT(step_of(changed.problem, carried), Nanos(0));
      }
    }
  }
}

TEST_F(ProblemChanges, FiguresAreThoseOfTheOutcome) {
  const Outcome outcome = plainly(problem_, data_parallel(problem_));
  const StepFigures figures = figures_of(problem_, outcome);
  EXPECT_EQ(figures.step_time, outcome.timeline->step_time);
  EXPECT_DOUBLE_EQ(figures.samples_per_second, 64 / to_seconds(figures.step_time));
  EXPECT_GT(figures.efficiency, 0);
  EXPECT_LT(figures.efficiency, 1);
  EXPECT_EQ(figures.feasible, outcome.timeline->feasible);
  // One device alone, without communication or waiting, is at its full speed.
  const Problem alone = chain_problem(toy::small_cluster(1, 0));
  EXPECT_NEAR(figures_of(alone, plainly(alone, data_parallel(alone))).efficiency, 1, 1e-9);
}

TEST_F(ProblemChanges, CurvesPassThroughToday) {
  for (int axis = 0; axis < kWhatIfAxes; ++axis) {
    const auto what = static_cast<WhatIfAxis>(axis);
    EXPECT_EQ(what_if_axis_from(name_of(what)), what);
    const std::vector<double> values = usual_values(what, problem_);
    EXPECT_TRUE(std::ranges::is_sorted(values));
    const double today = value_of({}, what, problem_);
    EXPECT_NE(std::ranges::find(values, today), values.end()) << name_of(what);
    EXPECT_EQ(value_of(with_value({}, what, 3), what, problem_), 3);
  }
  const WhatIfPoint point = what_if_point(changer_, data_parallel(problem_), {}, plainly);
  EXPECT_EQ(point.strategy.step_time, with({}));
  EXPECT_EQ(point.data_parallel.step_time, with({}));
  EXPECT_FALSE(what_if_axis_from("colour"));
}

TEST_F(ProblemChanges, WhatCannotBeIsToldInThePoint) {
  ProblemChange change;
  change.batch = std::int64_t{1} << 60;
  const WhatIfPoint point = what_if_point(changer_, data_parallel(problem_), change, plainly);
  EXPECT_NE(point.problem.find("batch"), std::string::npos);
  EXPECT_THROW(what_if_values(WhatIfAxis::Speed, 2, 1, 5), InputError);
  EXPECT_THROW(what_if_values(WhatIfAxis::Speed, 0, 1, 5), InputError);
  EXPECT_THROW(what_if_values(WhatIfAxis::Speed, 1, 2, 1), InputError);
}

TEST_F(ProblemChanges, BatchesOfACurveAreWholeAndDifferent) {
  EXPECT_EQ(what_if_values(WhatIfAxis::Batch, 1, 4, 20), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(ProblemChanges, ScalingKeepsTheBatchOrTheShareOfADevice) {
  const auto kinds = machine_kinds(*problem_.cluster);
  const auto points = scaling_points(problem_, {}, kinds[1], 8);  // 1, 2 (today), 4, 8
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[1].machines, 2);
  EXPECT_EQ(points[3].devices, 10u);
  for (const ScalingPoint& point : points) {
    EXPECT_FALSE(point.strong.batch);
    EXPECT_EQ(*point.weak.batch, 64 / 4 * static_cast<std::int64_t>(point.devices));
  }
  EXPECT_LE(scaling_points(problem_, {}, kinds[1], 1 << 30).back().devices, kMaxDevices);
}

TEST_F(ProblemChanges, HalfPrecisionSendsHalfTheBytes) {
  ProblemChange change;
  change.precision = DataType::F16;
  const ChangedProblem changed = changer_.apply(change);
  const Graph &before = *problem_.graph, &now = *changed.problem.graph;
  ASSERT_EQ(now.tensor_count(), before.tensor_count());
  for (std::size_t t = 0; t < now.tensor_count(); ++t) {
    const Tensor &old = before.tensor(TensorId(t)), &tensor = now.tensor(TensorId(t));
    const bool halved = old.type == DataType::F32;
    EXPECT_EQ(tensor.bytes().value * (halved ? 2 : 1), old.bytes().value) << old.name;
  }
  EXPECT_LT(with(change), with({}));
  EXPECT_EQ(describe(change), "float16");
  change.batch = 128;
  EXPECT_EQ(changer_.apply(change).problem.graph->batch(), 128);
  EXPECT_EQ(precision_of(*changer_.apply(change).problem.graph), DataType::F16);
  change = {};
  change.precision = DataType::F32;  // as it is
  EXPECT_EQ(changer_.apply(change).problem.graph, problem_.graph);
  change.precision = DataType::I8;
  EXPECT_THROW(changer_.apply(change), InputError);
}

// There and back: the same model.
TEST_F(ProblemChanges, PrecisionsAreChangedBack) {
  const Graph half = with_precision(*problem_.graph, DataType::BF16);
  EXPECT_EQ(precision_of(half), DataType::BF16);
  EXPECT_EQ(with_precision(half, DataType::F32).digest(), problem_.graph->digest());
  EXPECT_EQ(precision_from("bf16"), DataType::BF16);
  EXPECT_THROW(precision_from("fp8"), InputError);
  EXPECT_THROW(precision_from(""), InputError);
}

// What is kept is what was simulated, up to the start of kernels.
TEST_F(ProblemChanges, TheChangedClusterCanBeKept) {
  ProblemChange change;
  change.cluster.network_bandwidth = 2;
  change.cluster.machines = {{"slow", 3}};
  EXPECT_EQ(cluster_to_keep(problem_.cluster, change)->digest(),
            changer_.apply(change).problem.cluster->digest());
  change.speed = 4;
  const auto kept = cluster_to_keep(problem_.cluster, change);
  const auto again =
      std::make_shared<const Cluster>(parse_cluster(kept->json(), "kept", GpuCatalogue()));
  EXPECT_EQ(again->digest(), kept->digest());
  EXPECT_EQ(cluster_to_keep(problem_.cluster, {}), problem_.cluster);
}

}  // namespace
}  // namespace strato
