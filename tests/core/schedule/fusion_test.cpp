// Fusion against brute force over all breakpoints, and the statements that it rests on.
#include "core/schedule/dag/fusion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/base/random.h"

namespace strato {
namespace {

struct FusionCase {
  Dag dag;
  std::vector<Nanos> edge_times;
  std::vector<NodeIndex> sequence;
};

std::int32_t below(Random& random, std::int32_t n) {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
}

FusionCase random_case(Random& random, std::int32_t nodes, int groups = 0) {
  DagBuilder builder(1);
  for (std::int32_t i = 0; i < nodes; ++i) {
    const Nanos time(below(random, 5));
    builder.add_node(std::span(&time, 1), Bytes(below(random, 10)),
                     groups > 0 && random.below(2) == 0 ? below(random, groups) : -1);
  }
  for (std::int32_t to = 1; to < nodes; ++to) {
    for (std::int32_t from = 0; from < to; ++from)
      if (random.below(3) == 0) builder.add_edge(from, to, Bytes(below(random, 100)));
  }
  FusionCase result{std::move(builder).build(), {}, {}};
  for (std::size_t e = 0; e < result.dag.edge_count(); ++e)
    result.edge_times.emplace_back(result.dag.bytes(static_cast<std::int32_t>(e)).value);
  // Any topological order: a random source first.
  std::vector<std::int32_t> open(static_cast<std::size_t>(nodes));
  std::vector<NodeIndex> ready;
  for (NodeIndex i = 0; i < nodes; ++i) {
    open[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(result.dag.predecessors(i).size());
    if (result.dag.predecessors(i).empty()) ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(
        ready[static_cast<std::size_t>(below(random, static_cast<std::int32_t>(ready.size())))],
        ready.back());
    const NodeIndex node = ready.back();
    ready.pop_back();
    result.sequence.push_back(node);
    for (const DagEdge& edge : result.dag.successors(node))
      if (--open[static_cast<std::size_t>(edge.node)] == 0) ready.push_back(edge.node);
  }
  return result;
}

// Communication between clusters when the sequence is cut before the places in `breaks`.
Nanos cut_cost(const FusionCase& c, const std::vector<std::int32_t>& cluster_of) {
  Nanos cost;
  for (NodeIndex i = 0; i < static_cast<NodeIndex>(c.dag.size()); ++i) {
    for (const DagEdge& edge : c.dag.successors(i))
      if (cluster_of[static_cast<std::size_t>(i)] !=
          cluster_of[static_cast<std::size_t>(edge.node)])
        cost += c.edge_times[static_cast<std::size_t>(edge.edge)];
  }
  return cost;
}

std::vector<std::int32_t> clusters_of(const FusionCase& c, std::uint64_t breaks_after) {
  std::vector<std::int32_t> cluster_of(c.dag.size());
  std::int32_t cluster = 0;
  for (std::size_t p = 0; p < c.sequence.size(); ++p) {
    cluster_of[static_cast<std::size_t>(c.sequence[p])] = cluster;
    if ((breaks_after >> p & 1) != 0) ++cluster;
  }
  return cluster_of;
}

bool within(const FusionCase& c, const std::vector<std::int32_t>& cluster_of,
            const FusionLimits& limits, const std::vector<std::int32_t>& label) {
  std::vector<std::int32_t> nodes(c.dag.size()), labelled(c.dag.size(), -1);
  std::vector<Bytes> memory(c.dag.size());
  for (std::size_t i = 0; i < c.dag.size(); ++i) {
    const auto k = static_cast<std::size_t>(cluster_of[i]);
    ++nodes[k];
    memory[k] += c.dag.memory(static_cast<NodeIndex>(i));
    if (label.empty() || label[i] < 0) continue;
    if (labelled[k] >= 0 && labelled[k] != label[i]) return false;
    labelled[k] = label[i];
  }
  for (std::size_t k = 0; k < c.dag.size(); ++k)
    if (nodes[k] > limits.range || (nodes[k] > 1 && memory[k] > limits.memory)) return false;
  return true;
}

Nanos best_by_brute_force(const FusionCase& c, const FusionLimits& limits,
                          const std::vector<std::int32_t>& label) {
  Nanos best = Nanos::max();
  for (std::uint64_t breaks = 0; breaks < std::uint64_t{1} << (c.dag.size() - 1); ++breaks) {
    const auto cluster_of = clusters_of(c, breaks);
    if (within(c, cluster_of, limits, label)) best = std::min(best, cut_cost(c, cluster_of));
  }
  return best;
}

TEST(Fusion, is_optimal_among_all_breakpoints) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const FusionCase c = random_case(random, 1 + below(random, 10));
    const FusionLimits limits{1 + below(random, 10), Bytes(1 + below(random, 40))};
    std::vector<std::int32_t> label;
    if (seed % 2 == 1) {
      for (std::size_t i = 0; i < c.dag.size(); ++i) label.push_back(below(random, 4) - 1);
    }
    const Fusion fusion = fuse(c.dag, c.edge_times, c.sequence, limits, label);
    ASSERT_TRUE(within(c, fusion.cluster_of, limits, label)) << seed;
    ASSERT_EQ(fusion.cost.back(), best_by_brute_force(c, limits, label)) << seed;
    ASSERT_EQ(cut_cost(c, fusion.cluster_of), fusion.cost.back()) << seed;
  }
}

// The table can be replayed: every entry is the cheapest way to cut what is before it.
TEST(Fusion, breakpoints_follow_from_the_table) {
  Random random(7);
  const FusionCase c = random_case(random, 60);
  const Fusion fusion = fuse(c.dag, c.edge_times, c.sequence, {12, Bytes(50)});
  ASSERT_EQ(fusion.cost.size(), 61U);
  ASSERT_EQ(fusion.breaks.front(), 0);
  ASSERT_EQ(fusion.breaks.back(), 60);
  for (std::size_t b = 1; b < fusion.breaks.size(); ++b)
    EXPECT_EQ(fusion.before[static_cast<std::size_t>(fusion.breaks[b])], fusion.breaks[b - 1]);
  EXPECT_EQ(fusion.cluster_count(), fusion.breaks.size() - 1);
  EXPECT_EQ(fusion.cost.front(), Nanos());
}

TEST(Fusion, a_node_above_the_memory_stands_alone) {
  DagBuilder builder(1);
  const Nanos time(1);
  for (std::int64_t memory : {1, 1, 50, 1, 1}) builder.add_node(std::span(&time, 1), Bytes(memory));
  for (NodeIndex i = 0; i + 1 < 5; ++i) builder.add_edge(i, i + 1, Bytes(10));
  const Dag dag = std::move(builder).build();
  const std::vector<Nanos> edge_times(4, Nanos(10));
  const Fusion fusion = fuse(dag, edge_times, {0, 1, 2, 3, 4}, {200, Bytes(8)});
  EXPECT_EQ(fusion.breaks, (std::vector<std::int32_t>{0, 2, 3, 5}));
  EXPECT_EQ(fusion.cost.back(), Nanos(20));
}

TEST(Fusion, takes_the_larger_cluster_where_nothing_speaks_against_it) {
  DagBuilder builder(1);
  const Nanos time(1);
  for (int i = 0; i < 10; ++i) builder.add_node(std::span(&time, 1), Bytes(1));
  const Dag dag = std::move(builder).build();
  std::vector<NodeIndex> sequence(10);
  std::iota(sequence.begin(), sequence.end(), 0);
  EXPECT_EQ(fuse(dag, {}, sequence, {200, Bytes::max()}).cluster_count(), 1U);
  EXPECT_EQ(fuse(dag, {}, sequence, {5, Bytes::max()}).cluster_count(), 2U);
  EXPECT_EQ(fuse(dag, {}, sequence, {1, Bytes::max()}).cluster_count(), 10U);
}

TEST(Fusion, of_nothing_and_of_one_node) {
  EXPECT_EQ(fuse(DagBuilder(1).build(), {}, {}, {}).cluster_count(), 0U);
  DagBuilder builder(1);
  const Nanos time(1);
  builder.add_node(std::span(&time, 1), Bytes(1));
  EXPECT_EQ(fuse(std::move(builder).build(), {}, {0}, {}).cluster_count(), 1U);
}

// Lemma 2: clusters of consecutive nodes of a topological order make no cycle. contract() CHECKs
// that edges go on.
TEST(Fusion, makes_an_acyclic_dag_with_the_same_work) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const FusionCase c = random_case(random, 1 + below(random, 60), 5);
    const Fusion fusion =
        fuse_colocated(c.dag, c.edge_times, c.sequence, {1 + below(random, 12), Bytes(40)});
    const Dag coarse = contract(c.dag, fusion.cluster_of);
    ASSERT_EQ(coarse.size(), fusion.cluster_count());
    Nanos fine_time, coarse_time;
    for (std::size_t i = 0; i < c.dag.size(); ++i)
      fine_time += c.dag.time(static_cast<NodeIndex>(i), GpuTypeId(0));
    for (std::size_t i = 0; i < coarse.size(); ++i)
      coarse_time += coarse.time(static_cast<NodeIndex>(i), GpuTypeId(0));
    ASSERT_EQ(fine_time, coarse_time);
  }
}

TEST(Fusion, nodes_of_one_colocation_group_stay_in_one_and_groups_that_start_apart_stay_apart) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const FusionCase c = random_case(random, 50, 8);
    const FusionLimits limits{6, Bytes::max()};
    const Fusion first = fuse(c.dag, c.edge_times, c.sequence, limits);
    const Fusion fusion = fuse_colocated(c.dag, c.edge_times, c.sequence, limits);
    const Dag coarse = contract(c.dag, fusion.cluster_of);
    std::vector<std::int32_t> started(8, -1), joined(8, -1), start_of(c.dag.size(), -1);
    for (NodeIndex node : c.sequence) {
      const std::int32_t group = c.dag.colocation(node);
      if (group < 0) continue;
      const auto g = static_cast<std::size_t>(group);
      const auto k = static_cast<std::size_t>(fusion.cluster_of[static_cast<std::size_t>(node)]);
      if (started[g] < 0) started[g] = first.cluster_of[static_cast<std::size_t>(node)];
      // What is all in one cluster needs no group.
      const std::int32_t inside = coarse.colocation_count() + static_cast<std::int32_t>(k);
      const std::int32_t group_here = coarse.colocation(static_cast<NodeIndex>(k));
      const std::int32_t together = group_here < 0 ? inside : group_here;
      if (joined[g] < 0) joined[g] = together;
      ASSERT_EQ(joined[g], together) << seed;
    }
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        if (joined[a] < 0 || joined[a] != joined[b]) continue;
        ASSERT_EQ(started[a], started[b]) << seed;
      }
    }
  }
}

// Whether the dag with u and v as one node has a cycle, by removing sources.
bool cyclic_when_merged(const Dag& dag, NodeIndex u, NodeIndex v) {
  const std::size_t n = dag.size();
  const auto at = [&](NodeIndex i) { return static_cast<std::size_t>(i == v ? u : i); };
  std::vector<std::vector<std::size_t>> to(n);
  std::vector<int> open(n);
  for (NodeIndex i = 0; i < static_cast<NodeIndex>(n); ++i) {
    for (const DagEdge& edge : dag.successors(i)) {
      if (at(i) == at(edge.node)) continue;
      to[at(i)].push_back(at(edge.node));
      ++open[at(edge.node)];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < n; ++i)
    if (open[i] == 0) ready.push_back(i);
  std::size_t removed = 0;
  for (; !ready.empty(); ++removed) {
    const std::size_t i = ready.back();
    ready.pop_back();
    for (std::size_t next : to[i])
      if (--open[next] == 0) ready.push_back(next);
  }
  return removed < n;
}

bool has_path_beside_the_edge(const Dag& dag, NodeIndex u, NodeIndex v) {
  std::vector<char> reached(dag.size());
  for (NodeIndex i = u; i <= v; ++i) {
    if (i != u && reached[static_cast<std::size_t>(i)] == 0) continue;
    for (const DagEdge& edge : dag.successors(i))
      if (!(i == u && edge.node == v)) reached[static_cast<std::size_t>(edge.node)] = 1;
  }
  return reached[static_cast<std::size_t>(v)] != 0;
}

// Theorem 1.
TEST(Fusion, merging_the_ends_of_an_edge_makes_a_cycle_exactly_when_there_is_another_path) {
  int with = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const FusionCase c = random_case(random, 2 + below(random, 10));
    for (NodeIndex u = 0; u < static_cast<NodeIndex>(c.dag.size()); ++u) {
      for (const DagEdge& edge : c.dag.successors(u)) {
        const bool other = has_path_beside_the_edge(c.dag, u, edge.node);
        ASSERT_EQ(cyclic_when_merged(c.dag, u, edge.node), other) << seed;
        ++(other ? with : without);
      }
    }
  }
  EXPECT_GT(with, 100);
  EXPECT_GT(without, 100);
}

TEST(Fusion, chain_and_star_of_100000_nodes) {
  constexpr NodeIndex count = 100'000;
  for (const bool star : {false, true}) {
    DagBuilder builder(1);
    const Nanos time(1);
    for (NodeIndex i = 0; i < count; ++i) builder.add_node(std::span(&time, 1), Bytes(1));
    for (NodeIndex i = 1; i < count; ++i) builder.add_edge(star ? 0 : i - 1, i, Bytes(1));
    const Dag dag = std::move(builder).build();
    std::vector<NodeIndex> sequence(count);
    std::iota(sequence.begin(), sequence.end(), 0);
    const std::vector<Nanos> edge_times(dag.edge_count(), Nanos(1));
    EXPECT_EQ(fuse(dag, edge_times, sequence, {200, Bytes::max()}).cluster_count(), 500U);
  }
}

}  // namespace
}  // namespace strato
