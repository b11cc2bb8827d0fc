// Replicas that keep parameters in parts (ZeRO): ReduceScatter and AllGather with closed forms.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/program/lower/verify.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

constexpr std::int64_t kBatch = 8, kRows = 12, kColumns = 8;
constexpr std::int64_t kBytes = 4 * kRows * kColumns;  // of w, its gradient, each of its moments

// y = x w with Adam: ops m, seed, gw, u. `watched`: another op reads the gradient as well.
std::shared_ptr<const Graph> product_with_adam(bool watched) {
  toy::Model model(kBatch);
  const TensorId x = model.input("x", kRows);
  const auto kept = [&](const std::string& name) {
    const TensorId id = model.parameter(name, kRows * kColumns);
    model.builder().tensor(id).shape = {kRows, kColumns};
    return id;
  };
  const TensorId w = kept("w"), mean = kept("mean"), square = kept("square");
  for (const TensorId state : {mean, square})
    model.builder().tensor(state).role = TensorRole::OptimizerState;
  const TensorId y = model.activation("m:0", {kBatch, kColumns});
  const OpId forward = model.op("m", "MatMul", {x, w}, y);
  const TensorId dw = model.gradient("gw", forward, 1, model.seed("seed", y), {x});
  for (std::size_t i = 0; i <= forward.index() + 2; ++i)
    if (model.builder().op(OpId(i)).name == "gw") model.builder().op(OpId(i)).type = "MatMulGradB";
  if (watched) {
    const TensorId norm = model.activation("norm:0", {1});
    const OpId op = model.op("norm", "ToyNorm", {dw}, norm);
    model.builder().op(op).phase = Phase::Backward;
  }
  const OpId update = model.update("u", w, dw, {mean, square});
  model.builder().op(update).type = "ApplyAdam";
  return std::move(model).build();
}

class Scatter : public testing::Test {
 protected:
  static constexpr int kDevices = 4;
  explicit Scatter(bool watched = false)
      : bench(product_with_adam(watched), toy::cluster(1, kDevices + 1)) {}

  Strategy sharded(std::vector<int> weights = {1, 1, 1, 1}, int axis = 0) const {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
    OpSplit split{bench.graph->find_op("u"), axis, {}};
    for (std::size_t d = 0; d < weights.size(); ++d)
      if (weights[d] > 0) split.parts.push_back({DeviceId(d), weights[d]});
    strategy.splits = {split};
    return strategy;
  }
  static Bytes resident(const Program& program, int device, const std::string& tensor) {
    for (const Resident& at : program.residents)
      if (at.device.value() == device && program.graph->tensor(at.tensor).name == tensor)
        return at.bytes;
    return Bytes(0);
  }
  static void expect_collective(const Program& program, TaskKind kind, int axis,
                                std::int32_t extent) {
    ASSERT_EQ(count(program, kind), 1u);
    for (const Task& task : program.tasks) {
      if (task.kind != kind) continue;
      EXPECT_EQ(task.bytes, Bytes(kBytes));
      EXPECT_EQ(task.duration, Nanos(100 + kBytes));
      EXPECT_EQ(program.range_of(task), (AxisRange{static_cast<std::int8_t>(axis), 0, extent}));
    }
  }
  static std::vector<Bytes> sizes(const Program& program, std::span<const BufferId> buffers) {
    std::vector<Bytes> result;
    for (const BufferId buffer : buffers) result.push_back(program.buffers[buffer].bytes);
    return result;
  }

  Bench bench;
};

TEST_F(Scatter, OneCollectiveADirection) {
  for (const int axis : {0, 1}) {
    const auto program = bench.lower(sharded({1, 1, 1, 1}, axis));
    const auto extent = static_cast<std::int32_t>(axis == 0 ? kRows : kColumns);
    expect_collective(*program, TaskKind::ReduceScatter, axis, extent);
    expect_collective(*program, TaskKind::AllGather, axis, extent);
    for (const TaskKind none : {TaskKind::AllReduce, TaskKind::Split, TaskKind::Concat,
                                TaskKind::Sum, TaskKind::Transfer})
      EXPECT_EQ(count(*program, none), 0u);
    const std::size_t scatter = find(*program, "ReduceScatter").index();
    EXPECT_EQ(sizes(*program, program->reads[scatter]), std::vector(kDevices, Bytes(kBytes)));
    EXPECT_EQ(sizes(*program, program->writes[scatter]),
              std::vector(kDevices, Bytes(kBytes / kDevices)));
    const std::size_t gather = find(*program, "AllGather").index();
    EXPECT_EQ(sizes(*program, program->writes[gather]), std::vector(kDevices, Bytes(kBytes)));
    // AllGather w; m, seed and gw of two samples each; ReduceScatter; a quarter of u.
    EXPECT_EQ(bench.run(sharded()).step_time, Nanos(100 + kBytes + 3 * 2 * 10 + 100 + kBytes + 2));
  }
}

TEST_F(Scatter, EveryDeviceKeepsItsPartOfParameterAndState) {
  const auto program = bench.lower(sharded());
  for (int d = 0; d < kDevices; ++d)
    for (const char* kept : {"w", "mean", "square"})
      EXPECT_EQ(resident(*program, d, kept), Bytes(kBytes / kDevices)) << kept << d;
  EXPECT_EQ(resident(*program, kDevices, "w"), Bytes(0));
  // Beside that: x, the whole parameter, and at most its gradient, seed and a slice of the sum.
  const Timeline timeline = bench.run(sharded());
  const std::int64_t seed = 4 * 2 * kColumns, x = 4 * 2 * kRows;
  for (std::size_t d = 0; d < kDevices; ++d)
    EXPECT_LE(timeline.devices[DeviceId(d)].peak,
              Bytes(3 * kBytes / kDevices + x + kBytes + 2 * seed + kBytes + kBytes / kDevices));
}

TEST_F(Scatter, UnequalPartsAreScatteredByTheirCuts) {
  const auto program = bench.lower(sharded({1, 2, 2, 1}));
  const std::size_t scatter = find(*program, "ReduceScatter").index();
  EXPECT_EQ(sizes(*program, program->writes[scatter]),
            (std::vector{Bytes(2 * 32), Bytes(4 * 32), Bytes(4 * 32), Bytes(2 * 32)}));
  EXPECT_EQ(resident(*program, 1, "square"), Bytes(4 * 32));
}

// The update overwrites what the AllGather reads.
TEST_F(Scatter, AnUpdateWaitsForTheGather) {
  const auto program = bench.lower(sharded());
  const TaskId gather = find(*program, "AllGather"), scatter = find(*program, "ReduceScatter");
  for (int d = 0; d < kDevices; ++d) {
    const TaskId update = find(*program, "u @m0:" + std::to_string(d));
    const auto waits = program->dependencies[update.index()];
    EXPECT_NE(std::find(waits.begin(), waits.end(), gather), waits.end());
    EXPECT_NE(std::find(waits.begin(), waits.end(), scatter), waits.end());
  }
}

TEST_F(Scatter, AReplicaWithoutAPartHasItsOwnWay) {
  const auto program = bench.lower(sharded({1, 1, 1, 0}));
  EXPECT_EQ(count(*program, TaskKind::ReduceScatter), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 0u);
  EXPECT_EQ(count(*program, TaskKind::Sum), 1u);
}

TEST_F(Scatter, APartWithoutAReplicaHasItsOwnWay) {
  const auto program = bench.lower(sharded({1, 1, 1, 1, 1}));
  EXPECT_EQ(count(*program, TaskKind::ReduceScatter), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 0u);
}

// Fusion leaves such gradients alone: there is no whole of them.
TEST_F(Scatter, BucketsHaveNoneOfIt) {
  Strategy strategy = sharded();
  strategy.bucket = Bytes(1 << 20);
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::ReduceScatter), 1u);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 0u);
}

class ScatterWatched : public Scatter {
 protected:
  ScatterWatched() : Scatter(true) {}
};

// Another reader needs the whole sum.
TEST_F(ScatterWatched, AWholeReaderHasAnAllReduce) {
  const auto program = bench.lower(sharded());
  EXPECT_EQ(count(*program, TaskKind::ReduceScatter), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 1u);
  EXPECT_EQ(count(*program, TaskKind::Split), 4u);
}

// On a ring of n equal links of b bytes/s: (n - 1) / n of the bytes a collective, each way.
TEST_F(Scatter, BothTogetherMoveWhatAnAllReduceMoves) {
  const auto cost = make_analytic_cost_model(bench.graph, bench.cluster);
  const std::vector<DeviceId> members = {DeviceId(0), DeviceId(1), DeviceId(2), DeviceId(3)};
  const Bytes large(400'000'000);
  const auto time = [&](Collective kind) {
    return static_cast<double>(cost->collective(kind, members, large).duration.value);
  };
  EXPECT_NEAR(time(Collective::ReduceScatter) + time(Collective::AllGather),
              time(Collective::AllReduce), 0.01 * time(Collective::AllReduce));
}

// The verifier sees what is wrong with such a task.
TEST_F(Scatter, ForgedProgramsAreFound) {
  const Program good = *bench.lower(sharded());
  const TaskId scatter = find(good, "ReduceScatter"), gather = find(good, "AllGather");
  EXPECT_NO_THROW(verify(good));
  for (const TaskId task : {scatter, gather}) {
    Program bad = good;
    bad.tasks[task].bytes += Bytes(1);
    EXPECT_THROW(verify(bad), InvariantError);
    bad = good;
    bad.buffers[good.writes[task.index()][1]].bytes = Bytes(1);
    EXPECT_THROW(verify(bad), InvariantError);
  }
  Program bad = good;
  std::erase_if(bad.residents, [&](const Resident& at) {
    return at.device == DeviceId(2) && good.graph->tensor(at.tensor).name == "w";
  });
  EXPECT_THROW(verify(bad), InvariantError);
}

}  // namespace
}  // namespace strato
