// What columns have in slices is gathered in each pass that reads all of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/train/training_graph.h"
#include "core/program/value/collective.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

constexpr std::int64_t kGatheredSamples = 4, kGatheredPositions = 16, kGatheredModel = 64,
                       kGatheredInner = 256;

// Norms take so long that columns divide the positions between products.
class LongNorms final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t) const override {
    const OpFamily family = graph_->op(op).family;
    if (family == OpFamily::MatMul) return Nanos(40'000);
    return Nanos(family == OpFamily::Normalization ? 1'000'000 : 4);
  }
};

// Two perceptrons with a norm between them, on four columns.
class GatheredActivations : public testing::Test {
 protected:
  GatheredActivations() {
    ModelKit kit(kGatheredSamples);
    const auto product = [&](TensorId x, const char* name, std::int64_t in, std::int64_t out) {
      return kit.op("MatMul", {x, kit.weight(name, {in, out})});
    };
    const auto block = [&](TensorId x, const char* up, const char* down) {
      return product(kit.op("Relu", {product(x, up, kGatheredModel, kGatheredInner)}), down,
                     kGatheredInner, kGatheredModel);
    };
    normed = kit.op(
        "LayerNormalization",
        {block(kit.input("x", {kGatheredSamples, kGatheredPositions, kGatheredModel}), "a", "b"),
         kit.weight("g", {kGatheredModel}), kit.weight("h", {kGatheredModel})});
    block(normed, "c", "d");
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  }

  std::shared_ptr<const Program> lowered(std::int32_t micro_batches, bool repeat = true) const {
    const auto cluster = toy::cluster(1, 4);
    const auto grouping =
        std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                         std::vector<Nanos>(graph->op_count(), Nanos(1)));
    Strategy strategy;
    Decision decision;
    for (std::int32_t i = 0; i < 4; ++i) decision.devices.push_back({DeviceId(i), 1});
    decision.roles.tensor = 4;
    strategy.groups.push_back(decision);
    strategy.micro_batches = {micro_batches, PipelineSchedule::OneFOneB};
    LowerOptions options;
    options.verify = true;
    options.repeat_cells = repeat;
    Lowering lowering(graph, grouping, cluster, std::make_shared<LongNorms>(graph, cluster));
    return std::make_shared<const Program>(lowering.lower(strategy, options));
  }
  // Of what the norm makes.
  std::vector<TaskId> gathers(const Program& program) const {
    std::vector<TaskId> found;
    for (const TaskId id : program.tasks.ids())
      if (program.tasks[id].kind == TaskKind::AllGather && program.tasks[id].tensor == normed)
        found.push_back(id);
    return found;
  }
  static bool is_backward(const Program& program, TaskId id) {
    const Task& task = program.tasks[id];
    return task.kind == TaskKind::Compute && program.graph->op(task.op).phase == Phase::Backward;
  }

  std::shared_ptr<const Graph> graph;
  TensorId normed;
};

TEST_F(GatheredActivations, AreOfEachPass) {
  const auto program = lowered(1);
  const std::vector<TaskId> found = gathers(*program);
  ASSERT_EQ(found.size(), 2u);
  // The first is read by the forward pass alone, the second one waits for the backward pass.
  for (const TaskId reader : program->tasks.ids())
    for (const BufferId read : program->reads[reader.index()])
      for (const BufferId made : program->writes[found[0].index()])
        EXPECT_FALSE(read == made && is_backward(*program, reader));
  const auto& waits = program->dependencies[found[1].index()];
  EXPECT_TRUE(std::ranges::any_of(waits, [&](TaskId id) { return is_backward(*program, id); }));
}

// Each micro-batch has its own, whether or not its cells are copied from the second one's.
TEST_F(GatheredActivations, AreOfEachMicroBatch) {
  const auto copied = lowered(4), lowered_one_by_one = lowered(4, false);
  EXPECT_EQ(gathers(*copied).size(), 8u);
  EXPECT_EQ(Simulator().simulate(copied).step_time,
            Simulator().simulate(lowered_one_by_one).step_time);
}

}  // namespace
}  // namespace strato
