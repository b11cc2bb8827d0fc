// What columns have in slices is gathered in each pass that reads all of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/program/perceptrons.h"

namespace strato {
namespace {

class GatheredActivations : public testing::Test {
 protected:
  std::shared_ptr<const Program> lowered(std::int32_t micro_batches, bool repeat = true,
                                         bool sequence = true) const {
    const auto cluster = toy::cluster(1, 4);
    Strategy strategy = toy::on_columns(4);
    strategy.groups.front()->roles.sequence = sequence;
    strategy.micro_batches = {micro_batches, PipelineSchedule::OneFOneB};
    LowerOptions options;
    options.verify = true;
    options.repeat_cells = repeat;
    Lowering lowering(model.graph, toy::one_group(*model.graph), cluster,
                      std::make_shared<toy::NormCosts>(model.graph, cluster));
    return std::make_shared<const Program>(lowering.lower(strategy, options));
  }
  // Of what the norm makes.
  std::vector<TaskId> gathers(const Program& program) const {
    std::vector<TaskId> found;
    for (const TaskId id : program.tasks.ids())
      if (program.tasks[id].kind == TaskKind::AllGather && program.tasks[id].tensor == model.normed)
        found.push_back(id);
    return found;
  }
  static bool is_backward(const Program& program, TaskId id) {
    const Task& task = program.tasks[id];
    return task.kind == TaskKind::Compute && program.graph->op(task.op).phase == Phase::Backward;
  }

  const toy::Perceptrons model = toy::perceptrons(4);
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

// Without sequence parallelism sums are all-reduced, and each column computes all of the norm.
TEST_F(GatheredActivations, AreNoneWithoutSequenceParallelism) {
  const auto divided = lowered(1), whole = lowered(1, true, false);
  constexpr Bytes kAll(4 * toy::kPositions * toy::kModel * 4);
  const auto times = [&](const Program& program, TaskKind kind) {
    return std::ranges::count_if(
        program.tasks, [&](const Task& task) { return task.kind == kind && task.bytes == kAll; });
  };
  EXPECT_GT(times(*divided, TaskKind::ReduceScatter), 0);
  EXPECT_EQ(times(*whole, TaskKind::ReduceScatter), 0);
  EXPECT_EQ(times(*whole, TaskKind::AllGather), 0);
  EXPECT_GT(times(*whole, TaskKind::AllReduce), times(*divided, TaskKind::AllReduce));
}

}  // namespace
}  // namespace strato
