// Every family on meshes of rows and columns, whatever rows share: its program is one for each
// rank.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/graph/train/training_graph.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/program/toy.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

// Small products take longer than what they exchange, so that columns share all that they can.
class WorkCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const double flops = graph_->op(op).work.flops * static_cast<double>(samples);
    return Nanos(10 + static_cast<std::int64_t>(flops));
  }
};

class FamilyOnMeshes : public testing::TestWithParam<std::string> {};

TEST_P(FamilyOnMeshes, HasAProgramForEachRank) {
  const auto graph = std::make_shared<const Graph>(make_training_graph(
      import_small(GetParam(), {{"torch_dtype", "bfloat16"}}), Optimizer::Adam));
  const auto cluster = toy::cluster(2, 4);
  const auto costs = std::make_shared<WorkCosts>(graph, cluster);
  const std::vector<std::int32_t> one_group(graph->op_count(), 0);
  const std::vector<Nanos> times(graph->op_count(), Nanos(1));
  const auto grouping = std::make_shared<const Grouping>(*graph, one_group, times);
  Lowering lowering(graph, grouping, cluster, costs);
  LowerOptions options;
  options.verify = true;
  std::size_t in_columns = 0;
  std::map<std::pair<int, int>, std::ptrdiff_t> transfers_of;  // where rows have all
  for (int i = 0; i < 24; ++i) {
    Strategy strategy;
    Decision mesh;
    const std::int32_t devices = i % 3 == 2 ? 4 : 8;
    for (std::int32_t d = 0; d < devices; ++d) mesh.devices.push_back({DeviceId(d), 1});
    mesh.roles.tensor = i % 3 == 1 ? 4 : 2;
    mesh.roles.states.stage = i / 3 % 4;
    mesh.roles.states.smallest = Bytes(0);
    strategy.groups.push_back(mesh);
    strategy.micro_batches.count = i < 12 ? 1 : 2;
    SCOPED_TRACE(fmt::format("{}, {} micro-batches", describe(mesh, *cluster),
                             strategy.micro_batches.count));
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    const auto transfers = std::ranges::count(program->tasks, TaskKind::Transfer, &Task::kind);
    const auto whole =
        transfers_of.try_emplace({i % 3, strategy.micro_batches.count}, transfers).first->second;
    EXPECT_EQ(transfers, whole) << "what rows have in parts is put together by collectives";
    Simulator simulator;
    const RankPrograms ranks =
        rank_programs(*program, execution_order(simulator.simulate(program)));
    EXPECT_NO_THROW(check_termination(ranks, "job"));
    for (const RankProgram& rank : ranks.ranks)
      for (const Instruction& what : rank.instructions)
        in_columns += what.stream == Stream::TensorCommunication ? 1 : 0;
  }
  EXPECT_GT(in_columns, 100u);
}

// Rows have positions among them: attention's keys and values are gathered, or heads swapped for
// positions, and what else is exchanged is little.
TEST_P(FamilyOnMeshes, DividesPositionsOverRows) {
  const auto graph = std::make_shared<const Graph>(make_training_graph(
      import_small(GetParam(), {{"torch_dtype", "bfloat16"}}), Optimizer::Adam));
  const auto cluster = toy::cluster(2, 4);
  const auto costs = std::make_shared<WorkCosts>(graph, cluster);
  const std::vector<std::int32_t> one_group(graph->op_count(), 0);
  const std::vector<Nanos> times(graph->op_count(), Nanos(1));
  const auto grouping = std::make_shared<const Grouping>(*graph, one_group, times);
  Lowering lowering(graph, grouping, cluster, costs);
  LowerOptions options;
  options.verify = true;
  for (std::size_t i = 0; i < 32; ++i) {
    Strategy strategy;
    Decision mesh;
    const std::array<std::int32_t, 4> counts = {8, 8, 6, 4};  // the last: one row alone
    for (std::int32_t d = 0; d < counts[i % 4]; ++d) mesh.devices.push_back({DeviceId(d), 1});
    mesh.roles.tensor = i % 2 == 1 ? 2 : 1;
    mesh.roles.context = i % 4 == 2 ? 3 : 2;
    mesh.roles.states.stage = i / 4 % 4;
    mesh.roles.states.smallest = Bytes(0);
    strategy.groups.push_back(mesh);
    strategy.micro_batches.count = i < 16 ? 1 : 2;
    SCOPED_TRACE(fmt::format("{}, {} micro-batches", describe(mesh, *cluster),
                             strategy.micro_batches.count));
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    Simulator simulator;
    const RankPrograms ranks =
        rank_programs(*program, execution_order(simulator.simulate(program)));
    EXPECT_NO_THROW(check_termination(ranks, "job"));
  }
}

// On two stages, whose rows send each other what they have, in slices where all columns need it.
TEST_P(FamilyOnMeshes, PassesFromStageToStage) {
  const auto graph = std::make_shared<const Graph>(make_training_graph(
      import_small(GetParam(), {{"torch_dtype", "bfloat16"}}), Optimizer::Adam));
  const auto cluster = toy::cluster(2, 4);
  const auto costs = std::make_shared<WorkCosts>(graph, cluster);
  const std::size_t ops = graph->op_count();
  std::vector<std::int32_t> stage_of(ops, 0);
  for (const OpId op : graph->ops().ids()) {
    const OpId forward = graph->op(op).forward.valid() ? graph->op(op).forward : op;
    const bool computes = graph->op(op).phase != Phase::Update;
    stage_of[op.index()] = computes && forward.index() > ops / 5 ? 1 : 0;
  }
  for (const OpId op : graph->ops().ids())  // where the gradient is made
    if (graph->op(op).phase == Phase::Update)
      stage_of[op.index()] = stage_of[graph->tensor(graph->op(op).inputs[1]).producer.index()];
  const std::vector<Nanos> times(ops, Nanos(1));
  const auto grouping = std::make_shared<const Grouping>(*graph, stage_of, times);
  Lowering lowering(graph, grouping, cluster, costs);
  LowerOptions options;
  options.verify = true;
  for (int i = 0; i < 8; ++i) {
    Strategy strategy;
    for (const GroupId stage : {GroupId(0), GroupId(1)}) {
      Decision mesh;
      for (std::size_t d = 0; d < 4; ++d)
        mesh.devices.push_back({DeviceId(stage.index() * 4 + d), 1});
      mesh.roles.tensor = i % 2 == 0 ? 2 : 1;
      mesh.roles.context = i % 4 > 1 ? 2 : 1;
      strategy.groups.push_back(mesh);
    }
    strategy.micro_batches.count = i < 4 ? 1 : 2;
    SCOPED_TRACE(fmt::format("{}, {} micro-batches", describe(*strategy.groups.front(), *cluster),
                             strategy.micro_batches.count));
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    Simulator simulator;
    const RankPrograms ranks =
        rank_programs(*program, execution_order(simulator.simulate(program)));
    EXPECT_NO_THROW(check_termination(ranks, "job"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, FamilyOnMeshes, testing::ValuesIn(family_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strato::test
