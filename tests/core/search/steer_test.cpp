#include "core/search/tree/steer.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// Sees every strategy that is evaluated.
struct Steered {
  Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  PlannerOptions options;
  toy::FakeEvaluator::Formula formula = toy::separable;
  std::function<void(Strategy&)> finish;
  std::vector<Strategy> seen;

  PlanResult operator()(std::shared_ptr<const SearchTree> resume = nullptr) {
    seen.clear();
    toy::FakeEvaluator evaluator(*problem.cluster, [&](const Strategy& strategy) {
      seen.push_back(strategy);
      return formula(strategy);
    });
    TreeSearchOptions search = TreeSearchOptions::from(options);
    search.finish = finish;
    Observer quiet;
    return tree_search({problem, evaluator, options, quiet, {}, std::move(resume)}, search);
  }
  PlanResult operator()(SearchTree tree) {  // through its bytes
    return (*this)(std::make_shared<const SearchTree>(parse_search_tree(serialise(tree))));
  }
};

Decision on_device(int device) { return decision_on_device(DeviceId(device)); }

// Not in the table: two devices of two machines, unequal shares.
TEST(Steer, every_strategy_has_the_pins_from_then_on) {
  for (const char* polish : {"0", "0.75"}) {
    Steered run;
    run.options.iterations = 200;
    run.options.set = {{"polish", polish}};
    SearchTree tree = *run().tree;
    const std::size_t actions = tree.actions.size();
    pin(tree, GroupId(2), toy::odd_decision());
    pin(tree, GroupId(0), on_device(3));
    EXPECT_EQ(tree.actions.size(), actions + 1);
    const PlanResult result = run(tree);
    EXPECT_GE(run.seen.size(), 190U);
    for (const Strategy& strategy : run.seen) {
      EXPECT_EQ(strategy.groups[GroupId(2)], toy::odd_decision());
      EXPECT_EQ(strategy.groups[GroupId(0)], on_device(3));
      for (std::size_t g : {1U, 3U, 4U, 5U})
        EXPECT_NE(strategy.groups[GroupId(g)], toy::odd_decision()) << g;
    }
    EXPECT_EQ(result.strategy.groups[GroupId(2)], toy::odd_decision());
    EXPECT_EQ(result.tree->actions.size(), actions + 1);
    EXPECT_EQ(result.tree->iterations, 400);
    EXPECT_FALSE(is_forbidden(*result.tree, result.strategy));
    EXPECT_NE(result.note.find("pinned: "), std::string::npos) << result.note;
    const Strategy at = result.tree->strategy_at(result.tree->best_path().back(), 6);
    EXPECT_EQ(at.groups[GroupId(0)].value_or(on_device(3)), on_device(3));
  }
}

TEST(Steer, steered_searches_resume_exactly_too) {
  for (const char* backup : {"mean", "max"}) {
    Steered run;
    run.options.set = {{"backup", backup}};
    run.options.iterations = 160;
    SearchTree tree = *run().tree;
    pin(tree, GroupId(1), toy::odd_decision());
    set_weight(tree, tree.vertices[0].first_child + 1, 3);
    set_weight(tree, tree.vertices[0].first_child + 2, 0);
    const PlanResult half = run(tree);
    const PlanResult rest = run(*half.tree);
    run.options.iterations = 320;
    const PlanResult whole = run(tree);
    EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << backup;
    EXPECT_EQ(rest.strategy, whole.strategy);
  }
}

TEST(Steer, unpinning_opens_everything_again) {
  Steered run;
  run.options.iterations = 120;
  const SearchTree free = *run().tree;
  SearchTree tree = free;
  pin(tree, GroupId(0), toy::odd_decision());
  tree = *run(tree).tree;
  unpin(tree, GroupId(0));
  EXPECT_TRUE(tree.pinned.empty());
  const PlanResult result = run(tree);
  std::size_t others = 0;
  for (const Strategy& strategy : run.seen)
    others += strategy.groups[GroupId(0)] != toy::odd_decision() ? 1 : 0;
  EXPECT_GT(others, 20U);
  for (std::size_t v = 0; v < result.tree->vertices.size(); ++v) {
    const auto children = result.tree->children(static_cast<std::int32_t>(v));
    std::set<std::int32_t> actions;
    for (std::int32_t c : children)
      actions.insert(result.tree->vertices[static_cast<std::size_t>(c)].action);
    EXPECT_EQ(actions.size(), children.size());
  }
}

// What was found before the pins, in the tree or by local improvement, need not be found again:
// however they come and go, without them the search goes on from there.
TEST(Steer, unpinning_goes_on_from_what_was_known_before) {
  for (const char* polish : {"0", "0.75"}) {
    Steered run;
    run.options.iterations = 200;
    run.options.set = {{"polish", polish}};
    const PlanResult free = run();
    SearchTree tree = *free.tree;
    run.options.iterations = 1;
    for (std::size_t g = 0; g < 6; ++g) {
      pin(tree, GroupId(g), toy::odd_decision());
      const PlanResult pinned = run(tree);
      ASSERT_TRUE(free.score.better_than(pinned.score));
      tree = *pinned.tree;
    }
    for (std::size_t g = 0; g < 6; ++g) unpin(tree, GroupId(g));
    const PlanResult freed = run(tree);
    EXPECT_FALSE(free.score.better_than(freed.score)) << polish;
    EXPECT_TRUE(freed.tree->state.barred.actions.empty());
    tree = *freed.tree;
    EXPECT_FALSE(free.score.better_than(run(tree).score)) << polish;
  }
}

TEST(Steer, a_branch_that_is_open_again_has_what_was_known_of_it) {
  Steered run;
  run.options.iterations = 200;
  const PlanResult free = run();
  SearchTree tree = *free.tree;
  std::vector<std::int32_t> closed;
  for (const std::int32_t child : tree.children(0)) {
    const auto action =
        static_cast<std::size_t>(tree.vertices[static_cast<std::size_t>(child)].action);
    if (tree.actions[action] == *free.strategy.groups[tree.order[0]]) closed.push_back(child);
  }
  ASSERT_EQ(closed.size(), 1U);
  set_weight(tree, closed[0], 0);
  run.options.iterations = 1;
  const PlanResult without = run(tree);
  ASSERT_TRUE(free.score.better_than(without.score));
  tree = *without.tree;
  set_weight(tree, closed[0], 1);
  EXPECT_FALSE(free.score.better_than(run(tree).score));
}

TEST(Steer, a_fresh_tree_may_have_pins) {
  Steered run;
  run.options.iterations = 100;
  SearchTree tree = *run().tree;
  tree.vertices.resize(1);
  tree.vertices[0] = {};
  tree.log.clear();
  tree.iterations = 0;
  tree.state = {};
  pin(tree, GroupId(1), on_device(2));
  const PlanResult result = run(tree);
  EXPECT_EQ(result.tree->iterations, 100);
  EXPECT_NE(run.seen.front().groups[GroupId(1)], on_device(2));  // the baseline
  for (std::size_t i = 1; i < run.seen.size(); ++i)
    EXPECT_EQ(run.seen[i].groups[GroupId(1)], on_device(2));
}

TEST(Steer, all_groups_pinned_leave_nothing_to_search) {
  Steered run;
  run.options.iterations = 100;
  const PlanResult free = run();
  SearchTree tree = *free.tree;
  restrict_to(tree, {}, free.strategy);
  const PlanResult result = run(tree);
  EXPECT_EQ(result.strategy, free.strategy);
  EXPECT_LE(run.seen.size(), 3U);
}

TEST(Steer, restricted_to_some_groups_only_they_change) {
  Steered run;
  run.options.iterations = 100;
  const PlanResult free = run();
  SearchTree tree = *free.tree;
  const std::vector<GroupId> groups = {GroupId(1), GroupId(4)};
  restrict_to(tree, groups, free.strategy);
  const PlanResult result = run(tree);
  EXPECT_LE(result.score.step_time, free.score.step_time);
  for (const Strategy& strategy : run.seen)
    for (std::size_t g : {0U, 2U, 3U, 5U})
      EXPECT_EQ(strategy.groups[GroupId(g)], free.strategy.groups[GroupId(g)]);
}

TEST(Steer, excluded_branches_are_left_and_never_the_result) {
  Steered run;
  run.options.iterations = 200;
  const PlanResult free = run();
  SearchTree tree = *free.tree;
  const std::vector<std::int32_t> path = tree.best_path();
  const std::int32_t best = path[1];
  const Decision gone =
      tree.actions[static_cast<std::size_t>(tree.vertices[static_cast<std::size_t>(best)].action)];
  set_weight(tree, best, 0);
  EXPECT_NE(tree.best_path()[1], best);
  const PlanResult result = run(tree);
  for (const Strategy& strategy : run.seen) EXPECT_NE(strategy.groups[GroupId(0)], gone);
  EXPECT_NE(result.strategy.groups[GroupId(0)], gone);
  EXPECT_NE(result.tree->best_path()[1], best);
  EXPECT_EQ(result.tree->vertices[static_cast<std::size_t>(best)].visits,
            tree.vertices[static_cast<std::size_t>(best)].visits);
  SearchTree back = *result.tree;
  set_weight(back, best, 1);
  EXPECT_LE(run(back).score.step_time, result.score.step_time);
}

TEST(Steer, everything_excluded_still_gives_a_strategy) {
  Steered run;
  run.options.iterations = 64;
  run.options.set = {{"polish", "0"}, {"widening", "0"}};
  SearchTree tree = *run().tree;
  for (int round = 0; round < 20; ++round) {
    for (std::int32_t child : tree.children(0)) set_weight(tree, child, 0);
    const PlanResult result = run(tree);
    EXPECT_TRUE(result.strategy.is_complete());
    tree = *result.tree;
  }
  for (std::int32_t child : tree.children(0)) set_weight(tree, child, 0);
  EXPECT_EQ(tree.best_path().size(), 1U);
}

TEST(Steer, boosted_branches_get_more_visits) {
  Steered run;
  run.options.iterations = 160;
  run.options.set = {{"polish", "0"}, {"c", "1"}};
  const SearchTree tree = *run().tree;
  const auto children = tree.children(0);
  const std::int32_t weak = children.back();
  const auto visits = [&](const SearchTree& t) {
    return t.vertices[static_cast<std::size_t>(weak)].visits;
  };
  SearchTree boosted = tree;
  set_weight(boosted, weak, 20);
  EXPECT_GT(visits(*run(boosted).tree), visits(*run(tree).tree) + 40);
}

TEST(Steer, focus_sends_every_leaf_below_it) {
  Steered run;
  run.options.iterations = 160;
  SearchTree tree = *run().tree;
  const std::int32_t vertex = resolve_vertex(tree, "root/2");
  set_focus(tree, vertex);
  const PlanResult result = run(tree);
  EXPECT_EQ(result.tree->focus, vertex);  // breadth first: the second level keeps its numbers
  ASSERT_GT(result.tree->log.size(), tree.log.size());
  for (std::size_t i = tree.log.size(); i < result.tree->log.size(); ++i) {
    std::int32_t v = result.tree->log[i].vertex;
    while (v > vertex) v = result.tree->vertices[static_cast<std::size_t>(v)].parent;
    EXPECT_EQ(v, vertex);
  }
  const std::int32_t more = result.tree->vertices[static_cast<std::size_t>(vertex)].visits -
                            tree.vertices[static_cast<std::size_t>(vertex)].visits;
  EXPECT_EQ(result.tree->vertices[0].visits - tree.vertices[0].visits, more);
  EXPECT_EQ(result.tree->iterations, 320);
}

TEST(Steer, focus_on_a_finished_leaf_ends_at_once) {
  Steered run;
  run.problem = toy::chain_problem(toy::small_cluster(1, 1), 2);
  run.options.iterations = 400;
  SearchTree tree = *run().tree;
  const auto leaf = static_cast<std::int32_t>(tree.vertices.size()) - 1;
  ASSERT_EQ(tree.vertices.back().depth, 2);
  set_focus(tree, leaf);
  const PlanResult result = run(tree);
  EXPECT_NE(result.note.find("the whole branch in focus was searched"), std::string::npos);
}

TEST(Steer, pins_that_cannot_fit_are_named) {
  Steered run;
  run.formula = [](const Strategy& strategy) {
    Score score = toy::separable(strategy);
    score.feasible = strategy.groups[GroupId(1)] != on_device(0);
    if (!score.feasible) score.overflow = Bytes(1 << 30);
    return score;
  };
  run.options.iterations = 80;
  SearchTree tree = *run().tree;
  pin(tree, GroupId(1), on_device(0));
  const PlanResult result = run(tree);
  EXPECT_FALSE(result.score.feasible);
  const std::string name = run.problem.grouping->group(GroupId(1)).name;
  EXPECT_NE(result.note.find("nothing fits in memory with what is pinned: " + name),
            std::string::npos)
      << result.note;
}

TEST(Steer, pins_on_devices_that_are_not_there_are_input_errors) {
  Steered run;
  run.options.iterations = 16;
  const SearchTree tree = *run().tree;
  for (const Decision& decision :
       {on_device(99), Decision{Mode::Duplicate, {{DeviceId(2), 1}, {DeviceId(1), 1}}}}) {
    SearchTree pinned = tree;
    pin(pinned, GroupId(1), decision);
    EXPECT_THROW(run(std::make_shared<const SearchTree>(pinned)), InputError);
  }
}

TEST(Steer, priors_of_another_planner_go_on) {
  struct Favour : PriorProvider {
    std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>& actions,
                                           std::span<const PriorQuery> queries) override {
      std::vector<float> row(actions.size(), 0.1F / static_cast<float>(actions.size()));
      row[actions.size() / 2] = 0.9F;
      return std::vector<std::vector<float>>(queries.size(), row);
    }
  } favour;
  Steered run;
  run.options.iterations = 160;
  const auto uniform = run().tree;
  toy::FakeEvaluator evaluator(*run.problem.cluster, toy::separable);
  Observer quiet;
  const auto search = TreeSearchOptions::from(run.options);
  const auto guided =
      tree_search({run.problem, evaluator, run.options, quiet, {}, uniform}, search, &favour);
  EXPECT_EQ(guided.tree->iterations, 320);
  EXPECT_FALSE(guided.tree->priors.empty());
  const PlanResult back = run(*guided.tree);
  EXPECT_EQ(back.tree->iterations, 480);
  SearchTree pinned = *guided.tree;  // rows of priors become longer
  pin(pinned, GroupId(1), toy::odd_decision());
  const auto steered =
      tree_search({run.problem,
                   evaluator,
                   run.options,
                   quiet,
                   {},
                   std::make_shared<const SearchTree>(parse_search_tree(serialise(pinned)))},
                  search, &favour);
  EXPECT_EQ(steered.tree->priors.size() % steered.tree->actions.size(), 0U);
  EXPECT_EQ(steered.strategy.groups[GroupId(1)], toy::odd_decision());
}

TEST(Steer, strategies_are_finished_before_they_are_evaluated) {
  Steered run;
  run.options.iterations = 120;
  run.finish = [](Strategy& strategy) { strategy.bucket = Bytes(77); };
  const PlanResult result = run();
  EXPECT_NE(run.seen.front().bucket, Bytes(77));  // the baseline is what it is
  for (std::size_t i = 1; i < run.seen.size(); ++i) EXPECT_EQ(run.seen[i].bucket, Bytes(77));
  EXPECT_EQ(result.strategy.bucket, Bytes(77));
  const PlanResult half = result;
  const PlanResult rest = run(*half.tree);
  run.options.iterations = 240;
  EXPECT_TRUE(serialise(*run().tree) == serialise(*rest.tree));
}

TEST(Steer, no_strategy_is_evaluated_twice) {
  Steered run;
  run.options.iterations = 300;
  run.options.set = {{"polish", "0"}};
  SearchTree tree = *run().tree;
  pin(tree, GroupId(3), on_device(5));
  run(tree);
  std::set<Digest> digests;
  for (const Strategy& strategy : run.seen) digests.insert(strategy.digest());
  EXPECT_GE(digests.size() + 1, run.seen.size());
}

TEST(Steer, vertices_are_named_by_path) {
  Steered run;
  run.options.iterations = 100;
  const SearchTree tree = *run().tree;
  EXPECT_EQ(resolve_vertex(tree, "root"), 0);
  EXPECT_EQ(resolve_vertex(tree, "best"), tree.best_path().back());
  EXPECT_EQ(resolve_vertex(tree, "#3"), 3);
  for (std::size_t v = 0; v < tree.vertices.size(); ++v)
    EXPECT_EQ(resolve_vertex(tree, vertex_path(tree, static_cast<std::int32_t>(v))),
              static_cast<std::int32_t>(v));
  for (const char* text : {"", "/", "root/", "root/x", "root/999", "root/-1", "root/0/", "#", "#x",
                           "#99999999", "0", "root//0", "best/0", "root/99999999999999"})
    EXPECT_THROW(resolve_vertex(tree, text), InputError) << text;
}

TEST(Steer, bad_steering_is_an_input_error_and_changes_nothing) {
  Steered run;
  run.options.iterations = 48;
  SearchTree tree = *run().tree;
  const std::string before = serialise(tree);
  EXPECT_THROW(pin(tree, GroupId(6), on_device(0)), InputError);
  EXPECT_THROW(pin(tree, GroupId(), on_device(0)), InputError);
  EXPECT_THROW(pin(tree, GroupId(0), Decision{}), InputError);
  EXPECT_THROW(unpin(tree, GroupId(17)), InputError);
  EXPECT_THROW(set_weight(tree, 0, 1), InputError);
  EXPECT_THROW(set_weight(tree, -1, 1), InputError);
  EXPECT_THROW(set_weight(tree, 1 << 30, 1), InputError);
  EXPECT_THROW(set_weight(tree, 1, -1), InputError);
  EXPECT_THROW(set_weight(tree, 1, std::numeric_limits<float>::infinity()), InputError);
  EXPECT_THROW(set_focus(tree, 1 << 30), InputError);
  EXPECT_THROW(restrict_to(tree, {}, Strategy{}), InputError);
  EXPECT_TRUE(serialise(tree) == before);
  set_weight(tree, 1, 0);
  EXPECT_THROW(set_focus(tree, 1), InputError);
  EXPECT_NO_THROW(set_focus(tree, -1));
}

TEST(Steer, trees_are_compared_by_actions) {
  Steered run;
  run.options.iterations = 160;
  const SearchTree one = *run().tree;
  const TreeDifference same = compare(one, one);
  EXPECT_EQ(same.common, one.vertices.size());
  EXPECT_EQ(same.vertices.size(), one.vertices.size());
  EXPECT_EQ(same.common_depth + 1, same.best_before.size());
  run.options.seed = 2;
  const SearchTree two = *run().tree;
  const TreeDifference different = compare(one, two);
  EXPECT_EQ(different.common + different.only_before, one.vertices.size());
  EXPECT_EQ(different.common + different.only_after, two.vertices.size());
  for (std::size_t i = 0; i < different.common; ++i) {
    const auto& row = different.vertices[i];
    EXPECT_EQ(one.strategy_at(row.before, 6), two.strategy_at(row.after, 6));
    EXPECT_EQ(row.visits_after, two.vertices[static_cast<std::size_t>(row.after)].visits);
  }
  SearchTree foreign = two;
  foreign.problem = digest_of("another");
  EXPECT_THROW(compare(one, foreign), InputError);
}

}  // namespace
}  // namespace strato
