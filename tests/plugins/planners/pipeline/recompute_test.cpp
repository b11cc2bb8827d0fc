// What is computed again: by any planner that is told so, and as much as makes a pipeline fit.
#include "core/program/value/recompute.h"

#include <gtest/gtest.h>

#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/run_record.h"
#include "plugins/planners/baselines/fitting.h"
#include "tests/message_of.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult recomputing(const std::string& planner, const Problem& problem, Recompute recompute,
                       std::map<std::string, std::string> set = {}) {
  PlannerOptions options;
  options.set = std::move(set);
  options.recompute = recompute;
  options.iterations = 40;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {});
}

Bytes most_memory(const Problem& problem, const Strategy& strategy) {
  Bytes peak;
  for (const DeviceUse& device : simulate_strategy(problem, strategy).timeline->devices)
    peak = std::max(peak, device.peak);
  return peak;
}

TEST(RecomputingPlanners, LessIsKeptAndMoreIsComputed) {
  const Problem problem = sample("bert_3l", 256, "celeritas");
  const PlanResult none = recomputing("dp-allreduce", problem, Recompute::None);
  const PlanResult cheap = recomputing("dp-allreduce", problem, Recompute::Cheap);
  const PlanResult blocks = recomputing("dp-allreduce", problem, Recompute::Blocks);
  EXPECT_TRUE(none.strategy.recomputed.empty());
  EXPECT_EQ(cheap.strategy.recomputed, recomputed_ops(*problem.graph, Recompute::Cheap));
  EXPECT_EQ(blocks.strategy.recomputed, recomputed_ops(*problem.graph, Recompute::Blocks));
  EXPECT_LT(none.score.step_time, cheap.score.step_time);
  EXPECT_LT(none.score.step_time, blocks.score.step_time);
  EXPECT_LT(most_memory(problem, cheap.strategy), most_memory(problem, none.strategy));
  EXPECT_LT(most_memory(problem, blocks.strategy), most_memory(problem, cheap.strategy));
}

TEST(RecomputingPlanners, SearchesLookForStrategiesSo) {
  const Problem problem = sample("bert_3l", 16, "celeritas");
  for (const char* planner : {"mcts", "mcmc", "fastt"}) {
    const PlanResult found = recomputing(planner, problem, Recompute::Cheap);
    EXPECT_FALSE(found.strategy.recomputed.empty()) << planner;
    EXPECT_EQ(found.score.step_time, simulate_strategy(problem, found.strategy).timeline->step_time)
        << planner;
  }
}

// As much as is needed: nothing where it fits, then what is cheap, then blocks.
TEST(RecomputingPlanners, PipelinesComputeAgainWhatDoesNotFit) {
  const std::map<std::string, std::string> one = {{"stages", "1"}, {"micro_batches", "1"}};
  const auto planned = [&](std::int64_t batch) {
    return recomputing("pipeline", sample("bert_3l", batch, "tag-2x1080ti"), Recompute::None, one);
  };
  const PlanResult small = planned(16);
  EXPECT_TRUE(small.score.feasible);
  EXPECT_EQ(small.evaluations, 1);
  EXPECT_TRUE(small.strategy.recomputed.empty());
  bool needed = false;
  for (std::int64_t batch = 512; batch <= 8192 && !needed; batch *= 2) {
    const PlanResult large = planned(batch);
    needed = large.score.feasible && !large.strategy.recomputed.empty();
    EXPECT_EQ(large.evaluations > 1, large.score.feasible ? needed : true) << batch;
  }
  EXPECT_TRUE(needed) << "no batch fits by recomputation alone";
  auto none = one;
  none["recompute"] = "none";
  const Problem problem = sample("bert_3l", 16, "celeritas");
  EXPECT_TRUE(recomputing("pipeline", problem, Recompute::None, none).strategy.recomputed.empty());
  none["recompute"] = "blocks";
  EXPECT_EQ(recomputing("pipeline", problem, Recompute::None, none).strategy.recomputed,
            recomputed_ops(*problem.graph, Recompute::Blocks));
}

// Of any planner, where the columns divide the devices.
TEST(TensorParallelPlanners, GroupsHaveRows) {
  const Problem problem = sample("bert_3l", 16, "tag-testbed");
  PlannerOptions options;
  options.iterations = 40;
  options.tensor = 2;
  Observer quiet;
  for (const char* planner : {"dp-allreduce", "dp-ps", "mcts", "mcmc"}) {
    const PlanResult found = run_planner(*registry().planner(planner), problem, options, quiet, {});
    EXPECT_EQ(found.score.step_time, simulate_strategy(problem, found.strategy).timeline->step_time)
        << planner;
    for (const auto& decision : found.strategy.groups) {
      const bool has_rows =
          decision->mode == Mode::ReplicateAllReduce && decision->devices.size() % 2 == 0;
      EXPECT_EQ(columns_of(*decision), has_rows ? 2u : 1u) << planner;
    }
  }
  options.tensor = 3;  // 16 devices
  const PlanResult whole =
      run_planner(*registry().planner("dp-allreduce"), problem, options, quiet, {});
  EXPECT_EQ(columns_of(*whole.strategy.groups.front()), 1u);
}

TEST(RecomputingPlanners, RunsAreContinuedSo) {
  RunOptions options;
  options.planner.tensor = 4;
  options.planner.recompute = Recompute::Blocks;
  EXPECT_EQ(parse_run_options(run_options_text(options), "run 1").planner.recompute,
            Recompute::Blocks);
  EXPECT_EQ(parse_run_options(run_options_text(options), "run 1").planner.tensor, 4);
  EXPECT_EQ(parse_run_options(run_options_text({}), "run 1").planner.recompute, Recompute::None);
  EXPECT_NE(message_of([] {
              parse_run_options(R"({"recompute":"most"})", "run 1");
            }).find("no ops to compute again"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
