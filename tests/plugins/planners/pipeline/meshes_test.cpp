// The planner "meshes": a local search that begins at how large models are trained.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult searched(const Problem& problem, PlannerOptions options = {}) {
  options.floor = false;
  Observer quiet;
  return run_planner(*registry().planner("meshes"), problem, options, quiet, {});
}
PlannerOptions at_most(const char* evaluations) {
  PlannerOptions options;
  options.set = {{"most", evaluations}};
  return options;
}

TEST(MeshesPlanner, ImprovesOnItsStarts) {
  for (const auto& [model, batch, cluster] :
       {std::tuple("bert_large", 8, "h100-2x8"), {"transformer", 64, "h100-2x8"}}) {
    const Problem problem = sample(model, batch, cluster);
    const PlanResult starts = searched(problem, at_most("1"));
    const PlanResult best = searched(problem);
    EXPECT_EQ(starts.evaluations, 3) << model;
    EXPECT_GT(best.evaluations, 10) << model;
    EXPECT_LT(to_seconds(best.score.step_time), 0.9 * to_seconds(starts.score.step_time)) << model;
  }
}

// Nothing one step away from the result is better: here, other stages of ZeRO.
TEST(MeshesPlanner, EndsWhereNoNeighbourIsBetter) {
  const Problem problem = sample("bert_large", 8, "h100-2x8");
  const PlanResult best = searched(problem);
  const Problem own = problem_for(problem, best.strategy);
  for (std::int32_t stage = 0; stage <= StateSharding::kMostStage; ++stage) {
    Strategy other = best.strategy;
    for (auto& decision : other.groups) decision->roles.states.stage = stage;
    EXPECT_FALSE(simulate_strategy(own, other).score.better_than(best.score)) << stage;
  }
}

TEST(MeshesPlanner, FindsWhatFits) {
  const Problem problem = sample("bert_large", 32, "tag-2x1080ti");
  EXPECT_FALSE(simulate_strategy(problem, data_parallel(problem)).score.feasible);
  EXPECT_TRUE(searched(problem).score.feasible);
}

TEST(MeshesPlanner, KeepsOutOfForbiddenRoles) {
  const Problem problem = sample("bert_large", 8, "h100-2x8");
  ASSERT_GT(searched(problem).strategy.groups.front()->roles.tensor, 1);
  PlannerOptions options;
  Constraints constraints;
  constraints.forbidden = {parse_forbid("pipeline,tensor,sharding,recompute")};
  options.constraints = std::make_shared<const Constraints>(std::move(constraints));
  const PlanResult plain = searched(problem, options);
  for (const auto& decision : plain.strategy.groups) {
    EXPECT_EQ(decision->roles, MeshRoles());
    EXPECT_EQ(decision->devices.size(), 16u);
  }
  EXPECT_TRUE(plain.strategy.recomputed.empty());
}

TEST(MeshesPlanner, TakesMicroBatchesThatAreGivenToAny) {
  PlannerOptions options;
  options.micro_batches = {4, PipelineSchedule::Gpipe};
  const PlanResult result = searched(sample("bert_3l", 16, "celeritas"), options);
  EXPECT_EQ(result.strategy.micro_batches, options.micro_batches);
}

TEST(MeshesPlanner, TakesMicroBatchesThatLeaveRowsWithoutSamples) {
  PlannerOptions options;
  options.micro_batches.count = 16;
  Constraints constraints;
  constraints.forbidden = {parse_forbid("pipeline,tensor")};
  options.constraints = std::make_shared<const Constraints>(std::move(constraints));
  const PlanResult result = searched(sample("bert_3l", 16, "celeritas"), options);
  EXPECT_EQ(result.strategy.micro_batches, options.micro_batches);
  EXPECT_GE(result.evaluations, 1);
}

TEST(MeshesPlanner, TakesAScheduleByHand) {
  PlannerOptions options;
  options.micro_batches = by_hand(parse_schedule_rows({"0F0 0F1 0B0 0B1"}), 1);
  const PlanResult result = searched(sample("bert_3l", 16, "celeritas"), options);
  EXPECT_EQ(result.strategy.micro_batches, options.micro_batches);
}

// A batch that is smaller than there are devices leaves some rows without samples, or makes columns
// of them.
TEST(MeshesPlanner, FewSamplesAreComputedByManyColumns) {
  const Problem problem = sample("bert_large", 1, "h100-2x8");
  const PlanResult result = searched(problem);
  EXPECT_EQ(
      result.score.step_time,
      simulate_strategy(problem_for(problem, result.strategy), result.strategy).score.step_time);
  EXPECT_LT(result.score.step_time,
            simulate_strategy(problem, data_parallel(problem)).score.step_time);
}

}  // namespace
}  // namespace strato
