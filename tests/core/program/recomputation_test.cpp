// Recomputation: what is computed again, for whom, when, and what that saves; and which ops are
// chosen for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/program/delta/delta_lower.h"
#include "core/program/value/recompute.h"
#include "core/sim/explain/dump.h"
#include "core/sim/explain/why.h"
#include "core/sim/timeline/feedback.h"
#include "tests/core/program/toy.h"
#include "tests/core/sim/most_at_once.h"

namespace strato {
namespace {

using toy::Bench;

class Recomputing : public testing::Test {
 protected:
  static constexpr std::int64_t kSamples = 24, kWide = 5;
  static constexpr int kLayers = 4;

  // Layers 1 and 2 are of group 1, the others of group 0.
  static std::vector<std::pair<std::string, int>> halves() {
    std::vector<std::pair<std::string, int>> result;
    for (const char* op : {"f1", "f2", "gw1", "gw2", "gx2", "u1", "u2"}) result.emplace_back(op, 1);
    return result;
  }
  Recomputing()
      : bench(toy::training_chain(kSamples, kLayers, kWide), toy::cluster(1, 4), halves()) {}

  Strategy on(std::vector<int> devices, const std::vector<std::string>& recomputed) const {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, std::move(devices));
    for (const std::string& op : recomputed)
      strategy.recomputed.push_back(bench.graph->find_op(op));
    std::ranges::sort(strategy.recomputed);
    return strategy;
  }
  // By op, how often it is computed a second time.
  static std::map<std::string, int> again(const Program& program) {
    std::map<std::string, int> runs;
    for (const Task& task : program.tasks)
      if (task.again && task.kind == TaskKind::Compute) ++runs[program.graph->op(task.op).name];
    return runs;
  }
  using Runs = std::map<std::string, int>;

  Bench bench;
};

TEST_F(Recomputing, WhatTheBackwardPassReadsIsComputedAgainOnce) {
  EXPECT_EQ(again(*bench.lower(on({0}, {}))), Runs());
  EXPECT_EQ(again(*bench.lower(on({0}, {"f2"}))), (Runs{{"f2", 1}}));
  // gw4 reads what f3 made, which is of what f2 made, of what f1 made.
  EXPECT_EQ(again(*bench.lower(on({0}, {"f1", "f2", "f3"}))),
            (Runs{{"f1", 1}, {"f2", 1}, {"f3", 1}}));
  EXPECT_EQ(again(*bench.lower(on({0, 1}, {"f1", "f3"}))), (Runs{{"f1", 2}, {"f3", 2}}));
}

TEST_F(Recomputing, EntriesThatMeanNothingChangeNothing) {
  const auto program = bench.lower(on({0}, {"seed", "gw2", "gx3", "u1"}));
  EXPECT_EQ(again(*program), Runs());
  EXPECT_EQ(program->tasks.size(), bench.lower(on({0}, {}))->tasks.size());
}

TEST_F(Recomputing, TheStepIsLongerByWhatIsComputedAgain) {
  const Nanos plain = bench.run(on({0}, {})).step_time;
  EXPECT_EQ(bench.run(on({0}, {"f1", "f2", "f3"})).step_time - plain, Nanos(3 * 10 * kSamples));
  EXPECT_EQ(bench.run(on({0, 1}, {"f3"})).step_time - bench.run(on({0, 1}, {})).step_time,
            Nanos(10 * kSamples / 2));
}

// It does not begin before the gradient that its reader waits for has come.
TEST_F(Recomputing, ItWaitsForTheGradient) {
  const Timeline timeline = bench.run(on({0}, {"f1", "f2", "f3"}));
  const Program& program = *timeline.program;
  const auto task_of = [&](const std::string& op, bool second) {
    for (const TaskId id : program.tasks.ids())
      if (const Task& task = program.tasks[id];
          task.again == second && task.op.valid() && program.graph->op(task.op).name == op)
        return timeline.tasks[id];
    ADD_FAILURE() << "no task of " << op;
    return TaskTimes();
  };
  EXPECT_LT(task_of("f1", false).start, task_of("seed", false).start);
  EXPECT_GE(task_of("f1", true).start, task_of("seed", false).end);
  EXPECT_GE(task_of("gw4", false).start, task_of("f3", true).end);
  // With f2 kept each part waits for its own gradient.
  const Timeline parts = bench.run(on({0}, {"f1", "f3"}));
  const Program& other = *parts.program;
  Nanos gradient, second;
  for (const TaskId id : other.tasks.ids()) {
    const Task& task = other.tasks[id];
    if (!task.op.valid() || task.kind != TaskKind::Compute) continue;
    if (other.graph->op(task.op).name == "gx3") gradient = parts.tasks[id].end;
    if (task.again && other.graph->op(task.op).name == "f1") second = parts.tasks[id].start;
  }
  EXPECT_GT(gradient, Nanos(0));
  EXPECT_GE(second, gradient);
}

// One tensor of activations or of their gradients.
constexpr std::int64_t kTensor = 24 * 5 * 4;

std::int64_t peak_without_residents(const Timeline& timeline) {
  const DeviceUse& use = timeline.devices[DeviceId(0)];
  return use.peak.value - use.resident.value;
}

TEST_F(Recomputing, MemoryIsWhatIsKeptAndWhatIsMadeAgain) {
  // f1:0 to f4:0 are there when the seed is made of the last.
  const std::int64_t plain = peak_without_residents(bench.run(on({0}, {})));
  EXPECT_EQ(plain, 5 * kTensor);
  // Only f2:0 is kept, beside the seed, f3:0 and the gradients that are made of these two.
  const std::int64_t less = peak_without_residents(bench.run(on({0}, {"f1", "f3"})));
  EXPECT_EQ(less, 4 * kTensor + 4 * kWide);
}

TEST_F(Recomputing, ItIsToldInNamesAndDumps) {
  const Timeline timeline = bench.run(on({0}, {"f1"}));
  EXPECT_TRUE(toy::find(*timeline.program, "f1 @m0:0 again").valid());
  const std::string dump = dump_tasks(timeline);
  EXPECT_NE(dump.find("\"stream\":\"compute\",\"again\":true}"), std::string::npos) << dump;
}

TEST_F(Recomputing, ItsCostIsExplained) {
  const Timeline timeline = bench.run(on({0}, {"f1", "f2", "f3"}));
  const double share = 3 * 10 * kSamples / static_cast<double>(timeline.step_time.value);
  const std::string text = why(timeline, {}, {}).text();
  EXPECT_NE(text.find(fmt::format("Recomputation costs the devices {:.0f} % of the step on average",
                                  100 * share)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("3 ops are computed again"), std::string::npos) << text;
  EXPECT_EQ(why(bench.run(on({0}, {})), {}, {}).text().find("Recomputation"), std::string::npos);
}

// A stage computes its own ops again; what another one reads of it has been sent there.
TEST_F(Recomputing, StagesReadWhatTheyWereSent) {
  Strategy strategy = on({2, 3}, {"f1", "f2", "f3", "f4"});
  strategy.groups[bench.group("f1")] = Bench::decision(Mode::ReplicateAllReduce, {0, 1});
  // gw3 reads f2:0 on devices 2 and 3.
  EXPECT_EQ(again(*bench.lower(strategy)), (Runs{{"f1", 2}, {"f3", 2}, {"f4", 2}}));
  strategy.micro_batches = {4, PipelineSchedule::OneFOneB};
  EXPECT_EQ(again(*bench.lower(strategy)), (Runs{{"f1", 8}, {"f3", 8}, {"f4", 8}}));
  std::map<std::int32_t, int> of_micro;
  const auto program = bench.lower(strategy);
  for (const Task& task : program->tasks)
    if (task.again && task.kind == TaskKind::Compute) ++of_micro[task.micro];
  EXPECT_EQ(of_micro, (std::map<std::int32_t, int>{{0, 6}, {1, 6}, {2, 6}, {3, 6}}));
}

int most_of(const Timeline& timeline, const std::string& tensor) {
  return most_at_once(timeline, [&](const Buffer& buffer, const Task&) {
    return timeline.program->graph->tensor(buffer.tensor).name == tensor;
  });
}

// GPipe keeps what all micro-batches make on a stage; with recomputation what one of them makes.
TEST_F(Recomputing, PipelinesKeepOneMicroBatchOfWhatIsMadeAgain) {
  Strategy strategy = on({1}, {});
  strategy.groups[bench.group("f1")] = Bench::decision(Mode::ReplicateAllReduce, {0});
  strategy.micro_batches = {4, PipelineSchedule::Gpipe};
  EXPECT_EQ(most_of(bench.run(strategy), "f1:0"), 4);
  strategy.recomputed = {bench.graph->find_op("f1")};
  EXPECT_EQ(most_of(bench.run(strategy), "f1:0"), 1);
}

TEST_F(Recomputing, DeltaEvaluationLeavesItToWholeLowering) {
  const Strategy plain = on({0}, {}), other = on({0}, {"f1"});
  EXPECT_TRUE(DeltaLowering::are_near(plain, plain, *bench.grouping));
  EXPECT_FALSE(DeltaLowering::are_near(plain, other, *bench.grouping));
  EXPECT_NE(plain.digest(), other.digest());
}

// ---- which ops

TEST(RecomputedOps, AreOfTheForwardPassAndSumNothingUp) {
  const auto graph = toy::training_chain(8, 3, 4);
  EXPECT_TRUE(may_recompute(*graph, graph->find_op("f1")));
  EXPECT_FALSE(may_recompute(*graph, graph->find_op("seed")));
  EXPECT_FALSE(may_recompute(*graph, graph->find_op("gw1")));
  EXPECT_FALSE(may_recompute(*graph, graph->find_op("u1")));
  EXPECT_TRUE(recomputed_ops(*graph, Recompute::None).empty());
}

// Of n equal layers about the square root of n are kept, and as many are made again at once.
TEST(RecomputedOps, BlocksOfAChainAreAboutItsSquareRoot) {
  for (const int layers : {16, 64, 144}) {
    Bench bench(toy::training_chain(6, layers, 5), toy::cluster(1, 1));
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
    const std::int64_t tensor = 6 * 5 * 4;
    const std::int64_t plain = peak_without_residents(bench.run(strategy)) / tensor;
    EXPECT_EQ(plain, layers + 1);
    strategy.recomputed = recomputed_ops(*bench.graph, Recompute::Blocks);
    const std::int64_t less = peak_without_residents(bench.run(strategy)) / tensor;
    EXPECT_LE(less, 2 * std::sqrt(layers) + 4) << layers;
    EXPECT_LT(static_cast<int>(strategy.recomputed.size()), layers);
    // When many passes are under way, less is kept of each.
    EXPECT_GT(recomputed_ops(*bench.graph, Recompute::Blocks, 16).size(),
              strategy.recomputed.size());
  }
}

}  // namespace
}  // namespace strato
