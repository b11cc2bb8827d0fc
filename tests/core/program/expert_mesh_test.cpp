// Rows that have the experts of a mixture among them: what they exchange and keep, with closed
// forms, and what a program may not say.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/program/delta/delta_lower.h"
#include "core/program/lower/verify.h"
#include "tests/core/program/mixture.h"
#include "tests/core/program/moved.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

class ExpertMesh : public testing::Test {
 protected:
  ExpertMesh()
      : graph(std::make_shared<const Graph>(small_mixture())),
        cluster(toy::cluster(2, 4)),
        costs(std::make_shared<toy::Costs>(graph, cluster)),
        grouping(std::make_shared<const Grouping>(*graph,
                                                  std::vector<std::int32_t>(graph->op_count(), 0),
                                                  std::vector<Nanos>(graph->op_count(), Nanos(1)))),
        lowering(graph, grouping, cluster, costs) {}

  static Strategy on(std::size_t devices, std::int32_t tensor, std::int32_t expert) {
    Decision decision;
    for (std::size_t d = 0; d < devices; ++d) decision.devices.push_back({DeviceId(d), 1});
    decision.roles.tensor = tensor;
    decision.roles.expert = expert;
    Strategy strategy;
    strategy.groups.push_back(decision);
    return strategy;
  }
  Program lower(const Strategy& strategy) {
    LowerOptions options;
    options.verify = true;
    return lowering.lower(strategy, options);
  }
  Bytes kept(const Program& program, const char* parameter, std::size_t device) const {
    Bytes bytes;
    for (const Resident& resident : program.residents)
      if (resident.device == DeviceId(device) && graph->tensor(resident.tensor).name == parameter)
        bytes += resident.bytes;
    return bytes;
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> costs;
  std::shared_ptr<const Grouping> grouping;
  Lowering lowering;
};

// Lepikhin et al. 2020, GShard, 3.2: tokens go to their experts and come back, and so do gradients.
TEST_F(ExpertMesh, TokensAreExchangedTwiceEachWay) {
  const Program program = lower(on(4, 1, 4));
  const Moved tokens = moved(program, TaskKind::AllToAll);
  EXPECT_EQ(tokens.members.count({0, 1, 2, 3}), 4u);
  EXPECT_EQ(tokens.members.size(), 4u);
  EXPECT_EQ(tokens.bytes, kDispatched * 4);
  // Each expert is on one device, which has all of its tokens: just the scale is summed up.
  EXPECT_EQ(moved(program, TaskKind::AllReduce).bytes, Bytes(kMoeSize * 4));
  EXPECT_EQ(toy::count(program, TaskKind::Transfer), 0u);
  for (std::size_t d = 0; d < 4; ++d)
    EXPECT_EQ(kept(program, "up", d) + kept(program, "down", d), kWeights / 4);
}

TEST_F(ExpertMesh, WithoutTheRoleRowsHaveAllExperts) {
  const Program program = lower(on(4, 1, 1));
  EXPECT_EQ(toy::count(program, TaskKind::AllToAll), 0u);
  EXPECT_EQ(moved(program, TaskKind::AllReduce).bytes, kWeights + Bytes(kMoeSize * 4));
}

// Two of the four rows have all experts among them; those with the same ones sum up gradients.
TEST_F(ExpertMesh, PeersSumUpTheGradientsOfTheirExperts) {
  const Program program = lower(on(4, 1, 2));
  const Moved tokens = moved(program, TaskKind::AllToAll);
  EXPECT_EQ(tokens.members.count({0, 1}), 4u);
  EXPECT_EQ(tokens.members.count({2, 3}), 4u);
  EXPECT_EQ(tokens.bytes, kDispatched * 4);  // half of them in each of the two
  const Moved sums = moved(program, TaskKind::AllReduce);
  EXPECT_EQ(sums.members.count({0, 2}), 2u);
  EXPECT_EQ(sums.members.count({1, 3}), 2u);
  EXPECT_EQ(sums.bytes, kWeights + Bytes(kMoeSize * 4));
  EXPECT_EQ(kept(program, "up", 3), kWeights / 4);
}

// What rows have of the experts their columns divide once more.
TEST_F(ExpertMesh, ColumnsHaveExpertsOfTheirOwn) {
  const Program program = lower(on(4, 2, 2));
  for (std::size_t d = 0; d < 4; ++d)
    EXPECT_EQ(kept(program, "up", d) + kept(program, "down", d), kWeights / 4);
  const Moved tokens = moved(program, TaskKind::AllToAll);
  EXPECT_EQ(tokens.members.count({0, 2}), 4u);
  EXPECT_EQ(tokens.members.count({1, 3}), 4u);
  EXPECT_EQ(tokens.bytes, kDispatched * 4);
}

TEST_F(ExpertMesh, PeersShareUpdates) {
  Strategy strategy = on(8, 1, 4);
  strategy.groups.front()->roles.states = {1, 0, kWeights / 2};  // experts alone are so large
  const Program program = lower(strategy);
  for (std::size_t d = 0; d < 8; ++d) EXPECT_EQ(kept(program, "up", d), kWeights / 2 / 8);
  const Moved sums = moved(program, TaskKind::ReduceScatter);
  EXPECT_EQ(sums.members.count({0, 4}), 2u);
  EXPECT_EQ(sums.members.count({3, 7}), 2u);
  EXPECT_EQ(sums.bytes, kWeights);
  EXPECT_EQ(moved(program, TaskKind::AllGather).bytes, kWeights);
}

TEST_F(ExpertMesh, DeltaLoweringKnowsNoRoles) {
  EXPECT_TRUE(DeltaLowering::is_plain(on(4, 1, 1)));
  EXPECT_FALSE(DeltaLowering::is_plain(on(4, 2, 1)));
  EXPECT_FALSE(DeltaLowering::is_plain(on(4, 1, 2)));
  Strategy shared = on(4, 1, 1);
  shared.groups.front()->roles.states.stage = 1;
  EXPECT_FALSE(DeltaLowering::is_plain(shared));
}

TEST_F(ExpertMesh, ExpertsTakeTheirShareOfTheTime) {
  const Program program = lower(on(4, 1, 4));
  for (const Task& task : program.tasks) {
    const bool is_product = task.kind == TaskKind::Compute && graph->op(task.op).type == "MatMul";
    EXPECT_TRUE(!is_product || task.duration == Nanos(10 * kMoeSamples / 4));
  }
}

// A row without samples has none to exchange: all rows have all experts then.
TEST_F(ExpertMesh, RowsWithoutSamplesHaveNoExperts) {
  Strategy strategy = on(4, 1, 4);
  strategy.groups.front()->devices[0].weight = 100;
  const Program program = lower(strategy);
  EXPECT_EQ(toy::count(program, TaskKind::AllToAll), 0u);
}

// Uneven rows exchange uneven parts.
TEST_F(ExpertMesh, RowsMayHaveOtherNumbersOfSamples) {
  Strategy strategy = on(4, 1, 4);
  strategy.groups.front()->devices[0].weight = 5;
  EXPECT_EQ(toy::count(lower(strategy), TaskKind::AllToAll), 4u);
}

TEST_F(ExpertMesh, TheVerifierFollowsWhatIsExchanged) {
  const Program good = lower(on(4, 1, 4));
  const std::size_t swap = toy::find(good, "AllToAll").index();
  Program tampered = good;
  const BufferId first = tampered.writes[swap][0], second = tampered.writes[swap][1];
  std::swap(tampered.buffers[first].part, tampered.buffers[second].part);
  EXPECT_THROW(verify(tampered), InvariantError);
  tampered = good;  // a part that two have, and one that nobody has
  tampered.buffers[first].part = tampered.buffers[second].part;
  EXPECT_THROW(verify(tampered), InvariantError);
  tampered = good;  // all of it, and just samples of it
  tampered.tasks[TaskId(swap)].part = tampered.buffers[tampered.reads[swap][0]].part;
  EXPECT_THROW(verify(tampered), InvariantError);
}

}  // namespace
}  // namespace strato
