// What kernels hand on without writing it to memory (CostModel::is_passed_on(), adds_up()).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/graph/train/training_graph.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

class FusingCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  bool is_passed_on(TensorId tensor) const override { return passed_on.contains(tensor); }
  bool adds_up(TensorId tensor) const override { return added_up.contains(tensor); }
  std::set<TensorId> passed_on, added_up;
};

constexpr std::int64_t kFusedSamples = 8, kFusedWidth = 16;

// x w -> Relu -> Sqrt -> v: a function of a function between two products.
class PassedOn : public testing::Test {
 protected:
  PassedOn() {
    ModelKit kit(kFusedSamples);
    const TensorId x = kit.input("x", {kFusedSamples, kFusedWidth});
    w = kit.weight("w", {kFusedWidth, kFusedWidth});
    between = kit.op("Relu", {kit.op("MatMul", {x, w})});
    after = kit.op("Sqrt", {between});
    kit.op("MatMul", {after, kit.weight("v", {kFusedWidth, kFusedWidth})});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
    cluster = toy::cluster(1, 2);
    costs = std::make_shared<FusingCosts>(graph, cluster);
    weight_gradient = graph->op(graph->update_of(w)).inputs[1];
  }

  // Ops of the first device, but these, which have the second one.
  std::shared_ptr<const Program> lowered(std::int32_t micro_batches,
                                         const std::set<OpId>& elsewhere = {}) const {
    std::vector<std::int32_t> groups(graph->op_count(), 0);
    for (const OpId op : elsewhere) groups[op.index()] = 1;
    const auto grouping = std::make_shared<const Grouping>(
        *graph, groups, std::vector<Nanos>(graph->op_count(), Nanos(1)));
    Strategy strategy;
    for (std::size_t g = 0; g < grouping->size(); ++g)
      strategy.groups.push_back(decision_on_device(DeviceId(g)));
    strategy.micro_batches = {micro_batches, PipelineSchedule::OneFOneB};
    LowerOptions options;
    options.verify = true;
    return std::make_shared<const Program>(
        Lowering(graph, grouping, cluster, costs).lower(strategy, options));
  }
  static std::size_t passed(const Program& program, TensorId tensor) {
    return static_cast<std::size_t>(std::ranges::count_if(
        program.buffers,
        [&](const Buffer& buffer) { return buffer.tensor == tensor && buffer.passed_on; }));
  }
  static Bytes peak(const std::shared_ptr<const Program>& program) {
    return Simulator().simulate(program).devices[DeviceId(0)].peak;
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<FusingCosts> costs;
  TensorId w, between, after, weight_gradient;
};

TEST_F(PassedOn, FromKernelToKernelIsNeverInMemory) {
  const auto kept = lowered(1);
  EXPECT_EQ(passed(*kept, between), 0u);
  costs->passed_on = {between};
  const auto handed_on = lowered(1);
  EXPECT_EQ(passed(*handed_on, between), 1u);
  EXPECT_EQ(handed_on->tasks.size(), kept->tasks.size());
  // The peak is where what the loss reads is there: of what was made before, this is gone.
  EXPECT_EQ(peak(kept) - peak(handed_on), graph->tensor(between).bytes());
}

TEST_F(PassedOn, WhatAnotherDeviceReadsIsWritten) {
  costs->passed_on = {between};
  EXPECT_EQ(passed(*lowered(1, {graph->tensor(after).producer}), between), 0u);
}

// Of four micro-batches the first one's gradient is the sum; the others are never there.
TEST_F(PassedOn, TermsOfSumsOverMicroBatchesAreAddedAsTheyAreMade) {
  const auto sums = [&](const Program& program) {
    std::vector<Task> found;
    for (const Task& task : program.tasks)
      if (task.kind == TaskKind::Sum && task.tensor == weight_gradient) found.push_back(task);
    return found;
  };
  const auto apart = lowered(4);
  ASSERT_EQ(sums(*apart).size(), 3u);
  for (const Task& sum : sums(*apart)) EXPECT_GT(sum.duration, Nanos(1));
  EXPECT_EQ(passed(*apart, weight_gradient), 0u);
  costs->added_up = {weight_gradient};
  const auto fused = lowered(4);
  ASSERT_EQ(sums(*fused).size(), 3u);
  for (const Task& sum : sums(*fused)) EXPECT_EQ(sum.duration, Nanos(1));
  EXPECT_EQ(passed(*fused, weight_gradient), 3u);
}

}  // namespace
}  // namespace strato
