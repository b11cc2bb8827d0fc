#include "core/schedule/dag/levels.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/sim/explain/critical_path.h"
#include "tests/core/schedule/dag_cases.h"

namespace strato {
namespace {

using dag_cases::random_dag;
using Order = std::vector<NodeIndex>;

// Bytes as nanoseconds.
Weights plain(const Dag& dag) {
  Weights weights;
  for (std::size_t i = 0; i < dag.size(); ++i)
    weights.node.push_back(dag.time(static_cast<NodeIndex>(i), GpuTypeId(0)));
  for (std::size_t e = 0; e < dag.edge_count(); ++e)
    weights.edge.emplace_back(dag.bytes(static_cast<std::int32_t>(e)).value);
  return weights;
}
std::vector<Nanos> nanos(std::vector<std::int64_t> values) {
  std::vector<Nanos> result;
  for (const std::int64_t value : values) result.emplace_back(value);
  return result;
}

TEST(Levels, Chain) {
  const Dag dag = dag_cases::dag({1, 2, 3}, {{0, 1, 10}, {1, 2, 20}});
  EXPECT_EQ(t_levels(dag, plain(dag)), nanos({0, 11, 33}));
  EXPECT_EQ(b_levels(dag, plain(dag)), nanos({36, 25, 3}));
  EXPECT_DOUBLE_EQ(communication_to_computing(plain(dag)), 5);
}

// 0 -> {1, 2, 3} -> 4
TEST(Levels, ForkJoin) {
  const Dag dag = dag_cases::dag(
      {2, 5, 1, 1, 3}, {{0, 1, 1}, {0, 2, 9}, {0, 3, 2}, {1, 4, 4}, {2, 4, 1}, {3, 4, 2}});
  EXPECT_EQ(t_levels(dag, plain(dag)), nanos({0, 3, 11, 4, 13}));
  EXPECT_EQ(b_levels(dag, plain(dag)), nanos({16, 12, 5, 6, 3}));
  // By rank, not by length: FastT goes on to the successor with the largest one.
  EXPECT_EQ(critical_path(dag, b_levels(dag, plain(dag))), (Order{0, 1, 4}));
}

TEST(Levels, LongestPathsOfRandomDags) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const Dag dag = random_dag(random, {.nodes = 1 + random.below(9), .one_edge_in = 2});
    const Weights weights = plain(dag);
    const std::vector<Nanos> top = t_levels(dag, weights), bottom = b_levels(dag, weights);
    std::vector<Nanos> before(dag.size()), after(dag.size());
    // Every path that starts at `start`, which has taken `length` when it leaves `at`.
    const std::function<void(NodeIndex, NodeIndex, Nanos)> walk = [&](NodeIndex start, NodeIndex at,
                                                                      Nanos length) {
      const auto s = static_cast<std::size_t>(start), a = static_cast<std::size_t>(at);
      before[a] = std::max(before[a], length);
      length += weights.node[a];
      after[s] = std::max(after[s], length);
      for (const DagEdge& edge : dag.successors(at))
        walk(start, edge.node, length + weights.edge[static_cast<std::size_t>(edge.edge)]);
    };
    for (std::size_t i = 0; i < dag.size(); ++i)
      walk(static_cast<NodeIndex>(i), static_cast<NodeIndex>(i), Nanos(0));
    EXPECT_EQ(top, before);
    EXPECT_EQ(bottom, after);
  }
}

TEST(Levels, WeightsOverDevices) {
  DagBuilder builder(2);
  builder.add_node(nanos({10, 40}), Bytes(0));
  builder.add_node(nanos({30, 20}), Bytes(0));
  builder.add_edge(0, 1, Bytes(12));
  const Dag dag = std::move(builder).build();
  const auto cluster = dag_cases::cluster(2, 1);  // a byte: 1 ns between the two, 3 ns to the third
  const TransferTimes transfers(dag, *cluster, dag_cases::ByteCost());
  EXPECT_EQ(longest_weights(dag, transfers).node, nanos({40, 30}));
  EXPECT_EQ(longest_weights(dag, transfers).edge, nanos({36}));
  EXPECT_EQ(mean_weights(dag, *cluster, transfers).node, nanos({20, 26}));  // 80 / 3
  EXPECT_EQ(mean_weights(dag, *cluster, transfers).edge, nanos({28}));      // (2 12 + 4 36) / 6
}

TEST(Levels, NothingAndNoWork) {
  const Dag empty = DagBuilder(1).build();
  EXPECT_TRUE(t_levels(empty, {}).empty());
  EXPECT_TRUE(critical_path(empty, {}).empty());
  EXPECT_TRUE(m_topo(empty).empty() && dfs_topo(empty).empty() && cpd_topo(empty, {}).empty());
  EXPECT_EQ(communication_to_computing({}), 0);
  EXPECT_EQ(communication_to_computing({nanos({0}), nanos({5})}), 0);
  const Dag two = dag_cases::dag({1, 1}, {});
  EXPECT_THROW(b_levels(two, {}), InvariantError);
  EXPECT_THROW(critical_path(two, {}), InvariantError);
}

// Two components and equal ranks: the smaller node.
TEST(CriticalPath, TiesGoToTheSmallerNode) {
  const Dag dag = dag_cases::dag({1, 1, 1, 1, 1}, {{0, 2, 1}, {1, 3, 1}, {1, 4, 1}});
  EXPECT_EQ(critical_path(dag, b_levels(dag, plain(dag))), (Order{0, 2}));
  const Dag other = dag_cases::dag({1, 2, 1, 1, 1}, {{0, 2, 1}, {1, 3, 1}, {1, 4, 1}});
  EXPECT_EQ(critical_path(other, b_levels(other, plain(other))), (Order{1, 3}));
}

// Celeritas Figure 3: two chains side by side.
TEST(Orders, BreadthAlternatesDepthDoesNot) {
  const Dag dag = dag_cases::dag({1, 1, 1, 1, 1, 1}, {{0, 2, 1}, {2, 4, 1}, {1, 3, 1}, {3, 5, 1}});
  EXPECT_EQ(m_topo(dag), (Order{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(dfs_topo(dag), (Order{0, 2, 4, 1, 3, 5}));
}

// Algorithm 1 (CPD_Topo) by hand. Sources 0 and 1; times 1 but for node 4, no bytes.
//   0 -> 2 3 4, 1 -> 4 5, 2 -> 6, 3 -> 6, 4 -> 6
// With 10 for node 4: cpath 0: 12, 1: 12, 2: 3, 3: 3, 4: 12, 5: 2, 6: 12. Q = [0 1]; 0 leaves:
// children 2 3 are free (4 waits for 1), equal, the smaller comes first: Q = [2 3 1]; 2, 3; 1
// leaves: children by cpath 5 (2), 4 (12), both to the head: Q = [4 5]; 4 frees 6: Q = [6 5].
TEST(Orders, CriticalPathFirst) {
  const Dag dag = dag_cases::dag(
      {1, 1, 1, 1, 10, 1, 1},
      {{0, 2, 0}, {0, 3, 0}, {0, 4, 0}, {1, 4, 0}, {1, 5, 0}, {2, 6, 0}, {3, 6, 0}, {4, 6, 0}});
  EXPECT_EQ(cpd_topo(dag, plain(dag)), (Order{0, 2, 3, 1, 4, 6, 5}));
  // A heavy edge makes 1 the better source and 5 its better child: cpath 1: 42, 5: 42.
  Weights weights = plain(dag);
  weights.edge[static_cast<std::size_t>(dag.successors(1)[1].edge)] = Nanos(40);
  EXPECT_EQ(cpd_topo(dag, weights), (Order{1, 5, 0, 4, 2, 3, 6}));
}

bool is_topological(const Dag& dag, const Order& order) {
  if (order.size() != dag.size() ||
      std::set<NodeIndex>(order.begin(), order.end()).size() != dag.size())
    return false;
  std::vector<std::size_t> place(dag.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  for (std::size_t i = 0; i < dag.size(); ++i)
    for (const DagEdge& edge : dag.successors(static_cast<NodeIndex>(i)))
      if (place[static_cast<std::size_t>(edge.node)] < place[i]) return false;
  return true;
}

TEST(Orders, AreTopological) {
  Random random(6);
  for (int round = 0; round < 500; ++round) {
    const Dag dag = random_dag(random, {.nodes = 1 + random.below(40),
                                        .times = 3,
                                        .bytes = 3,
                                        .one_edge_in = 1 + random.below(20)});
    EXPECT_TRUE(is_topological(dag, m_topo(dag)));
    EXPECT_TRUE(is_topological(dag, dfs_topo(dag)));
    EXPECT_TRUE(is_topological(dag, cpd_topo(dag, plain(dag))));
  }
}

TEST(Orders, LongChainsAndLargeStars) {
  constexpr std::int32_t kMany = 100'000;
  for (const Dag& dag : {dag_cases::chain(kMany), dag_cases::star(kMany)}) {
    EXPECT_TRUE(is_topological(dag, m_topo(dag)));
    EXPECT_TRUE(is_topological(dag, dfs_topo(dag)));
    EXPECT_TRUE(is_topological(dag, cpd_topo(dag, plain(dag))));
    const Order path = critical_path(dag, b_levels(dag, plain(dag)));
    EXPECT_EQ(path.size(), dag.edge_count() < dag.size() ? dag.size() : 3);
  }
}

}  // namespace
}  // namespace strato
