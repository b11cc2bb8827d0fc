#include "core/search/run/run_planner.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem small_problem() {
  ProblemOptions options;
  options.grouping.max_groups = 4;
  return make_problem(toy::chain(4, 32, 512), toy::small_cluster(2, 2), options);
}

// Answers with a fixed strategy.
class Fixed : public Planner {
 public:
  explicit Fixed(Strategy strategy, bool baseline = false)
      : strategy_(std::move(strategy)), baseline_(baseline) {}
  std::string name() const override { return "fixed"; }
  std::vector<OptionHelp> options() const override { return {{"known", "1", "an option"}}; }
  bool is_baseline() const override { return baseline_; }
  PlanResult plan(const Problem&, Evaluator& evaluator, const PlannerOptions&, Observer& observer,
                  std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = strategy_;
    result.score = evaluator.evaluate(strategy_);
    observer.on_improvement(strategy_, result.score, {1, 1, 0, result.score});
    observer.on_progress({1, 1, 0, result.score});
    return result;
  }

 private:
  Strategy strategy_;
  bool baseline_;
};

class Mcts : public Planner {
 public:
  std::string name() const override { return "mcts"; }
  std::vector<OptionHelp> options() const override { return list_options<TreeSearchOptions>(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    return tree_search({problem, evaluator, options, observer, stop, std::move(resume)},
                       TreeSearchOptions::from(options));
  }
};

Strategy duplicated(const Problem& problem) { return data_parallel(problem, Mode::Duplicate); }

struct Watcher : Observer {
  std::vector<Score> improvements;
  std::vector<Progress> progress;
  void on_improvement(const Strategy&, const Score& score, const Progress&) override {
    improvements.push_back(score);
  }
  void on_progress(const Progress& p) override { progress.push_back(p); }
};

Score best_baseline(const Problem& problem) {
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Score best;
  for (const Baseline& baseline : simple_baselines(problem))
    if (const Score score = evaluator->evaluate(baseline.strategy);
        !best.feasible || score.better_than(best))
      best = score;
  return best;
}

TEST(RunPlanner, never_worse_than_the_best_baseline_and_says_which_won) {
  const Problem problem = small_problem();
  Fixed slow(duplicated(problem));
  Watcher watcher;
  const PlanResult result = run_planner(slow, problem, {}, watcher, {});
  EXPECT_EQ(result.score.step_time, best_baseline(problem).step_time);
  EXPECT_EQ(result.note.rfind("baseline ", 0), 0U) << result.note;
  EXPECT_NE(result.note.find("fixed found nothing faster"), std::string::npos) << result.note;
  EXPECT_TRUE(result.strategy.is_complete());
  ASSERT_EQ(watcher.improvements.size(), 1U);  // the baseline; the planner's was worse
  ASSERT_EQ(watcher.progress.size(), 1U);
  EXPECT_EQ(watcher.progress[0].best->step_time, result.score.step_time);
}

TEST(RunPlanner, a_baseline_stays_itself) {
  const Problem problem = small_problem();
  Fixed slow(duplicated(problem), true);
  Observer quiet;
  EXPECT_EQ(run_planner(slow, problem, {}, quiet, {}).strategy, duplicated(problem));
}

TEST(RunPlanner, refuses_unknown_options_and_foreign_trees) {
  const Problem problem = small_problem();
  Fixed planner(duplicated(problem));
  Observer quiet;
  PlannerOptions options;
  options.set = {{"known", "2"}};
  EXPECT_NO_THROW(run_planner(planner, problem, options, quiet, {}));
  options.set = {{"unknown", "2"}};
  try {
    run_planner(planner, problem, options, quiet, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--set unknown=2: planner 'fixed' has no option 'unknown'; it has: known");
  }
  auto tree = std::make_shared<SearchTree>();
  tree->problem = digest_of("another");
  EXPECT_THROW(run_planner(planner, problem, {}, quiet, {}, tree), InputError);
}

TEST(RunPlanner, mcts_beats_data_parallelism_and_does_not_depend_on_threads) {
  const Problem problem = small_problem();
  Mcts mcts;
  Observer quiet;
  std::string first;
  for (int threads : {1, 2, 4}) {
    PlannerOptions options;
    options.iterations = 120;
    options.threads = threads;
    const PlanResult result = run_planner(mcts, problem, options, quiet, {});
    const std::string bytes =
        serialise(*result.tree) + result.strategy.digest().hex() + result.note;
    if (threads == 1) first = bytes;
    EXPECT_EQ(bytes, first);
    EXPECT_FALSE(best_baseline(problem).better_than(result.score));
    EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time);
    EXPECT_LE(result.evaluations, 120 + 8);
  }
}

// Of what does not fit no time is told.
TEST(RunPlanner, says_where_no_baseline_fits) {
  Problem problem;
  problem.graph = std::make_shared<const Graph>(toy::chain(4, 32, 60'000));  // 14 GB a layer
  problem.cluster = toy::small_cluster(2, 0);
  const std::size_t ops = problem.graph->op_count();
  std::vector<std::int32_t> halves(ops, 0);
  std::fill(halves.begin() + static_cast<std::ptrdiff_t>(ops / 2), halves.end(), 1);
  problem.grouping =
      std::make_shared<const Grouping>(*problem.graph, halves, std::vector<Nanos>(ops, Nanos(1)));
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  Strategy halved;
  for (std::size_t half = 0; half < 2; ++half)
    halved.groups.push_back(decision_on_device(DeviceId(half)));
  Fixed divided(halved);
  Observer quiet;
  const PlanResult result = run_planner(divided, problem, {}, quiet, {});
  ASSERT_TRUE(result.score.feasible);
  EXPECT_NE(result.note.find("fits in memory, and no simple baseline does"), std::string::npos)
      << result.note;
}

TEST(RunPlanner, resumes_its_own_tree) {
  const Problem problem = small_problem();
  Mcts mcts;
  Observer quiet;
  PlannerOptions options;
  options.iterations = 64;
  const PlanResult half = run_planner(mcts, problem, options, quiet, {});
  const PlanResult rest = run_planner(mcts, problem, options, quiet, {}, half.tree);
  options.iterations = 128;
  const PlanResult whole = run_planner(mcts, problem, options, quiet, {});
  EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree));
  EXPECT_EQ(rest.strategy, whole.strategy);
}

TEST(RunPlanner, pins_hold_for_the_baselines_too) {
  const Problem problem = small_problem();
  Mcts mcts;
  Observer quiet;
  PlannerOptions options;
  options.iterations = 64;
  SearchTree tree = *run_planner(mcts, problem, options, quiet, {}).tree;
  const Decision slow{Mode::Duplicate, {{DeviceId(0), 1}, {DeviceId(3), 1}}};
  pin(tree, GroupId(0), slow);
  const auto pinned = std::make_shared<const SearchTree>(tree);
  const PlanResult result = run_planner(mcts, problem, options, quiet, {}, pinned);
  EXPECT_EQ(result.strategy.groups[GroupId(0)], slow);
  // A planner that finds nothing: the best baseline has the pin.
  Fixed bad(with_pins(tree, data_parallel(problem, Mode::ModelParallel)));
  const PlanResult floor = run_planner(bad, problem, {}, quiet, {}, pinned);
  EXPECT_EQ(floor.strategy.groups[GroupId(0)], slow);
  EXPECT_NE(floor.note.find("with the pins"), std::string::npos) << floor.note;
  tree.pinned[GroupId(0)] = decision_on_device(DeviceId(44));
  EXPECT_THROW(
      run_planner(mcts, problem, options, quiet, {}, std::make_shared<const SearchTree>(tree)),
      InputError);
}

TEST(RunPlanner, excluded_baselines_are_no_floor) {
  const Problem problem = small_problem();
  Mcts mcts;
  Observer quiet;
  PlannerOptions options;
  options.iterations = 64;
  SearchTree tree = *run_planner(mcts, problem, options, quiet, {}).tree;
  const auto children = tree.children(0);
  for (std::size_t i = 0; i < children.size() / 2; ++i) set_weight(tree, children[i], 0);
  std::size_t forbidden = 0;
  for (const Baseline& baseline : simple_baselines(problem))
    forbidden += is_forbidden(tree, baseline.strategy) ? 1 : 0;
  EXPECT_GT(forbidden, 0U);
  const PlanResult result =
      run_planner(mcts, problem, options, quiet, {}, std::make_shared<const SearchTree>(tree));
  EXPECT_TRUE(result.strategy.is_complete());
  EXPECT_FALSE(is_forbidden(tree, result.strategy));
}

// Asks for one strategy after another.
class Listed : public Planner {
 public:
  explicit Listed(std::vector<Strategy> strategies) : strategies_(std::move(strategies)) {}
  std::string name() const override { return "listed"; }
  PlanResult plan(const Problem&, Evaluator& evaluator, const PlannerOptions&, Observer&,
                  std::stop_token, std::shared_ptr<const SearchTree>) override {
    PlanResult result;
    result.strategy = strategies_.back();
    for (const Strategy& strategy : strategies_) result.score = evaluator.evaluate(strategy);
    return result;
  }

 private:
  std::vector<Strategy> strategies_;
};

TEST(RunPlanner, counts_evaluations_to_beat_data_parallelism) {
  const Problem problem = small_problem();
  Observer quiet;
  const Strategy plain = data_parallel(problem), fast = data_parallel(problem, Mode::Duplicate);
  const Strategy slow = data_parallel(problem, Mode::ReplicatePs);
  ASSERT_TRUE(
      simulate_strategy(problem, fast).score.better_than(simulate_strategy(problem, plain).score));
  ASSERT_TRUE(
      simulate_strategy(problem, plain).score.better_than(simulate_strategy(problem, slow).score));
  const auto count = [&](std::vector<Strategy> strategies) {
    Listed planner(std::move(strategies));
    return run_planner(planner, problem, {}, quiet, {}).evaluations_to_beat_data_parallel;
  };
  EXPECT_EQ(count({fast}), 1);
  EXPECT_EQ(count({slow, plain, fast, slow}), 3);
  EXPECT_EQ(count({slow, plain}), std::nullopt);
}

TEST(Evaluators, cache_scores_equal_strategies_once) {
  const Problem problem = small_problem();
  toy::FakeEvaluator fake(*problem.cluster, toy::separable);
  const auto cache = make_caching_evaluator(fake);
  Strategy partial;
  partial.groups.resize(problem.grouping->size());
  const std::vector<Strategy> batch = {data_parallel(problem), partial, duplicated(problem),
                                       data_parallel(problem)};
  const auto scores = cache->evaluate(batch);
  EXPECT_EQ(fake.count, 2);
  EXPECT_EQ(scores[0].step_time, scores[1].step_time);
  EXPECT_EQ(scores[0].step_time, scores[3].step_time);
  cache->evaluate(batch);
  EXPECT_EQ(fake.count, 2);
}

TEST(Evaluators, order_of_scores) {
  const auto score = [](std::int64_t time, std::int64_t overflow) {
    Score s;
    s.step_time = Nanos(time);
    s.overflow = Bytes(overflow);
    s.feasible = overflow == 0;
    return s;
  };
  EXPECT_TRUE(score(9, 0).better_than(score(1, 1)));
  EXPECT_TRUE(score(9, 1).better_than(score(1, 2)));
  EXPECT_TRUE(score(1, 2).better_than(score(2, 2)));
  EXPECT_FALSE(score(1, 0).better_than(score(1, 0)));
}

TEST(Evaluators, feedback_on_request) {
  const Problem problem = small_problem();
  const auto with = make_simulating_evaluator(problem, 2, true);
  ASSERT_TRUE(with->evaluate(data_parallel(problem)).feedback);
  EXPECT_EQ(with->evaluate(data_parallel(problem)).feedback->groups.size(),
            problem.grouping->size());
  EXPECT_FALSE(make_simulating_evaluator(problem, 2)->evaluate(data_parallel(problem)).feedback);
}

TEST(Baselines, proportional_shares_follow_speed_and_even_ones_do_not) {
  const Problem problem = small_problem();
  const auto shares = data_parallel_proportional(problem).groups[GroupId(0)]->devices;
  ASSERT_EQ(shares.size(), 4U);
  EXPECT_GT(shares[0].weight, shares[2].weight);  // V100 before GTX 1080 Ti
  EXPECT_EQ(shares[0].weight, shares[1].weight);
  const Strategy even = data_parallel(problem);
  for (const DeviceShare& share : even.groups[GroupId(0)]->devices) EXPECT_EQ(share.weight, 1);
}

TEST(RunPlanner, refuses_more_devices_than_a_planner_is_for) {
  const Problem problem = make_problem(toy::chain(2, 32, 64), toy::small_cluster(1000, 25), {});
  ASSERT_EQ(problem.cluster->device_count(), Planner::kMostDevices + 1);
  Fixed planner(data_parallel(problem));
  Watcher watcher;
  try {
    run_planner(planner, problem, {}, watcher, {});
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the planner fixed is for at most 1024"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(watcher.improvements.empty());
}

}  // namespace
}  // namespace strato
