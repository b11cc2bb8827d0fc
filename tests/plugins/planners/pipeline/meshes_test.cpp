// The planner "meshes": a local search that begins at how large models are trained.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/framework/layout/model_layers.h"
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

PlannerOptions without(const char* roles) {
  PlannerOptions options;
  Constraints constraints;
  constraints.forbidden = {parse_forbid(roles)};
  options.constraints = std::make_shared<const Constraints>(std::move(constraints));
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
  PlannerOptions options = without("pipeline,tensor,sharding,recompute");
  const PlanResult plain = searched(problem, options);
  for (const auto& decision : plain.strategy.groups) {
    EXPECT_EQ(decision->roles, MeshRoles());
    EXPECT_EQ(decision->devices.size(), 16u);
  }
  EXPECT_TRUE(plain.strategy.recomputed.empty());
}

// Layers of the model that lie on several stages.
std::size_t divided_layers(const Problem& problem, const Strategy& strategy) {
  const frameworks::ModelLayers layers = frameworks::model_layers(*problem.graph);
  const Problem own = problem_for(problem, strategy);
  std::map<std::int32_t, std::set<DeviceId>> firsts;  // of the stages, by layer
  for (std::size_t op = 0; op < layers.place_of.size(); ++op) {
    const GroupId group = own.grouping->group_of(OpId(op));
    if (const std::int32_t place = layers.place_of[op]; place >= 1 && place <= layers.count)
      firsts[place].insert(strategy.groups[group]->devices.front().device);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(firsts, [](const auto& layer) { return layer.second.size() > 1; }));
}

TEST(MeshesPlanner, BeginsStagesWithLayers) {
  const Problem problem = sample("bert_large", 8, "tag-2x1080ti");
  PlannerOptions options = without("tensor,sharding,recompute");
  const PlanResult whole = searched(problem, options);
  options.set = {{"whole_layers", "false"}};
  const PlanResult any = searched(problem, options);
  for (const PlanResult& result : {whole, any})
    ASSERT_TRUE(std::ranges::any_of(result.strategy.groups, [](const auto& decision) {
      return decision->devices.front().device == DeviceId(1);
    })) << "it has no second stage";
  EXPECT_EQ(divided_layers(problem, whole.strategy), 0u);
  EXPECT_GT(divided_layers(problem, any.strategy), 0u);
}

TEST(MeshesPlanner, TakesMicroBatchesThatAreGivenToAny) {
  PlannerOptions options;
  options.micro_batches = {4, PipelineSchedule::Gpipe};
  const PlanResult result = searched(sample("bert_3l", 16, "celeritas"), options);
  EXPECT_EQ(result.strategy.micro_batches, options.micro_batches);
}

TEST(MeshesPlanner, TakesMicroBatchesThatLeaveRowsWithoutSamples) {
  PlannerOptions options = without("pipeline,tensor");
  options.micro_batches.count = 16;
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

std::string fact(const PlanResult& result, std::string_view name) {
  for (const auto& [key, value] : result.facts)
    if (key == name) return value;
  return "";
}

// What the plan does not do, and frameworks may, is tried and told; where it is asked for, it is
// done.
TEST(MeshesPlanner, SaysWhatPiecesWouldGainAndTakesThem) {
  const Problem problem = sample("bert_large", 8, "h100-2x8");
  const PlanResult plain = searched(problem);
  ASSERT_GT(plain.strategy.groups.front()->roles.tensor, 1);
  EXPECT_EQ(plain.strategy.groups.front()->roles.pieces, 1);
  EXPECT_NE(fact(plain, "columns that exchange in pieces"), "");
  PlannerOptions options;
  options.set = {{"overlap", "true"}};
  const PlanResult pieces = searched(problem, options);
  EXPECT_TRUE(pieces.score.better_than(plain.score));
  const MeshRoles& roles = pieces.strategy.groups.front()->roles;
  EXPECT_EQ(roles.pieces, roles.tensor);
}

// Stages alone: then a backward pass in two fills what a single one leaves idle.
TEST(MeshesPlanner, DividesTheBackwardPassWhereItMay) {
  const Problem problem = sample("bert_large", 32, "fastt-8xv100");
  PlannerOptions options = without("tensor,sharding,recompute");
  const PlanResult plain = searched(problem, options);
  options.set = {{"zero_bubble", "true"}};
  const PlanResult divided = searched(problem, options);
  EXPECT_FALSE(plain.score.better_than(divided.score));
  const auto is_divided = [](const PlanResult& result) {
    const PipelineSchedule schedule = result.strategy.micro_batches.schedule;
    return schedule == PipelineSchedule::ZbH1 || schedule == PipelineSchedule::ZbV ||
           schedule == PipelineSchedule::DualPipeV;
  };
  EXPECT_FALSE(is_divided(plain));
  EXPECT_EQ(is_divided(divided), divided.score.better_than(plain.score));
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
