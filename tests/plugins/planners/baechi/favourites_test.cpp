#include "plugins/planners/list/baechi/favourites.h"

#include <gtest/gtest.h>

#include "tests/plugins/planners/list_toy.h"

namespace strato {
namespace {

using baechi::find_favourites;

baechi::FavouritePiece piece_of(const toy::Case& of) {
  baechi::FavouritePiece piece;
  for (std::size_t i = 0; i < of.dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    piece.nodes.push_back({static_cast<double>(of.dag.time(node, GpuTypeId(0)).value), 0, 0});
    for (const DagEdge& out : of.dag.successors(node))
      piece.edges.push_back({node, out.node, static_cast<double>(of.dag.bytes(out.edge).value)});
  }
  return piece;
}

// The relaxation is a lower bound of the optimum on as many devices as there are nodes, when no
// transfer is longer than a node; the goal's other part may cost a thousandth of the longest path.
TEST(FavouritePiece, its_makespan_is_below_the_optimum) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const toy::Case of(
        toy::random_dag({.nodes = 4, .edges_percent = 60, .time_from = 6, .bytes_to = 6}, 1,
                        random),
        toy::small_cluster(4, 0));
    const auto solution = baechi::solve(piece_of(of));
    ASSERT_TRUE(solution);
    EXPECT_LE(solution->makespan,
              static_cast<double>(toy::Optimum(of, false).makespan().value) + 0.1)
        << round;
    const auto free = static_cast<double>(toy::Optimum(of, true).makespan().value);
    EXPECT_GE(solution->makespan, free - 1e-3) << round;
  }
}

TEST(FavouritePiece, a_fork_saves_the_longer_way) {
  baechi::FavouritePiece piece;
  piece.nodes = {{5, 0, 0}, {20, 0, 0}, {5, 0, 0}};
  piece.edges = {{0, 1, 3}, {0, 2, 4}};
  const auto solution = baechi::solve(piece);
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->saved[0], 1, 1e-6);
  EXPECT_NEAR(solution->saved[1], 0, 1e-6);
  EXPECT_NEAR(solution->makespan, 25, 1e-3);
}

TEST(FavouritePiece, of_equal_makespans_the_one_that_saves_more) {
  baechi::FavouritePiece piece;
  piece.nodes = {{5, 0, 0}, {1, 0, 0}, {1, 0, 0}, {50, 0, 0}};  // node 3: the makespan
  piece.edges = {{0, 1, 3}, {0, 2, 9}};
  const auto solution = baechi::solve(piece);
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->saved[1], 1, 1e-6);
}

TEST(FavouritePiece, without_work_or_edges) {
  baechi::FavouritePiece piece;
  EXPECT_TRUE(baechi::solve(piece));
  piece.nodes = {{0, 0, 0}, {0, 0, 0}};
  piece.edges = {{0, 1, 0}};
  EXPECT_EQ(baechi::solve(piece)->saved[0], 0);
}

void expect_one_each(const toy::Case& of, const baechi::Favourites& favourites) {
  int pairs = 0;
  for (NodeIndex node = 0; static_cast<std::size_t>(node) < of.dag.size(); ++node) {
    const NodeIndex child = favourites.child[static_cast<std::size_t>(node)];
    if (child < 0) continue;
    ++pairs;
    EXPECT_EQ(favourites.parent[static_cast<std::size_t>(child)], node);
    EXPECT_TRUE(std::ranges::any_of(of.dag.successors(node),
                                    [&](const DagEdge& out) { return out.node == child; }));
  }
  const auto parents =
      std::ranges::count_if(favourites.parent, [](NodeIndex parent) { return parent >= 0; });
  EXPECT_EQ(parents, pairs);
  EXPECT_EQ(favourites.by_chain + favourites.by_program + favourites.by_greed, pairs);
}

TEST(Favourites, are_pairs_along_edges_whatever_the_pieces) {
  Random random(10);
  for (int round = 0; round < 100; ++round) {
    const toy::Case of(
        toy::random_dag({.nodes = 5 + round % 40, .edges_percent = 3 + round % 30}, 1, random),
        toy::small_cluster(2, 0));
    for (const int piece : {0, 1, 4, 200})
      expect_one_each(of, find_favourites(of.dag, of.mean(), {0.5, piece}));
    expect_one_each(of, find_favourites(of.dag, of.mean(), {0.1, 200}));
  }
}

TEST(Favourites, a_chain_needs_no_program) {
  const toy::Case of(toy::chain_dag(100'000, 1, 1), toy::small_cluster(2, 0));
  const auto favourites = find_favourites(of.dag, of.mean(), {});
  EXPECT_EQ(favourites.by_chain, 99'999);
  EXPECT_EQ(favourites.programs, 0);
}

TEST(Favourites, asked_to_stop_it_decides_greedily) {
  Random random(13);
  const toy::Case of(toy::random_dag({.nodes = 200, .edges_percent = 3}, 1, random),
                     toy::small_cluster(2, 0));
  std::stop_source stop;
  stop.request_stop();
  const auto favourites = find_favourites(of.dag, of.mean(), {}, stop.get_token());
  EXPECT_EQ(favourites.programs, 0);
  EXPECT_GT(favourites.by_greed, 0);
}

}  // namespace
}  // namespace strato
