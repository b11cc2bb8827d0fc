// A tree search that starts from strategies that are known (PlannerOptions::seeds).
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

// Not among the actions: two devices of two machines, unequal shares.
// Told of a few strategies that are much faster than the landscape around them.
struct Seeded {
  Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 6);
  PlannerOptions options;
  std::vector<Strategy> fast;
  std::vector<Strategy> seen;

  Score formula(const Strategy& strategy) const {
    Score score = toy::separable(strategy);
    for (std::size_t i = 0; i < fast.size(); ++i)
      if (strategy == fast[i]) score.step_time = Nanos(1000 - static_cast<std::int64_t>(i));
    return score;
  }
  PlanResult operator()(std::shared_ptr<const SearchTree> resume = nullptr) {
    seen.clear();
    toy::FakeEvaluator evaluator(*problem.cluster, [&](const Strategy& strategy) {
      seen.push_back(strategy);
      return formula(strategy);
    });
    Observer quiet;
    return tree_search({problem, evaluator, options, quiet, {}, std::move(resume)},
                       TreeSearchOptions::from(options));
  }
  Strategy all(const Decision& decision) const {
    Strategy strategy;
    strategy.groups.assign(problem.grouping->size(), decision);
    return strategy;
  }
};

TEST(Seeds, the_result_is_never_worse_even_without_iterations) {
  Seeded run;
  Strategy odd = run.all(toy::odd_decision());
  odd.groups[GroupId(3)] = decision_on_device(DeviceId(2));
  run.fast = {run.all(decision_on_device(DeviceId(4))), odd};
  run.options.seeds = run.fast;
  for (std::int64_t iterations : {0, 8, 200}) {
    run.options.iterations = iterations;
    const PlanResult result = run();
    EXPECT_EQ(result.strategy, odd);
    EXPECT_EQ(result.score.step_time, Nanos(999));
    EXPECT_EQ(result.tree->iterations, iterations) << "seeds are evaluated beyond the iterations";
  }
}

TEST(Seeds, further_decisions_stay_with_the_groups_that_have_them) {
  Seeded run;
  Strategy odd = run.all(decision_on_device(DeviceId(0)));
  odd.groups[GroupId(3)] = toy::odd_decision();
  run.options.seeds = {odd};
  run.options.iterations = 400;
  run.fast = {odd};
  const PlanResult result = run();
  EXPECT_EQ(result.strategy, odd);
  std::size_t kept = 0;
  for (const Strategy& strategy : run.seen)
    for (std::size_t g = 0; g < strategy.groups.size(); ++g) {
      if (strategy.groups[GroupId(g)] != toy::odd_decision()) continue;
      ++kept;
      EXPECT_TRUE(g == 3 || strategy.groups[GroupId(3)] == toy::odd_decision()) << g;
    }
  EXPECT_GT(kept, 50U) << "local improvement is around the seed";
}

TEST(Seeds, without_seeds_nothing_changes_and_known_actions_add_none) {
  Seeded run;
  run.options.iterations = 200;
  const std::string plain = serialise(*run().tree);
  run.options.seeds = {run.all(decision_on_device(DeviceId(3)))};
  const PlanResult seeded = run();
  run.options.seeds.clear();
  EXPECT_EQ(serialise(*run().tree), plain);
  EXPECT_EQ(seeded.tree->actions, parse_search_tree(plain).actions);
}

TEST(Seeds, a_stored_tree_goes_on_as_if_it_had_not_stopped_with_and_without_its_seeds) {
  Seeded run;
  Strategy odd = run.all(toy::odd_decision());
  odd.groups[GroupId(0)] = decision_on_device(DeviceId(2));
  run.options.seeds = {odd, run.all(decision_on_device(DeviceId(5)))};
  run.fast = {odd};
  run.options.iterations = 320;
  const PlanResult whole = run();
  run.options.iterations = 160;
  const PlanResult half = run();
  const auto stored = std::make_shared<const SearchTree>(parse_search_tree(serialise(*half.tree)));
  const PlanResult rest = run(stored);
  EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree));
  run.options.seeds.clear();
  const PlanResult alone = run(stored);
  EXPECT_TRUE(serialise(*alone.tree) == serialise(*whole.tree));
  EXPECT_EQ(alone.strategy, whole.strategy);
}

TEST(Seeds, may_be_given_to_a_tree_that_had_none) {
  Seeded run;
  run.options.iterations = 160;
  const PlanResult before = run();
  run.fast = {run.all(toy::odd_decision())};
  run.options.seeds = run.fast;
  run.options.iterations = 80;
  const PlanResult after = run(before.tree);
  EXPECT_EQ(after.strategy, run.fast[0]);
  EXPECT_EQ(after.tree->iterations, 240);
}

TEST(Seeds, what_they_say_beside_their_groups_is_kept_when_nothing_is_faster) {
  Seeded run;
  Strategy fused = run.all(decision_on_device(DeviceId(4)));
  fused.bucket = Bytes(1 << 20);
  Strategy ordered = fused;
  ordered.priorities.assign(run.problem.graph->ops().size(), 1);
  run.fast = {fused, ordered};
  run.options.seeds = {fused, ordered, fused};
  run.options.iterations = 100;
  const PlanResult result = run();
  EXPECT_EQ(result.strategy, ordered);
  EXPECT_NE(result.note.find("known before"), std::string::npos) << result.note;
  EXPECT_GT(run.seen.size(), 90U) << "its decisions are searched on from all the same";
}

TEST(Seeds, pins_hold_for_them) {
  Seeded run;
  run.options.iterations = 160;
  SearchTree tree = *run().tree;
  pin(tree, GroupId(2), decision_on_device(DeviceId(1)));
  run.options.seeds = {run.all(toy::odd_decision())};
  run.fast = run.options.seeds;
  const PlanResult result = run(std::make_shared<const SearchTree>(tree));
  for (const Strategy& strategy : run.seen)
    if (strategy != data_parallel(run.problem)) {
      EXPECT_EQ(strategy.groups[GroupId(2)], decision_on_device(DeviceId(1)));
    }
  EXPECT_FALSE(is_forbidden(*result.tree, result.strategy));
}

TEST(Seeds, of_another_problem_are_refused) {
  Seeded run;
  Strategy other;
  other.groups.assign(3, decision_on_device(DeviceId(0)));
  run.options.seeds = {other};
  EXPECT_THROW(run(), InputError);
  run.options.seeds = {run.all(decision_on_device(DeviceId(999)))};
  EXPECT_THROW(run(), InputError);
}

}  // namespace
}  // namespace strato
