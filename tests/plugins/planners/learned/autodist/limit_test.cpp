// The bound of exact data parallelism: closed form, and nothing that is tried is below it.
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/learned/autodist/plan/communication_model.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "plugins/planners/learned/autodist/search/sampler.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

TEST(Limit, IsTheRingsVolumeAfterTheFirstGradient) {
  const Ground ground(1, 3);
  const auto bytes = static_cast<double>(ground.task.bytes().value);
  // Ways to the network: 10 GB/s each.
  const double seconds =
      to_seconds(data_parallel_limit(SyncTask(ground.problem, ground.task.base, true, false)));
  EXPECT_GT(seconds, 2 * 3.0 / 4 * bytes / 10e9);
  EXPECT_LT(seconds, 2 * 3.0 / 4 * bytes / 10e9 + 1e-3);
  // Values may be on their way before it: no more than the volume is sure.
  const double gathered = to_seconds(data_parallel_limit(ground.task));
  EXPECT_NEAR(gathered, 2 * 3.0 / 4 * bytes / 10e9, 1e-6);
}

TEST(Limit, NothingIsBelowIt) {
  for (const auto& [fast, slow] : {std::pair(1, 0), {2, 0}, {4, 0}, {1, 3}, {2, 2}, {4, 2}}) {
    for (const bool lookup : {false, true}) {
      const Ground ground = lookup
                                ? Ground(lookup_problem(toy::small_cluster(fast, slow), 5000, 512))
                                : Ground(fast, slow);
      for (const bool sharded : {false, true}) {
        const SyncTask task(ground.problem, ground.task.base, true, sharded);
        std::vector<Strategy> strategies{task.base};
        for (const BuiltPlan& built : all_builds(task, 1))
          strategies.push_back(strategy_of(task, built.plan));
        Random random(1);
        for (int i = 0; i < 60; ++i)
          strategies.push_back(strategy_of(task, sample_plan(task, {}, random)));
        const auto evaluator = make_simulating_evaluator(ground.problem, 1);
        const Nanos limit = data_parallel_limit(task);
        for (const Score& score : evaluator->evaluate(strategies))
          EXPECT_GE(score.step_time, limit);
      }
    }
  }
}

TEST(Limit, OneDeviceSendsNothing) {
  const Ground ground(1, 0);
  EXPECT_LT(data_parallel_limit(ground.task),
            simulate_strategy(ground.problem, ground.task.base).score.step_time);
}

}  // namespace
}  // namespace strato::autodist
