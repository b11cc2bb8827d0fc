// Two plans side by side: what must hold for any two of them, and what is said of known ones.
#include "core/compare/compare_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/at.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/compare/changes.h"
#include "core/io/json.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/strategy/value/variable_check.h"
#include "tests/core/search/toy.h"
#include "tests/paths.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

struct Plan {
  std::string label;
  Problem problem;
  Strategy strategy;
  Outcome outcome;
  PlanToCompare it() const { return {label, problem, strategy, outcome}; }
};

Plan plan_of(const std::string& label, const Problem& problem, const Strategy& strategy,
             const SimulateOptions& options = {}) {
  Plan plan{label, {}, complete(strategy, *problem.cluster), {}};
  plan.problem = problem_for(problem, plan.strategy);
  plan.outcome = simulate_strategy(problem, plan.strategy, false, options);
  return plan;
}

Problem chain_on(int fast, int slow, const std::vector<std::int64_t>& widths = {512, 512, 512, 64},
                 std::int64_t batch = 64) {
  const auto graph = std::make_shared<const Graph>(toy::chain(widths, batch));
  ProblemOptions options;
  options.grouping.max_groups = 4;
  return make_problem(*graph, toy::small_cluster(fast, slow), options);
}

template <class Rows, class Get>
Nanos sum_of(const Rows& rows, Get get) {
  Nanos sum;
  for (const auto& row : rows) sum += get(row);
  return sum;
}

void check_sums(const PlanComparison& comparison) {
  const Nanos from = comparison.plans.from.step_time, to = comparison.plans.to.step_time;
  EXPECT_EQ(sum_of(comparison.causes, [](const Cause& c) { return c.from; }), from);
  EXPECT_EQ(sum_of(comparison.causes, [](const Cause& c) { return c.to; }), to);
  EXPECT_EQ(sum_of(comparison.groups, [](const GroupChange& g) { return g.on_path.from; }), from);
  EXPECT_EQ(sum_of(comparison.groups, [](const GroupChange& g) { return g.on_path.to; }), to);
  for (const std::size_t most : {2, 3, 5, 100}) {
    const std::vector<Cause> some = folded(comparison.causes, most);
    EXPECT_LE(some.size(), most);
    EXPECT_EQ(sum_of(some, [](const Cause& c) { return c.change(); }), to - from);
  }
  for (std::size_t i = 1; i < comparison.causes.size(); ++i)
    EXPECT_GE(std::abs(comparison.causes[i - 1].change().value),
              std::abs(comparison.causes[i].change().value));
  EXPECT_FALSE(comparison.sentence.empty());
}

TEST(ComparePlans, CausesAndGroupsAddUpExactly) {
  for (std::uint64_t seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random);
    const Problem problem{made.graph, made.grouping, made.cluster, made.cost};
    SimulateOptions options;
    options.fair_links = seed % 3 == 0;
    const Plan from = plan_of("a", problem, random_strategy(made, random), options);
    const Plan to = plan_of("b", problem, random_data_parallel(made, random), options);
    check_sums(compare_plans(from.it(), to.it()));
  }
}

// Every model, cluster and strategy is another one: nothing is lost, nothing is counted twice.
TEST(ComparePlans, AddUpBetweenOtherModelsAndClusters) {
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem a = random_problem(random), b = random_problem(random);
    const Plan from =
        plan_of("a", {a.graph, a.grouping, a.cluster, a.cost}, random_strategy(a, random));
    const Plan to =
        plan_of("b", {b.graph, b.grouping, b.cluster, b.cost}, random_strategy(b, random));
    const PlanComparison comparison = compare_plans(from.it(), to.it());
    check_sums(comparison);
    const OpMatch& match = comparison.match;
    EXPECT_EQ(match.same + match.changed + match.renamed + match.only_from.size(),
              a.graph->op_count());
    EXPECT_EQ(match.same + match.changed + match.renamed + match.only_to.size(),
              b.graph->op_count());
  }
}

TEST(ComparePlans, APlanIsTheSameAsItself) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random);
    const Plan plan = plan_of("a", {made.graph, made.grouping, made.cluster, made.cost},
                              random_strategy(made, random));
    const PlanComparison comparison = compare_plans(plan.it(), plan.it());
    EXPECT_TRUE(comparison.same_decisions());
    EXPECT_EQ(comparison.change(), Nanos(0));
    EXPECT_TRUE(folded(comparison.causes, 5).empty());
    EXPECT_TRUE(comparison.sentence.starts_with("The same")) << comparison.sentence;
    for (const GroupChange& group : comparison.groups) EXPECT_EQ(group.change(), Nanos(0));
    for (const TrafficChange& traffic : comparison.traffic) {
      EXPECT_EQ(traffic.bytes.from, traffic.bytes.to);
      EXPECT_EQ(traffic.time.from, traffic.time.to);
    }
  }
}

// Also where each GPU has a network card of its own.
TEST(ComparePlans, WhatGoesThroughNetworkCardsIsBetweenMachines) {
  const auto cluster = std::make_shared<const Cluster>(
      read_cluster(std::string(kSourceFolder) + "/sample_graphs/clusters/h100-2x8.json",
                   GpuCatalogue::bundled()));
  const Problem problem = make_problem(toy::chain({512, 512, 64}, 64), cluster, {});
  const auto on = [&](std::size_t second) {
    Strategy strategy;
    Decision pair;
    pair.devices = {{DeviceId(0), 1}, {DeviceId(second), 1}};
    strategy.groups.assign(problem.grouping->size(), pair);
    return plan_of("pair", problem, strategy);
  };
  const Plan near = on(1), far = on(8);
  for (const TrafficChange& traffic : compare_plans(near.it(), far.it()).traffic) {
    EXPECT_EQ(traffic.bytes.from > Bytes(0), traffic.inside) << traffic.what;
    EXPECT_EQ(traffic.bytes.to > Bytes(0), !traffic.inside) << traffic.what;
  }
}

TEST(ComparePlans, TurnedRoundEverythingHasTheOtherSign) {
  Random random(7);
  const RandomProblem made = random_problem(random);
  const Problem problem{made.graph, made.grouping, made.cluster, made.cost};
  const Plan a = plan_of("a", problem, random_strategy(made, random));
  const Plan b = plan_of("b", problem, random_strategy(made, random));
  const PlanComparison there = compare_plans(a.it(), b.it()), back = compare_plans(b.it(), a.it());
  EXPECT_EQ(there.change().value, -back.change().value);
  EXPECT_EQ(there.differing_groups(), back.differing_groups());
  ASSERT_EQ(there.causes.size(), back.causes.size());
  for (std::size_t i = 0; i < there.devices.size(); ++i)
    EXPECT_EQ(there.devices[i].use.from->peak, back.devices[i].use.to->peak);
}

TEST(ComparePlans, SaysWhatIsWaitedFor) {
  const Problem problem = chain_on(2, 2);
  const Plan from = plan_of("data parallel", problem, data_parallel(problem));
  const Plan to = plan_of("fast only", problem, on_one_device(problem, DeviceId(0)));
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  check_sums(comparison);
  EXPECT_EQ(comparison.differing_groups(), problem.grouping->size());
  for (const GroupChange& group : comparison.groups) {
    EXPECT_EQ(group.decision.from, "AllReduce on all 4 devices");
    EXPECT_EQ(group.decision.to, "on fast:0");
  }
  ASSERT_FALSE(comparison.variables.empty());
  EXPECT_EQ(comparison.variables.front().synchronised.from, "AllReduce of 4 devices");
  EXPECT_EQ(comparison.variables.front().synchronised.to, "none: one device");
  EXPECT_GT(comparison.variables.front().communication.from, Nanos(0));
  EXPECT_EQ(comparison.variables.front().communication.to, Nanos(0));
  EXPECT_NE(comparison.sentence.find("AllReduce"), std::string::npos) << comparison.sentence;
  ASSERT_EQ(comparison.devices.size(), 4u);
  EXPECT_EQ(comparison.devices[2].use.to->compute_busy, Nanos(0));
}

TEST(ComparePlans, GroupsOfTheirOwn) {
  const Problem problem = chain_on(2, 0);
  Strategy divided = data_parallel(problem);
  std::vector<std::int32_t> group_of(problem.graph->op_count());
  std::iota(group_of.begin(), group_of.end(), 0);
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  divided.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  divided.groups.assign(divided.grouping->size(), divided.groups.front());
  divided.groups.front() = decision_on_device(DeviceId(1));
  const Plan coarse = plan_of("coarse", problem, data_parallel(problem));
  const Plan fine = plan_of("fine", problem, divided);
  const PlanComparison there = compare_plans(coarse.it(), fine.it());
  check_sums(there);
  EXPECT_EQ(there.groups.size(), fine.problem.grouping->size());
  EXPECT_EQ(there.differing_groups(), 1u);
  const PlanComparison back = compare_plans(fine.it(), coarse.it());
  check_sums(back);
  EXPECT_EQ(back.differing_groups(), 1u);
  for (const GroupChange& group : back.groups) {
    if (!group.differs) continue;
    EXPECT_NE(group.decision.from.find("on fast:1 (1)"), std::string::npos) << group.decision.from;
  }
}

TEST(ComparePlans, OfAnotherBatchTellsSamplesPerSecond) {
  const Problem small = chain_on(2, 0, {512, 64}, 32), large = chain_on(2, 0, {512, 64}, 64);
  const Plan from = plan_of("small", small, data_parallel(small));
  const Plan to = plan_of("large", large, data_parallel(large));
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  check_sums(comparison);
  EXPECT_FALSE(comparison.match.same_graph);
  EXPECT_GT(comparison.match.changed, 0u);
  EXPECT_TRUE(comparison.match.only_from.empty());
  EXPECT_NE(comparison.sentence.find("32 and 64 samples"), std::string::npos)
      << comparison.sentence;
}

TEST(ComparePlans, WhatDoesNotFitIsSaid) {
  const Problem problem = chain_on(1, 1, {64, 30000, 30000, 64}, 8);
  const Plan from = plan_of("fast", problem, on_one_device(problem, DeviceId(0)));
  const Plan to = plan_of("slow", problem, on_one_device(problem, DeviceId(1)));
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  check_sums(comparison);
  EXPECT_TRUE(comparison.plans.from.fits);
  ASSERT_FALSE(comparison.plans.to.fits);
  EXPECT_TRUE(comparison.plans.to.why_not.starts_with("slow:0 needs"))
      << comparison.plans.to.why_not;
  EXPECT_NE(comparison.sentence.find("slow does not fit into memory"), std::string::npos)
      << comparison.sentence;
}

TEST(ComparePlans, OnAnotherCluster) {
  const Problem two = chain_on(2, 0), three = chain_on(2, 1);
  const Plan from = plan_of("two", two, data_parallel(two));
  const Plan to = plan_of("three", three, data_parallel(three));
  const PlanComparison there = compare_plans(from.it(), to.it());
  check_sums(there);
  EXPECT_FALSE(there.same_cluster);
  ASSERT_EQ(there.devices.size(), 3u);
  EXPECT_FALSE(there.devices[2].use.from);
  const PlanComparison back = compare_plans(to.it(), from.it());
  ASSERT_EQ(back.devices.size(), 3u);
  EXPECT_FALSE(back.devices[2].use.to);
  EXPECT_FALSE(back.devices[2].device.to.valid());
}

TEST(ComparePlans, PricesOfStepsAndSamples) {
  const Problem plain = chain_on(1, 2);
  Json json = Json::parse(plain.cluster->json());
  json["machines"][0]["price_per_hour"] = 3;
  json["machines"][1]["price_per_hour"] = 1;
  Problem problem = plain;
  problem.cluster =
      std::make_shared<const Cluster>(parse_cluster(json.dump(), "c", GpuCatalogue()));
  const Plan all = plan_of("all", problem, data_parallel(problem));
  const Plan one = plan_of("one", problem, on_one_device(problem, DeviceId(0)));
  const Plan free = plan_of("free", plain, data_parallel(plain));
  const PlanComparison comparison = compare_plans(all.it(), one.it());
  ASSERT_TRUE(comparison.price.from && comparison.price.to);
  EXPECT_DOUBLE_EQ(comparison.price.from->per_hour, 5);
  EXPECT_DOUBLE_EQ(comparison.price.from->used_per_hour, 5);
  EXPECT_DOUBLE_EQ(comparison.price.to->used_per_hour, 3);
  EXPECT_NEAR(comparison.price.to->per_step,
              5.0 / 3600 * to_seconds(one.outcome.timeline->step_time), 1e-15);
  EXPECT_NEAR(comparison.price.to->per_million_samples, comparison.price.to->per_step / 64 * 1e6,
              1e-9);
  EXPECT_FALSE(compare_plans(free.it(), one.it()).price.from);
}

TEST(ComparePlans, OtherDecisionsWithoutAChange) {
  const Problem problem = chain_on(1, 0);
  Strategy strategy = data_parallel(problem), with_bucket = strategy;
  with_bucket.bucket = Bytes(1000000);
  const Plan from = plan_of("a", problem, strategy), to = plan_of("b", problem, with_bucket);
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  EXPECT_EQ(comparison.change(), Nanos(0));
  EXPECT_FALSE(comparison.same_decisions());
  ASSERT_EQ(comparison.others.size(), 1u);
  EXPECT_EQ(comparison.others.front(), "gradient buckets: none -> up to 1.00 MB");
}

// All variables are there, alike ones too.
TEST(ComparePlans, VariablesThatAreAlikeAreThere) {
  const Problem problem = chain_on(2, 0);
  Strategy other = data_parallel(problem);
  other.groups[GroupId(0)] = decision_on_device(DeviceId(0));
  const Plan from = plan_of("a", problem, data_parallel(problem)),
             to = plan_of("b", problem, other);
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  EXPECT_EQ(comparison.variables.size(), 3u);  // of three layers
  EXPECT_GT(comparison.differing_variables(), 0u);
  EXPECT_LT(comparison.differing_variables(), comparison.variables.size());
  const PlanComparison same = compare_plans(from.it(), from.it());
  EXPECT_EQ(same.variables.size(), 3u);
  EXPECT_EQ(same.differing_variables(), 0u);
}

// The same order of the ops is no difference, whatever their numbers are in the two models.
TEST(ComparePlans, OrdersAreComparedByOp) {
  const Problem three = chain_on(2, 0, {512, 512, 512, 64}), two = chain_on(2, 0, {512, 512, 64});
  const OpMatch match = match_ops(*three.graph, *two.graph);
  Strategy of_three = data_parallel(three), of_two = data_parallel(two);
  of_two.priorities.assign(two.graph->op_count(), 0);
  for (std::size_t i = 0; i < three.graph->op_count(); ++i) {
    of_three.priorities.push_back(static_cast<std::int32_t>(i * 7919 % 1009));
    if (const OpId other = match.to_of_from[OpId(i)]; other.valid())
      of_two.priorities[other.index()] = of_three.priorities[i];
  }
  const Plan a = plan_of("a", three, of_three), b = plan_of("b", two, of_two);
  ASSERT_NE(a.strategy.priorities, b.strategy.priorities);
  EXPECT_TRUE(compare_plans(a.it(), b.it()).others.empty());
  EXPECT_TRUE(compare_plans(b.it(), a.it()).others.empty());
  Strategy turned = of_two;
  for (std::size_t i = 0; i < two.graph->op_count(); ++i) turned.priorities[i] *= -1;
  const Plan c = plan_of("c", two, turned);
  EXPECT_EQ(compare_plans(a.it(), c.it()).others,
            std::vector<std::string>{"execution order: another one"});
  // Other numbers, the same order.
  Strategy scaled = of_two;
  for (std::size_t i = 0; i < two.graph->op_count(); ++i)
    scaled.priorities[i] = 3 * scaled.priorities[i] - 7;
  const Plan d = plan_of("d", two, scaled);
  EXPECT_TRUE(compare_plans(b.it(), d.it()).others.empty());
  const Plan fifo = plan_of("e", two, data_parallel(two));
  EXPECT_EQ(compare_plans(b.it(), fifo.it()).others,
            std::vector<std::string>{"execution order: its own -> first in, first out"});
}

TEST(ComparePlans, DecisionsOfOpsInWords) {
  const Problem problem = chain_on(2, 0);
  Strategy from;
  from.groups.resize(problem.grouping->size());
  Strategy to = from;
  to.groups[GroupId(1)] = decision_on_device(DeviceId(1));
  const OpId moved = problem.grouping->group(GroupId(1)).ops.front();
  const std::vector<OpId>& others = problem.grouping->group(GroupId(0)).ops;
  ASSERT_GE(others.size(), 4u);
  to.duplicated = {others[0]};
  to.splits = {{others[1], 1, {{DeviceId(0), 1}, {DeviceId(1), 1}}},
               {others[2], 0, {{DeviceId(0), 1}, {DeviceId(1), 3}}}};
  const OpDecisions decided = op_decisions(problem, from, problem, to);
  const auto text = [&](OpId op) { return decided.texts.at(at(decided.of.to[op])); };
  for (const int number : decided.of.from) EXPECT_EQ(decided.texts.at(at(number)), "undecided");
  EXPECT_EQ(text(moved), "on fast:1");
  EXPECT_EQ(text(others[0]), "undecided, whole on each");
  EXPECT_EQ(text(others[1]), "split along axis 1 on all 2 devices");
  EXPECT_EQ(text(others[2]), "split along axis 0 on fast:0 x1, fast:1 x3");
  EXPECT_EQ(text(others[3]), "undecided");
}

TEST(ComparePlans, VariablesSynchronisedOnTheirOwnInWords) {
  const Problem problem = chain_on(2, 0);
  Strategy other = data_parallel(problem);
  SyncPart served;
  served.synchroniser = Synchroniser::Ps;
  served.server = DeviceId(1);
  for (const OpId op : problem.graph->ops().ids())
    if (other.variables.empty() && parameter_of(*problem.graph, op).valid())
      other.variables = {{op, 0, {served}}};
  const Plan from = plan_of("a", problem, data_parallel(problem)),
             to = plan_of("b", problem, other);
  const PlanComparison comparison = compare_plans(from.it(), to.it());
  EXPECT_EQ(comparison.differing_groups(), 0u);
  EXPECT_EQ(comparison.differing_variables(), 1u);
  const auto differs = std::ranges::find(comparison.variables, true, &VariableChange::differs);
  ASSERT_NE(differs, comparison.variables.end());
  EXPECT_EQ(differs->synchronised.from, "AllReduce of 2 devices");
  EXPECT_EQ(differs->synchronised.to, "PS on fast:1");
}

}  // namespace
}  // namespace strato
