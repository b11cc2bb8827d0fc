// DPOS against Algorithm 1 written down plainly, closed forms, and brute force for Theorem 1; edits
// against the same graph from scratch.
#include "core/schedule/list/dpos.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/schedule/dag/transfer_times.h"
#include "tests/core/schedule/dag_now.h"
#include "tests/core/schedule/dpos_cases.h"
#include "tests/core/schedule/schedule_check.h"

namespace strato {
namespace {

using dag_cases::ByteCost;
using dag_cases::Kind;
using dag_cases::random_dag;
using dpos_cases::PlainDpos;
using dpos_cases::random_split;

void expect_same(const Schedule& a, const Schedule& b, const std::string& where) {
  ASSERT_TRUE(a.device == b.device) << where;
  ASSERT_TRUE(a.start == b.start) << where;
  ASSERT_TRUE(a.finish == b.finish) << where;
  ASSERT_EQ(a.makespan, b.makespan) << where;
}

Dag chain(std::size_t nodes, Nanos time, Bytes bytes) {
  DagBuilder builder(1);
  for (std::size_t i = 0; i < nodes; ++i) builder.add_node(std::span(&time, 1), Bytes(1));
  for (std::size_t i = 1; i < nodes; ++i)
    builder.add_edge(static_cast<NodeIndex>(i - 1), static_cast<NodeIndex>(i), bytes);
  return std::move(builder).build();
}

Kind random_kind(Random& random, std::size_t types) {
  Kind kind{.nodes = 1 + random.below(40),
            .types = types,
            .times = 2 + random.below(20),
            .bytes = 1 + random.below(20),
            .memory = 2,
            .one_edge_in = 2 + random.below(12),
            .groups = random.below(2) * 5};
  // At times memory for about half of all nodes.
  if (random.below(2) == 0) kind.memory = std::uint64_t{1} << 31;
  return kind;
}

DposOptions random_options(Random& random, const Cluster& cluster) {
  DposOptions options;
  options.critical_path_device = random.below(4) != 0;
  if (random.below(3) == 0) options.memory = 0.3;
  if (random.below(3) == 0)
    for (std::size_t d = 0; d < cluster.device_count(); ++d)
      if (d == 0 || random.below(2) == 0) options.devices.emplace_back(d);
  return options;
}

TEST(Dpos, does_what_algorithm_1_says) {
  const auto clusters = {dag_cases::cluster(1), dag_cases::cluster(3), dag_cases::cluster(2, 2)};
  const ByteCost cost;
  for (const auto& cluster : clusters)
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Random random(seed);
      const Dag dag = random_dag(random, random_kind(random, cluster->gpu_types().size()));
      const DposOptions options = random_options(random, *cluster);
      const TransferTimes transfers(dag, *cluster, cost);
      const Dpos dpos(dag, *cluster, cost, options);
      const Schedule schedule = schedule_now(dpos, *cluster);
      expect_same(schedule, PlainDpos(dag, transfers, *cluster, options).schedule,
                  "seed " + std::to_string(seed));
      ASSERT_EQ(problem_with(schedule, dag, transfers, *cluster), "") << seed;
    }
}

// A trial says what the edited graph's schedule would be and changes nothing; what is taken is as
// if it had been so from the start.
TEST(Dpos, edits_are_as_from_scratch) {
  const auto cluster = dag_cases::cluster(2, 2);
  const ByteCost cost;
  std::size_t saved = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Kind kind = random_kind(random, cluster->gpu_types().size());
    kind.nodes *= seed % 8 == 0 ? 10 : 1;  // more than one checkpoint
    const DposOptions options = random_options(random, *cluster);
    Dpos dpos(random_dag(random, kind), *cluster, cost, options);
    for (int i = 0; i < 6; ++i) {
      const std::string where = "seed " + std::to_string(seed) + " edit " + std::to_string(i);
      const DagEdit edit = random_split(random, dpos, kind);
      const Schedule before = schedule_now(dpos, *cluster);
      const Nanos makespan = dpos.makespan();
      const Dpos::EditedSchedule trial = dpos.trial(edit);
      expect_same(before, schedule_now(dpos, *cluster), where);
      ASSERT_EQ(dpos.makespan(), makespan) << where;
      ASSERT_GE(dpos.trial(edit, trial.makespan).makespan, trial.makespan) << where;
      saved += dpos.order().size() - std::min(dpos.order().size(), trial.placed);
      all += dpos.order().size();
      if (i % 2 == 1) continue;
      dpos.take(edit);
      ASSERT_EQ(dpos.makespan(), trial.makespan) << where;
      ASSERT_EQ(dpos.fits(), trial.fits) << where;
      const Dag now = dag_now(dpos, *cluster);
      const Dpos scratch(now, *cluster, cost, options);
      expect_same(schedule_now(dpos, *cluster), schedule_now(scratch, *cluster), where);
      ASSERT_EQ(dpos.fits(), scratch.fits()) << where;
      ASSERT_EQ(problem_with(schedule_now(dpos, *cluster), now, TransferTimes(now, *cluster, cost),
                             *cluster),
                "")
          << where;
    }
  }
  EXPECT_GT(saved, all / 20);  // a good deal is not scheduled again
}

// The least makespan without transfer times and with enough memory: all assignments and orders, by
// always running some ready node next (a left-shifted schedule is optimal).
Nanos optimum(const Dag& dag, std::size_t devices) {
  const std::size_t n = dag.size();
  std::vector<Nanos> finish(n), free(devices);
  std::vector<char> done(n);
  Nanos best = Nanos::max();
  const auto search = [&](auto&& self, std::size_t count, Nanos makespan) -> void {
    if (makespan >= best) return;
    if (count == n) {
      best = makespan;
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (done[i]) continue;
      Nanos ready;
      bool is_ready = true;
      for (const DagEdge& edge : dag.predecessors(static_cast<NodeIndex>(i))) {
        is_ready = is_ready && done[static_cast<std::size_t>(edge.node)];
        ready = std::max(ready, finish[static_cast<std::size_t>(edge.node)]);
      }
      if (!is_ready) continue;
      for (std::size_t d = 0; d < devices; ++d) {
        const Nanos before = free[d];
        finish[i] = std::max(ready, before) + dag.time(static_cast<NodeIndex>(i), GpuTypeId(0));
        free[d] = finish[i];
        done[i] = 1;
        self(self, count + 1, std::max(makespan, finish[i]));
        done[i] = 0;
        free[d] = before;
        if (before == Nanos()) break;  // empty devices are alike
      }
    }
  };
  search(search, 0, Nanos());
  return best;
}

// The longest sum of longest transfers along a chain.
Nanos most_transfer(const Dag& dag, const TransferTimes& transfers) {
  std::vector<Nanos> after(dag.size());
  Nanos most;
  for (std::size_t i = dag.size(); i-- > 0;) {
    for (const DagEdge& edge : dag.successors(static_cast<NodeIndex>(i)))
      after[i] = std::max(
          after[i], transfers.longest(edge.edge) + after[static_cast<std::size_t>(edge.node)]);
    most = std::max(most, after[i]);
  }
  return most;
}

struct BoundStudy {
  int cases = 0, broken = 0;
  double worst = 0;  // makespan over the bound
  std::string example;
};
BoundStudy study_bound(bool critical_path_device) {
  const ByteCost cost;
  BoundStudy study;
  for (const int devices : {2, 3}) {
    const auto cluster = dag_cases::cluster(devices);
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
      Random random(seed);
      const Dag dag = random_dag(random, {.nodes = 2 + random.below(6),
                                          .times = 2 + random.below(12),
                                          .bytes = 1 + random.below(2) * random.below(12),
                                          .memory = 2,
                                          .one_edge_in = 1 + random.below(6)});
      const TransferTimes transfers(dag, *cluster, cost);
      DposOptions options;
      options.critical_path_device = critical_path_device;
      const Dpos dpos(dag, *cluster, cost, options);
      const Nanos bound =
          2 * optimum(dag, static_cast<std::size_t>(devices)) + most_transfer(dag, transfers);
      ++study.cases;
      study.worst = std::max(study.worst, dpos.makespan() / std::max(bound, Nanos(1)));
      if (dpos.makespan() > bound && study.broken++ == 0)
        study.example = "seed " + std::to_string(seed) + ", " + std::to_string(devices) +
                        " devices: " + std::to_string(dpos.makespan().value) + " > " +
                        std::to_string(bound.value);
    }
  }
  return study;
}

// FastT Theorem 1: makespan <= 2 w_opt + C_max on equal devices with enough memory.
TEST(Dpos, theorem_1_holds_where_all_nodes_go_where_they_finish_first) {
  const BoundStudy study = study_bound(false);
  EXPECT_EQ(study.broken, 0) << study.example;
  RecordProperty("worst", std::to_string(study.worst));
}

TEST(Dpos, theorem_1_holds_with_the_critical_path_device) {
  const BoundStudy study = study_bound(true);
  EXPECT_EQ(study.broken, 0) << study.example << ", worst " << study.worst;
}

TEST(Dpos, a_chain_stays_on_one_device) {
  const auto cluster = dag_cases::cluster(4);
  const ByteCost cost;
  const Dpos dpos(chain(100, Nanos(7), Bytes(3)), *cluster, cost, {});
  EXPECT_EQ(dpos.makespan(), Nanos(700));
  EXPECT_EQ(dpos.critical_path().size(), 100U);
  for (NodeIndex i = 0; i < 100; ++i) EXPECT_EQ(dpos.device(i), DeviceId(0));
  EXPECT_EQ(dpos.rank(0), Nanos(700 + 99 * 3));
}

TEST(Dpos, independent_nodes_spread) {
  const auto cluster = dag_cases::cluster(4);
  const ByteCost cost;
  DagBuilder builder(1);
  const Nanos time(5);
  for (int i = 0; i < 10; ++i) builder.add_node(std::span(&time, 1), Bytes(1));
  const Dpos dpos(std::move(builder).build(), *cluster, cost, {});
  EXPECT_EQ(dpos.makespan(), Nanos(15));
}

// The path's device is the one with the smallest average time, even where the first node alone is
// slower there; the rest goes on where it has memory.
TEST(Dpos, the_path_moves_on_when_its_device_is_full) {
  const auto cluster = dag_cases::cluster(3);
  const ByteCost cost;
  DagBuilder builder(1);
  const Nanos time(5);
  const std::int64_t most = cluster->gpu(DeviceId(0)).memory.value;
  for (int i = 0; i < 6; ++i) builder.add_node(std::span(&time, 1), Bytes(most / 2));
  for (NodeIndex i = 1; i < 6; ++i) builder.add_edge(i - 1, i, Bytes(1));
  const Dpos dpos(std::move(builder).build(), *cluster, cost, {});
  EXPECT_TRUE(dpos.fits());
  EXPECT_EQ(dpos.makespan(), Nanos(32));
  for (NodeIndex i = 0; i < 6; ++i) EXPECT_EQ(dpos.device(i), DeviceId(i / 2));
}

TEST(Dpos, takes_the_critical_path_device_although_another_would_finish_first) {
  // Type 0 is slow for the first node and fast for the other two.
  const auto cluster = dag_cases::cluster(1, 1);
  const ByteCost cost;
  DagBuilder builder(2);
  for (const auto& times : {std::vector{Nanos(20), Nanos(10)}, std::vector{Nanos(1), Nanos(50)}})
    builder.add_node(times, Bytes(1));
  builder.add_edge(0, 1, Bytes(1));
  const Dag dag = std::move(builder).build();
  EXPECT_EQ(Dpos(dag, *cluster, cost, {}).makespan(), Nanos(21));
  DposOptions free;
  free.critical_path_device = false;
  EXPECT_EQ(Dpos(dag, *cluster, cost, free).makespan(), Nanos(10 + 3 + 1));
}

TEST(Dpos, steps_tell_every_candidate) {
  const auto cluster = dag_cases::cluster(3);
  const ByteCost cost;
  Random random(3);
  const Dag dag = random_dag(random, {.nodes = 30, .groups = 3});
  Dpos dpos(dag, *cluster, cost, {});
  const Schedule before = schedule_now(dpos, *cluster);
  const auto steps = dpos.steps();
  expect_same(before, schedule_now(dpos, *cluster), "after steps");
  ASSERT_EQ(steps.size(), 30U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PlanningSteps::Step& step = steps[i];
    EXPECT_EQ(step.node, dpos.order()[i]);
    EXPECT_EQ(step.start, dpos.start(step.node));
    EXPECT_EQ(step.device, dpos.device(step.node));
    if (step.why != PlanningSteps::Why::EarliestFinish) continue;
    ASSERT_EQ(step.candidates.size(), 3U);
    for (const auto& candidate : step.candidates) {
      EXPECT_LE(step.finish, candidate.finish);
      EXPECT_EQ(candidate.finish - candidate.start, step.finish - step.start);
    }
  }
}

// --- Odd input ---

TEST(Dpos, no_node_and_one_node) {
  const auto cluster = dag_cases::cluster(2);
  const ByteCost cost;
  EXPECT_EQ(Dpos(DagBuilder(1).build(), *cluster, cost, {}).makespan(), Nanos());
  EXPECT_EQ(Dpos(chain(1, Nanos(4), Bytes()), *cluster, cost, {}).makespan(), Nanos(4));
}

TEST(Dpos, a_node_larger_than_any_device_makes_it_not_fit) {
  const auto cluster = dag_cases::cluster(2);
  const ByteCost cost;
  DagBuilder builder(1);
  const Nanos time(5);
  builder.add_node(std::span(&time, 1), Bytes(std::int64_t{1} << 40));
  builder.add_node(std::span(&time, 1), Bytes(1));
  builder.add_edge(0, 1, Bytes(1));
  const Dpos dpos(std::move(builder).build(), *cluster, cost, {});
  EXPECT_FALSE(dpos.fits());
  EXPECT_FALSE(schedule_now(dpos, *cluster).fits);
  EXPECT_GE(dpos.makespan(), Nanos(10));
}

TEST(Dpos, a_group_larger_than_any_device_stays_together) {
  const auto cluster = dag_cases::cluster(2);
  const ByteCost cost;
  DagBuilder builder(1);
  const Nanos time(5);
  const std::int64_t most = cluster->gpu(DeviceId(0)).memory.value;
  for (int i = 0; i < 3; ++i) builder.add_node(std::span(&time, 1), Bytes(most / 2), 0);
  const Dpos dpos(std::move(builder).build(), *cluster, cost, {});
  EXPECT_FALSE(dpos.fits());
  EXPECT_EQ(dpos.device(0), dpos.device(2));
  EXPECT_EQ(dpos.makespan(), Nanos(15));
}

TEST(Dpos, zero_costs_and_equal_ranks_keep_the_order_of_the_graph) {
  const auto cluster = dag_cases::cluster(2);
  const ByteCost cost;
  const Dpos dpos(chain(50, Nanos(), Bytes()), *cluster, cost, {});
  EXPECT_EQ(dpos.makespan(), Nanos());
  std::vector<NodeIndex> ascending(50);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_TRUE(std::ranges::equal(dpos.order(), ascending));
}

TEST(Dpos, a_long_chain_and_a_wide_star) {
  const auto cluster = dag_cases::cluster(4);
  const ByteCost cost;
  constexpr std::size_t kNodes = 100'000;
  EXPECT_EQ(Dpos(chain(kNodes, Nanos(3), Bytes(1)), *cluster, cost, {}).makespan(),
            Nanos(3 * kNodes));
  DagBuilder builder(1);
  const Nanos time(4);
  for (std::size_t i = 0; i < kNodes; ++i) builder.add_node(std::span(&time, 1), Bytes(1));
  for (std::size_t i = 1; i + 1 < kNodes; ++i) {
    builder.add_edge(0, static_cast<NodeIndex>(i), Bytes(1));
    builder.add_edge(static_cast<NodeIndex>(i), kNodes - 1, Bytes(1));
  }
  const Dag star = std::move(builder).build();
  const Dpos dpos(star, *cluster, cost, {});
  EXPECT_GE(dpos.makespan(), Nanos(4 * kNodes / 4));
  EXPECT_LE(dpos.makespan(), Nanos(4 * (kNodes / 4 + 5)));
  EXPECT_EQ(problem_with(schedule_now(dpos, *cluster), star, TransferTimes(star, *cluster, cost),
                         *cluster),
            "");
}

}  // namespace
}  // namespace strato
