#include "core/schedule/dag/dag.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/schedule/dag/transfer_times.h"
#include "tests/core/program/toy.h"
#include "tests/core/schedule/dag_cases.h"

namespace strato {
namespace {

using dag_cases::Kind;
using dag_cases::random_dag;
using Edges = std::map<std::pair<NodeIndex, NodeIndex>, std::int64_t>;

Edges edges_of(const Dag& dag) {
  Edges edges;
  for (NodeIndex i = 0; i < static_cast<NodeIndex>(dag.size()); ++i)
    for (const DagEdge& edge : dag.successors(i))
      edges[{i, edge.node}] = dag.bytes(edge.edge).value;
  return edges;
}

TEST(DagBuilder, RowsAscendAndNameTheSameEdgeFromBothEnds) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    DagBuilder builder(1);
    const auto nodes = static_cast<NodeIndex>(1 + random.below(12));
    const Nanos time(1);
    for (NodeIndex i = 0; i < nodes; ++i) builder.add_node(std::span(&time, 1), Bytes(0));
    Edges expected;
    for (int e = 0; nodes > 1 && e < 30; ++e) {
      const auto to =
          static_cast<NodeIndex>(1 + random.below(static_cast<std::uint64_t>(nodes - 1)));
      const auto from = static_cast<NodeIndex>(random.below(static_cast<std::uint64_t>(to)));
      const auto bytes = static_cast<std::int64_t>(random.below(100));
      builder.add_edge(from, to, Bytes(bytes));
      expected[{from, to}] += bytes;
    }
    const Dag dag = std::move(builder).build();
    EXPECT_EQ(edges_of(dag), expected);
    EXPECT_EQ(dag.edge_count(), expected.size());
    for (NodeIndex i = 0; i < nodes; ++i) {
      for (const auto row : {dag.successors(i), dag.predecessors(i)})
        for (std::size_t k = 1; k < row.size(); ++k) EXPECT_LT(row[k - 1].node, row[k].node);
      for (const DagEdge& edge : dag.predecessors(i)) {
        const auto back = dag.successors(edge.node);
        EXPECT_TRUE(std::ranges::any_of(back, [&](const DagEdge& other) {
          return other.node == i && other.edge == edge.edge;
        }));
      }
    }
  }
}

TEST(DagBuilder, RefusesWhatIsNoDag) {
  const Nanos time(1);
  const auto two = [&] {
    DagBuilder builder(1);
    builder.add_node(std::span(&time, 1), Bytes(0));
    builder.add_node(std::span(&time, 1), Bytes(0));
    return builder;
  };
  EXPECT_THROW(two().add_edge(1, 0, Bytes(1)), InvariantError);
  EXPECT_THROW(two().add_edge(1, 1, Bytes(1)), InvariantError);
  EXPECT_THROW(two().add_edge(-1, 1, Bytes(1)), InvariantError);
  EXPECT_THROW(two().add_node({}, Bytes(0)), InvariantError);
  DagBuilder builder = two();
  builder.add_edge(1, 2, Bytes(1));
  EXPECT_THROW(std::move(builder).build(), InvariantError);
}

TEST(DagBuilder, EmptyAndSingle) {
  EXPECT_EQ(DagBuilder(2).build().size(), 0u);
  EXPECT_EQ(contract(DagBuilder(2).build(), {}).size(), 0u);
  const Dag one = dag_cases::dag({5}, {});
  EXPECT_TRUE(one.successors(0).empty() && one.predecessors(0).empty());
  EXPECT_EQ(one.time(0, GpuTypeId(0)), Nanos(5));
}

// Cuts the order of the nodes into pieces: clusters ascend along every edge.
std::vector<std::int32_t> random_cut(Random& random, std::size_t nodes) {
  std::vector<std::int32_t> cluster_of(nodes, 0);
  for (std::size_t i = 1; i < nodes; ++i)
    cluster_of[i] = cluster_of[i - 1] + (random.below(3) == 0 ? 1 : 0);
  return cluster_of;
}

TEST(Contract, AddsUpTimesMemoryAndBytes) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Dag dag = random_dag(random, {.nodes = 1 + random.below(15), .types = 2});
    const std::vector<std::int32_t> cluster_of = random_cut(random, dag.size());
    const Dag coarse = contract(dag, cluster_of);
    ASSERT_EQ(coarse.size(), static_cast<std::size_t>(cluster_of.back() + 1));
    std::vector<Nanos> times(coarse.size() * 2);
    std::vector<Bytes> memory(coarse.size());
    Edges edges;
    for (std::size_t i = 0; i < dag.size(); ++i) {
      const auto node = static_cast<NodeIndex>(i);
      const auto cluster = static_cast<std::size_t>(cluster_of[i]);
      memory[cluster] += dag.memory(node);
      for (std::size_t t = 0; t < 2; ++t) times[cluster * 2 + t] += dag.time(node, GpuTypeId(t));
    }
    for (const auto& [ends, bytes] : edges_of(dag)) {
      const auto from = cluster_of[static_cast<std::size_t>(ends.first)];
      const auto to = cluster_of[static_cast<std::size_t>(ends.second)];
      if (from != to) edges[{from, to}] += bytes;
    }
    EXPECT_EQ(edges_of(coarse), edges);
    for (std::size_t c = 0; c < coarse.size(); ++c) {
      EXPECT_EQ(coarse.memory(static_cast<NodeIndex>(c)), memory[c]);
      for (std::size_t t = 0; t < 2; ++t)
        EXPECT_EQ(coarse.time(static_cast<NodeIndex>(c), GpuTypeId(t)), times[c * 2 + t]);
    }
  }
}

TEST(Contract, JoinsGroupsThatShareAClusterAndForgetsInnerOnes) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Dag dag = random_dag(random, {.nodes = 1 + random.below(15), .groups = 5});
    const std::vector<std::int32_t> cluster_of = random_cut(random, dag.size());
    const Dag coarse = contract(dag, cluster_of);
    const std::size_t n = coarse.size();
    std::vector<std::vector<char>> together(n, std::vector<char>(n, false));
    for (std::size_t i = 0; i < n; ++i) together[i][i] = true;
    for (std::size_t i = 0; i < dag.size(); ++i)
      for (std::size_t j = 0; j < dag.size(); ++j)
        if (dag.colocation(static_cast<NodeIndex>(i)) >= 0 &&
            dag.colocation(static_cast<NodeIndex>(i)) == dag.colocation(static_cast<NodeIndex>(j)))
          together[static_cast<std::size_t>(cluster_of[i])]
                  [static_cast<std::size_t>(cluster_of[j])] = true;
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (together[i][k] && together[k][j]) together[i][j] = true;
    std::set<std::int32_t> numbers;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t group = coarse.colocation(static_cast<NodeIndex>(i));
      const bool alone = std::ranges::count(together[i], char(true)) == 1;
      EXPECT_EQ(group < 0, alone);
      if (group >= 0) numbers.insert(group);
      for (std::size_t j = 0; j < n; ++j)
        if (i != j) {
          EXPECT_EQ(group >= 0 && group == coarse.colocation(static_cast<NodeIndex>(j)),
                    static_cast<bool>(together[i][j]));
        }
    }
    EXPECT_EQ(static_cast<std::size_t>(coarse.colocation_count()), numbers.size());
  }
}

TEST(Contract, RefusesClustersThatAreNoDag) {
  const Dag dag = dag_cases::chain(3);
  const auto clusters = [&](std::vector<std::int32_t> of) { return contract(dag, of); };
  EXPECT_THROW(clusters({0, 1, 0}), InvariantError);  // a loop
  EXPECT_THROW(clusters({0, 2, 2}), InvariantError);  // a gap
  EXPECT_THROW(clusters({-1, 0, 0}), InvariantError);
  EXPECT_THROW(clusters({0, 0}), InvariantError);
  EXPECT_EQ(clusters({0, 0, 0}).edge_count(), 0u);
}

TEST(TransferTimes, AreTheCostModels) {
  Random random(4);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto cluster = std::make_shared<const Cluster>(random_cluster(seed));
    const auto graph = toy::training_chain(4, 2, 4);
    const auto cost = make_analytic_cost_model(graph, cluster);
    const Dag dag = random_dag(random, {.nodes = 25, .bytes = 1'000'000'000});
    const TransferTimes times(dag, *cluster, *cost);
    const std::size_t devices = cluster->device_count();
    for (std::size_t e = 0; e < dag.edge_count(); ++e) {
      const auto edge = static_cast<std::int32_t>(e);
      Nanos longest, sum;
      for (std::size_t a = 0; a < devices; ++a)
        for (std::size_t b = 0; b < devices; ++b) {
          const DeviceId from(a), to(b);
          const bool nothing = a == b || dag.bytes(edge) == Bytes(0);
          const Nanos time =
              nothing ? Nanos(0) : cost->transfer(cluster->path(from, to), dag.bytes(edge));
          ASSERT_EQ(times.time(edge, from, to), time);
          longest = std::max(longest, time);
          sum += time;
        }
      EXPECT_EQ(times.longest(edge), longest);
      if (devices > 1)
        EXPECT_EQ(times.mean(edge), sum / static_cast<std::int64_t>(devices * (devices - 1)));
      else
        EXPECT_EQ(times.mean(edge), Nanos(0));
    }
  }
}

TEST(TransferTimes, WithoutEdgesAndOnOneDevice) {
  const auto cluster = dag_cases::cluster(1);
  const dag_cases::ByteCost cost;
  const TransferTimes none(dag_cases::dag({1}, {}), *cluster, cost);
  const TransferTimes one(dag_cases::dag({1, 1}, {{0, 1, 7}}), *cluster, cost);
  EXPECT_EQ(one.time(0, DeviceId(0), DeviceId(0)), Nanos(0));
  EXPECT_EQ(one.longest(0), Nanos(0));
  EXPECT_EQ(one.mean(0), Nanos(0));
}

Problem problem_of(std::shared_ptr<const Graph> graph) {
  Problem problem;
  problem.graph = std::move(graph);
  problem.cluster = toy::cluster(1, 2);
  problem.cost = std::make_shared<toy::Costs>(problem.graph, problem.cluster);
  return problem;
}

// f1 f2 seed gw2 gx2 gw1 u1 u2, each tensor 4 x 8 floats, each parameter 8 floats.
TEST(DagOf, TrainingChain) {
  const Problem problem = problem_of(toy::training_chain(4, 2, 8));
  const Graph& graph = *problem.graph;
  const Dag dag = dag_of(problem);
  ASSERT_EQ(dag.size(), graph.op_count());
  const auto node = [&](const std::string& name) {
    return static_cast<NodeIndex>(graph.find_op(name).value());
  };
  const Edges edges = edges_of(dag);
  const auto bytes = [&](const std::string& from, const std::string& to) {
    const auto at = edges.find({node(from), node(to)});
    return at == edges.end() ? -1 : at->second;
  };
  EXPECT_EQ(bytes("f1", "f2"), 128);
  EXPECT_EQ(bytes("f1", "gw2"), 128);
  EXPECT_EQ(bytes("f1", "gw1"), -1);  // reads the input
  EXPECT_EQ(bytes("f2", "seed"), 128);
  EXPECT_EQ(bytes("gw2", "u2"), 32);
  EXPECT_EQ(bytes("gx2", "u2"), 0);  // reads what u2 overwrites
  EXPECT_EQ(bytes("f2", "u2"), 0);
  EXPECT_EQ(dag.time(node("f1"), GpuTypeId(0)), Nanos(40));
  EXPECT_EQ(dag.time(node("u1"), GpuTypeId(0)), Nanos(7));
  // Who touches w1 and who touches w2.
  EXPECT_EQ(dag.colocation_count(), 2);
  EXPECT_EQ(dag.colocation(node("f1")), 0);
  EXPECT_EQ(dag.colocation(node("u1")), 0);
  for (const char* name : {"f2", "gx2", "u2"}) EXPECT_EQ(dag.colocation(node(name)), 1) << name;
  for (const char* name : {"seed", "gw1", "gw2"}) EXPECT_EQ(dag.colocation(node(name)), -1) << name;
  // Input, parameter with gradient, what the backward pass reads.
  EXPECT_EQ(dag.memory(node("f1")), Bytes(128 + 2 * 32 + 128));
  EXPECT_EQ(dag.memory(node("f2")), Bytes(2 * 32 + 128));
  for (const char* name : {"seed", "gw1", "gw2", "gx2", "u1", "u2"})
    EXPECT_EQ(dag.memory(node(name)), Bytes(0)) << name;
}

TEST(DagOf, ViewsTakeNothingAndKeepWhatTheyShow) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8), w = model.parameter("w", 8);
  const TensorId y = model.layer("f", {x, w}, 8);
  const TensorId flat = model.activation("flat", {4, 8});
  model.op("view", "Identity", {y}, flat);
  const TensorId g = model.seed("seed", flat);
  (void)g;
  const Problem problem = problem_of(std::move(model).build());
  const Graph& graph = *problem.graph;
  ASSERT_TRUE(graph.op(graph.find_op("view")).view);
  const Dag dag = dag_of(problem);
  const auto view = static_cast<NodeIndex>(graph.find_op("view").value());
  EXPECT_EQ(dag.time(view, GpuTypeId(0)), Nanos(0));
  EXPECT_EQ(dag.memory(view), Bytes(0));
  const auto f = static_cast<NodeIndex>(graph.find_op("f").value());
  EXPECT_EQ(dag.memory(f), Bytes(128 + 32 + 128));  // not trained: no gradient
}

TEST(DagOf, GraphWithoutOps) { EXPECT_EQ(dag_of(problem_of(toy::Model(1).build())).size(), 0u); }

}  // namespace
}  // namespace strato
