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

class FamilyOnMeshes : public testing::TestWithParam<std::string> {
 protected:
  FamilyOnMeshes()
      : graph(std::make_shared<const Graph>(make_training_graph(
            import_small(GetParam(), {{"torch_dtype", "bfloat16"}}), Optimizer::Adam))),
        cluster(toy::cluster(2, 4)) {}

  // The ops' groups; of one, all are zeros.
  Lowering lowering_of(const std::vector<std::int32_t>& group_of) const {
    const std::vector<Nanos> times(graph->op_count(), Nanos(1));
    return Lowering(graph, std::make_shared<const Grouping>(*graph, group_of, times), cluster,
                    std::make_shared<WorkCosts>(graph, cluster));
  }
  Lowering lowering_of_one_group() const {
    return lowering_of(std::vector<std::int32_t>(graph->op_count(), 0));
  }
  static Decision mesh_on(std::size_t first, std::size_t devices, const MeshRoles& roles) {
    Decision mesh;
    for (std::size_t d = 0; d < devices; ++d) mesh.devices.push_back({DeviceId(first + d), 1});
    mesh.roles = roles;
    return mesh;
  }
  struct Ranks {
    std::shared_ptr<const Program> program;
    RankPrograms programs;
  };
  // Verified, and a program for each rank that comes to an end.
  Ranks ranks_of(Lowering& lowering, const Strategy& strategy) const {
    SCOPED_TRACE(fmt::format("{}, {} micro-batches",
                             describe(*strategy.groups[GroupId(0)], *cluster),
                             strategy.micro_batches.count));
    LowerOptions options;
    options.verify = true;
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    Simulator simulator;
    Ranks ranks{program, rank_programs(*program, execution_order(simulator.simulate(program)))};
    EXPECT_NO_THROW(check_termination(ranks.programs, "job"));
    return ranks;
  }

  const std::shared_ptr<const Graph> graph;
  const std::shared_ptr<const Cluster> cluster;
};

StateSharding all_in_parts(std::int32_t stage) { return {.stage = stage, .smallest = Bytes(0)}; }

TEST_P(FamilyOnMeshes, HasAProgramForEachRank) {
  Lowering lowering = lowering_of_one_group();
  std::size_t in_columns = 0;
  std::map<std::pair<int, int>, std::ptrdiff_t> transfers_of;  // where rows have all
  for (int i = 0; i < 24; ++i) {
    Strategy strategy;
    strategy.groups.push_back(mesh_on(
        0, i % 3 == 2 ? 4 : 8, {.tensor = i % 3 == 1 ? 4 : 2, .states = all_in_parts(i / 3 % 4)}));
    strategy.micro_batches.count = i < 12 ? 1 : 2;
    const Ranks ranks = ranks_of(lowering, strategy);
    const auto transfers =
        std::ranges::count(ranks.program->tasks, TaskKind::Transfer, &Task::kind);
    const auto whole =
        transfers_of.try_emplace({i % 3, strategy.micro_batches.count}, transfers).first->second;
    EXPECT_EQ(transfers, whole) << "what rows have in parts is put together by collectives";
    for (const RankProgram& rank : ranks.programs.ranks)
      for (const Instruction& what : rank.instructions)
        in_columns += what.stream == Stream::TensorCommunication ? 1 : 0;
  }
  EXPECT_GT(in_columns, 100u);
}

// Rows have positions among them; the last of four meshes has no row with other samples.
TEST_P(FamilyOnMeshes, DividesPositionsOverRows) {
  Lowering lowering = lowering_of_one_group();
  for (int i = 0; i < 16; ++i) {
    const std::array<std::size_t, 4> devices = {8, 8, 6, 4};
    Strategy strategy;
    strategy.groups.push_back(mesh_on(0, devices[static_cast<std::size_t>(i % 4)],
                                      {.tensor = i % 2 == 1 ? 2 : 1,
                                       .context = i % 4 == 2 ? 3 : 2,
                                       .states = all_in_parts(i / 4 % 4)}));
    strategy.micro_batches.count = (i + i / 4) % 2 == 0 ? 1 : 2;
    ranks_of(lowering, strategy);
  }
}

// On two stages, whose rows send each other what they have, in slices where all columns need it.
TEST_P(FamilyOnMeshes, PassesFromStageToStage) {
  std::vector<std::int32_t> stage_of(graph->op_count(), 0);
  for (const OpId id : graph->ops().ids()) {
    const Op& op = graph->op(id);
    const OpId forward = op.forward.valid() ? op.forward : id;
    stage_of[id.index()] = op.phase == Phase::Update
                               ? stage_of[graph->tensor(op.inputs[1]).producer.index()]
                               : forward.index() > graph->op_count() / 5;
  }
  Lowering lowering = lowering_of(stage_of);
  for (int i = 0; i < 8; ++i) {
    Strategy strategy;
    for (const std::size_t first : {0, 4})
      strategy.groups.push_back(
          mesh_on(first, 4, {.tensor = i % 2 == 0 ? 2 : 1, .context = i % 4 > 1 ? 2 : 1}));
    strategy.micro_batches.count = i < 4 ? 1 : 2;
    ranks_of(lowering, strategy);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FamilyOnMeshes, testing::ValuesIn(family_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strato::test
