#include "core/search/portfolio/tree_search.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

struct SearchRun {
  PlannerOptions options;
  toy::FakeEvaluator::Formula formula = toy::separable;
  int threads = 1;
  Observer quiet;
  Observer* observer = &quiet;
  std::stop_token stop;
  std::shared_ptr<const SearchTree> resume;
  std::int64_t evaluated = 0;

  PlanResult operator()(const Problem& problem) {
    toy::FakeEvaluator evaluator(*problem.cluster, formula, threads);
    PlanResult result = tree_search({problem, evaluator, options, *observer, stop, resume},
                                    TreeSearchOptions::from(options));
    evaluated = evaluator.count;
    return result;
  }
};

Nanos separable_optimum(const Problem& problem, const TreeSearchOptions& options) {
  Nanos sum;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Decision& action : make_actions(problem, options.actions))
      if (g == 0 || action.mode != Mode::ReplicatePs)  // nothing is trained here
        least = std::min(least, toy::scrambled_cost(g, action));
    sum += Nanos(least);
  }
  return sum;
}

TEST(TreeSearch, searches_a_small_space_to_the_end) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 1), 2);
  SearchRun run;
  run.options.iterations = 100000;
  run.options.set = {{"polish", "0"}};
  const PlanResult result = run(problem);
  EXPECT_EQ(result.score.step_time,
            separable_optimum(problem, TreeSearchOptions::from(run.options)));
  EXPECT_NE(result.note.find("the whole tree was searched"), std::string::npos);
  const auto actions = static_cast<std::int64_t>(result.tree->actions.size());
  EXPECT_LE(run.evaluated, actions * actions);
}

TEST(TreeSearch, finds_the_optimum_of_a_separable_landscape_in_part_of_the_space) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 1), 5);
  SearchRun run;
  run.options.iterations = 1500;
  const PlanResult result = run(problem);
  EXPECT_LE(result.score.step_time,
            separable_optimum(problem, TreeSearchOptions::from(run.options)));
  EXPECT_TRUE(result.strategy.is_complete());
}

TEST(TreeSearch, paper_variant_improves_on_data_parallelism) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  SearchRun run;
  run.options.iterations = 200;
  run.options.set = {{"variant", "paper"}};
  const PlanResult result = run(problem);
  const Score root = toy::separable(complete(result.tree->strategy_at(0, 4), *problem.cluster));
  EXPECT_LT(result.score.step_time, root.step_time);
  EXPECT_EQ(result.tree->iterations, 200);
}

TEST(TreeSearch, same_result_for_any_number_of_threads) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  std::string first;
  for (int threads : {1, 2, 4}) {
    SearchRun run;
    run.options.iterations = 300;
    run.threads = threads;
    const PlanResult result = run(problem);
    const std::string bytes =
        serialise(*result.tree) + std::to_string(result.score.step_time.value);
    if (threads == 1) first = bytes;
    EXPECT_EQ(bytes, first) << threads << " threads";
  }
}

TEST(TreeSearch, every_batch_size_is_deterministic_and_seeds_differ) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  for (const char* batch : {"1", "3", "8", "64"}) {
    SearchRun run;
    run.options.iterations = 200;
    run.options.set = {{"batch", batch}};
    const std::string once = serialise(*run(problem).tree);
    EXPECT_EQ(serialise(*run(problem).tree), once) << batch;
    run.options.seed = 2;
    EXPECT_NE(serialise(*run(problem).tree), once) << batch;
  }
}

// Only one group decided otherwise helps, and no decision of all groups: local improvement does not
// wait for the tree to try all those.
TEST(TreeSearch, changes_single_groups_soon_while_data_parallelism_stands) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 8);
  Strategy undecided;
  undecided.groups.resize(problem.grouping->size());
  const Strategy parallel = complete(undecided, *problem.cluster);
  SearchRun run;
  run.options.iterations = 40;
  run.formula = [&](const Strategy& strategy) {
    std::int64_t changed = 0;
    for (std::size_t g = 0; g < strategy.groups.size(); ++g)
      changed += strategy.groups[GroupId(g)] != parallel.groups[GroupId(g)];
    return Score{Nanos(changed == 1 ? 9'000 : 10'000 + 1'000 * changed), true, Bytes(0), nullptr};
  };
  EXPECT_EQ(run(problem).score.step_time, Nanos(9'000));
}

TEST(TreeSearch, resumed_search_equals_one_that_never_stopped) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 8);
  for (const char* polish : {"0", "0.5"})
    for (const char* backup : {"mean", "max"}) {
      SearchRun run;
      run.options.set = {{"polish", polish}, {"backup", backup}};
      run.options.iterations = 320;
      const PlanResult whole = run(problem);
      run.options.iterations = 160;
      const PlanResult half = run(problem);
      run.resume = std::make_shared<const SearchTree>(parse_search_tree(serialise(*half.tree)));
      const PlanResult rest = run(problem);
      EXPECT_EQ(rest.score.step_time, whole.score.step_time);
      EXPECT_EQ(rest.strategy, whole.strategy);
      EXPECT_EQ(rest.tree->iterations, whole.tree->iterations);
      EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << polish << " " << backup;
    }
}

TEST(TreeSearch, resume_refuses_what_does_not_fit) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 4, 64, 2048);
  SearchRun run;
  run.options.iterations = 40;
  const PlanResult result = run(problem);
  run.resume = result.tree;
  run.options.seed = 9;
  EXPECT_THROW(run(problem), InputError);
  run.options.seed = 1;
  run.options.set = {{"shares", "even"}};
  EXPECT_THROW(run(problem), InputError);
  run.options.set = {};
  const auto refused = [&](auto&& change) {
    SearchTree broken = *result.tree;
    change(broken.state);
    run.resume = std::make_shared<const SearchTree>(broken);
    EXPECT_THROW(run(problem), InputError);
  };
  refused([](SearchState& s) { s = {}; });
  refused([](SearchState& s) { s.local = {}; });
  refused([](SearchState& s) { s.local_iterations = 99999; });
  refused([](SearchState& s) { s.local_iterations = -1; });
  refused([](SearchState& s) { s.local.incumbent = {1, 2}; });
  refused([](SearchState& s) { s.local.incumbent.assign(4, 9999); });
  SearchTree other = *result.tree;
  other.record = EvaluationRecord{"autodist 5", "", {}};
  run.resume = std::make_shared<const SearchTree>(other);
  EXPECT_THROW(run(problem), InputError);
}

struct StopAfter : Observer {
  std::stop_source source;
  int improvements = 0;
  std::optional<Score> last;
  void on_improvement(const Strategy&, const Score& score, const Progress& progress) override {
    if (last) {
      EXPECT_TRUE(score.better_than(*last));
    }
    EXPECT_EQ(progress.best->step_time, score.step_time);
    last = score;
    if (++improvements == 3) source.request_stop();
  }
};

TEST(TreeSearch, stops_between_batches_with_the_best_so_far) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  StopAfter observer;
  SearchRun run;
  run.observer = &observer;
  run.stop = observer.source.get_token();
  run.options.iterations = 1'000'000'000;
  const PlanResult result = run(problem);
  EXPECT_GE(observer.improvements, 3);
  EXPECT_EQ(result.score.step_time, observer.last->step_time);
  EXPECT_EQ(toy::separable(result.strategy).step_time, result.score.step_time);
}

TEST(TreeSearch, time_budget_ends_it) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  SearchRun run;
  run.options.budget_seconds = 0.05;
  run.options.iterations = 0;
  EXPECT_GT(run(problem).tree->iterations, 0);
}

TEST(TreeSearch, no_iterations_give_data_parallelism) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 3);
  SearchRun run;
  run.options.iterations = 0;
  const PlanResult result = run(problem);
  EXPECT_EQ(result.strategy.groups[GroupId(0)]->devices.size(), 3U);
  EXPECT_EQ(run.evaluated, 1);
}

// Feasible only when the first two groups are model parallel or on the first device; overflow
// otherwise.
Score needs_model_parallelism(const Strategy& strategy) {
  Score score = toy::separable(strategy);
  for (std::size_t g = 0; g < 2; ++g) {
    const Decision& decision = *strategy.groups[GroupId(g)];
    if (decision.mode != Mode::ModelParallel)
      score.overflow += Bytes(static_cast<std::int64_t>(decision.devices.size()) << 30);
  }
  score.feasible = score.overflow.value == 0;
  return score;
}

TEST(TreeSearch, leaves_infeasible_regions) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  SearchRun run;
  run.formula = needs_model_parallelism;
  run.options.iterations = 300;
  const PlanResult result = run(problem);
  EXPECT_TRUE(result.score.feasible);
  for (const SearchTree::Vertex& vertex : result.tree->vertices) EXPECT_GE(vertex.reward, -2);
}

TEST(TreeSearch, everything_infeasible_gives_the_least_overflow) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 3);
  SearchRun run;
  run.formula = [](const Strategy& strategy) {
    Score score = toy::separable(strategy);
    score.overflow = Bytes(score.step_time.value);
    score.feasible = false;
    return score;
  };
  run.options.iterations = 200;
  const PlanResult result = run(problem);
  EXPECT_FALSE(result.score.feasible);
  EXPECT_LT(result.score.overflow.value, result.tree->vertices.front().step_time_ns);
}

TEST(TreeSearch, tree_is_consistent) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-cloud"), 6);
  SearchRun run;
  run.options.iterations = 400;
  const SearchTree tree = *run(problem).tree;
  for (std::size_t i = 0; i < tree.vertices.size(); ++i) {
    const auto& vertex = tree.vertices[i];
    std::int64_t below = 0;
    for (std::int32_t child : tree.children(static_cast<std::int32_t>(i)))
      below += tree.vertices[static_cast<std::size_t>(child)].visits;
    EXPECT_GE(vertex.visits, below);
    EXPECT_GT(vertex.step_time_ns, 0);
    const Strategy partial = tree.strategy_at(static_cast<std::int32_t>(i), 6);
    if (vertex.depth > 0) {
      EXPECT_EQ(toy::separable(complete(partial, *problem.cluster)).step_time.value,
                vertex.step_time_ns);
    }
  }
  const auto path = tree.best_path();
  EXPECT_EQ(path.front(), 0);
  EXPECT_TRUE(tree.children(path.back()).empty());
}

TEST(TreeSearch, priors_guide_it) {
  struct Favour : PriorProvider {
    std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>& actions,
                                           std::span<const PriorQuery> queries) override {
      std::vector<float> row(actions.size(), 0.1F / static_cast<float>(actions.size()));
      row.back() = 0.9F;
      return std::vector<std::vector<float>>(queries.size(), row);
    }
  } favour;
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 4);
  toy::FakeEvaluator evaluator(*problem.cluster, toy::separable);
  PlannerOptions options;
  options.iterations = 64;
  TreeSearchOptions search;
  search.polish = 0;
  Observer observer;
  const PlanResult mixed = tree_search({problem, evaluator, options, observer}, search, &favour);
  search.root_mix = 0;
  const PlanResult result = tree_search({problem, evaluator, options, observer}, search, &favour);
  const auto children = result.tree->children(0);
  const auto last = static_cast<std::int32_t>(result.tree->actions.size()) - 1;
  // However sure it is of one, the others of the first group are looked at.
  const auto opened = mixed.tree->children(0);
  EXPECT_GT(opened.size(), children.size());
  EXPECT_EQ(mixed.tree->vertices[static_cast<std::size_t>(opened.front())].action, last);
  EXPECT_NEAR(mixed.tree->vertices[static_cast<std::size_t>(opened.front())].prior,
              0.1F * 0.9F + 0.9F / static_cast<float>(last + 1), 1e-5);
  EXPECT_EQ(result.tree->vertices[static_cast<std::size_t>(children.front())].action, last);
  EXPECT_FLOAT_EQ(result.tree->vertices[static_cast<std::size_t>(children.front())].prior, 0.9F);
  options.iterations = 64;
  const auto resumed =
      tree_search({problem,
                   evaluator,
                   options,
                   observer,
                   {},
                   std::make_shared<const SearchTree>(parse_search_tree(serialise(*result.tree)))},
                  search, &favour);
  options.iterations = 128;
  const auto whole = tree_search({problem, evaluator, options, observer}, search, &favour);
  EXPECT_TRUE(serialise(*resumed.tree) == serialise(*whole.tree));
}

TEST(TreeSearch, bad_options_say_what_is_wrong) {
  const auto message = [](const char* key, const char* value) {
    PlannerOptions options;
    options.set = {{key, value}};
    try {
      TreeSearchOptions::from(options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("c", "abc"), "--set c=abc: 'abc' is not a number; give a number such as 1.5");
  EXPECT_EQ(message("batch", "2.5"),
            "--set batch=2.5: '2.5' is not a whole number; give a whole number such as 8");
  EXPECT_EQ(message("merge", "maybe"),
            "--set merge=maybe: 'maybe' is neither true nor false; give true or false");
  EXPECT_EQ(message("shares", "odd"),
            "--set shares=odd: 'odd' is not a choice; give one of: even, both");
  EXPECT_NE(message("batch", "0"), "");
  EXPECT_NE(message("polish", "1.5"), "");
  EXPECT_NE(message("c", "nan"), "");
  EXPECT_NE(message("c", ""), "");
  EXPECT_NE(message("batch", "99999999999999999999"), "");
}

}  // namespace
}  // namespace strato
