#include "core/search/mcts/tree_replay.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

std::shared_ptr<const SearchTree> searched(std::int64_t iterations, PlannerOptions options = {}) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  toy::FakeEvaluator evaluator(*problem.cluster, toy::separable);
  options.iterations = iterations;
  Observer quiet;
  return tree_search({problem, evaluator, options, quiet}, TreeSearchOptions::from(options)).tree;
}

// Trees of one search have different vertex numbers, but the same paths.
using ByPath = std::map<std::vector<std::int32_t>, std::pair<std::int32_t, double>>;

std::vector<std::int32_t> actions_to(const SearchTree& tree, std::int32_t vertex) {
  std::vector<std::int32_t> actions;
  for (; vertex > 0; vertex = tree.vertices[static_cast<std::size_t>(vertex)].parent)
    actions.push_back(tree.vertices[static_cast<std::size_t>(vertex)].action);
  return actions;
}

ByPath statistics(const SearchTree& tree) {
  ByPath result;
  for (std::size_t v = 0; v < tree.vertices.size(); ++v)
    result[actions_to(tree, static_cast<std::int32_t>(v))] = {tree.vertices[v].visits,
                                                              tree.vertices[v].value()};
  return result;
}

ByPath statistics(const TreeReplay& replay) {
  ByPath result;
  for (std::size_t v = 0; v < replay.tree().vertices.size(); ++v) {
    const auto id = static_cast<std::int32_t>(v);
    if (replay.exists(id))
      result[actions_to(replay.tree(), id)] = {replay.visits(id), replay.value(id)};
  }
  return result;
}

void expect_equal(const ByPath& a, const ByPath& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [path, both] : a) {
    const auto found = b.find(path);
    ASSERT_NE(found, b.end());
    EXPECT_EQ(found->second.first, both.first);
    EXPECT_NEAR(found->second.second, both.second, 1e-12);
  }
}

TEST(TreeReplay, agrees_with_a_search_that_is_stopped_after_every_batch) {
  const auto whole = searched(240);
  TreeReplay replay(whole);
  EXPECT_EQ(replay.steps(), whole->log.size());
  EXPECT_FALSE(replay.exists(0));
  for (std::int64_t iterations = 0; iterations <= 240; iterations += 8) {
    const auto stopped = searched(iterations);
    replay.seek(stopped->log.size());
    expect_equal(statistics(*stopped), statistics(replay));
  }
  replay.seek(replay.steps());
  expect_equal(statistics(*whole), statistics(replay));
}

TEST(TreeReplay, any_way_to_a_step_shows_the_same) {
  const auto tree = searched(160);
  TreeReplay jumping(tree);
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t step = random.below(tree->log.size() + 1);
    jumping.seek(step);
    EXPECT_EQ(jumping.step(), step);
    if (round % 10 != 0) continue;
    TreeReplay fresh(tree);
    while (fresh.step() < step) fresh.seek(fresh.step() + 1);
    expect_equal(statistics(fresh), statistics(jumping));
    for (std::size_t v = 0; v < tree->vertices.size(); ++v)
      EXPECT_EQ(fresh.best(static_cast<std::int32_t>(v)),
                jumping.best(static_cast<std::int32_t>(v)));
  }
}

TEST(TreeReplay, tells_the_path_and_whether_it_grew) {
  const auto tree = searched(160);
  TreeReplay replay(tree);
  EXPECT_TRUE(replay.path().empty());
  EXPECT_FALSE(replay.expanded());
  std::size_t made = 0;
  for (std::size_t step = 1; step <= replay.steps(); ++step) {
    replay.seek(step);
    const auto path = replay.path();
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.front(), 0);
    EXPECT_EQ(path.back(), tree->log[step - 1].vertex);
    for (std::size_t i = 1; i < path.size(); ++i)
      EXPECT_EQ(tree->vertices[static_cast<std::size_t>(path[i])].parent, path[i - 1]);
    made += replay.expanded() ? 1 : 0;
  }
  EXPECT_EQ(made, tree->vertices.size());
}

TEST(TreeReplay, trees_without_a_log_have_no_steps) {
  SearchTree tree = *searched(40);
  tree.log.clear();
  TreeReplay replay(std::make_shared<const SearchTree>(tree));
  EXPECT_EQ(replay.steps(), 0U);
  replay.seek(7);
  EXPECT_EQ(replay.step(), 0U);
  EXPECT_TRUE(puct_rows(replay, 0, {}).empty());
}

// One leaf at a time, nothing waits: then selection takes the row with the highest score.
TEST(PuctRows, predict_the_next_selection) {
  for (const char* variant : {"default", "paper"})
    for (const char* backup : {"mean", "max"}) {
      PlannerOptions options;
      options.set = {{"variant", variant},      {"batch", "1"}, {"polish", "0"}, {"backup", backup},
                     {"free-repeats", "false"}, {"c", "0.7"}};
      const auto tree = searched(150, options);
      TreeReplay replay(tree);
      const auto search = TreeSearchOptions::from(options);
      for (std::size_t step = 1; step + 1 < replay.steps(); ++step) {
        replay.seek(step + 1);
        const auto path = replay.path();
        replay.seek(step);
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
          const auto rows = puct_rows(replay, path[i], search);
          ASSERT_FALSE(rows.empty());
          const auto best = std::ranges::max_element(
              rows, [](const PuctRow& a, const PuctRow& b) { return a.score() < b.score(); });
          const auto& taken = tree->vertices[static_cast<std::size_t>(path[i + 1])];
          EXPECT_EQ(best->action, taken.action) << variant << " " << backup << " step " << step;
          EXPECT_EQ(best->child, replay.exists(path[i + 1]) ? path[i + 1] : -1);
        }
      }
    }
}

}  // namespace
}  // namespace strato
