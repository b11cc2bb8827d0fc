// Collectives inside a row of a mesh have a stream of their own: they do not queue behind
// gradients. Closed forms, on links that cost nothing.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/train/training_graph.h"
#include "core/program/lower/verify.h"
#include "core/program/value/collective.h"
#include "core/sim/explain/dump.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/sim/hand_made.h"

namespace strato {
namespace {

constexpr Nanos kCollective(1000);

// Every collective takes as long, all else next to nothing, and no two share a link. Updates of
// whole weights would take long: it pays to divide them.
class IdealCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId, GpuTypeId, std::int64_t) const override { return Nanos(1); }
  Nanos local_move(GpuTypeId, Bytes moved) const override { return Nanos(100 * moved.value); }
  CollectiveCost collective(Collective, std::span<const DeviceId>, Bytes) const override {
    CollectiveCost cost;
    cost.duration = kCollective;
    return cost;
  }
};

// Blocks of two products with a residual connection.
Graph blocks(int count) {
  ModelKit kit(4);
  TensorId x = kit.input("x", {4, 8});
  for (int block = 0; block < count; ++block) {
    const std::string name = "w" + std::to_string(block);
    const TensorId inner =
        kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name + "up", {8, 32})})});
    x = kit.op("Add", {x, kit.op("MatMul", {inner, kit.weight(name + "down", {32, 8})})});
  }
  return make_training_graph(kit.build(), Optimizer::Sgd);
}

class TensorStream : public testing::Test {
 protected:
  // Two rows of two columns.
  std::shared_ptr<const Program> on_mesh(int count) const {
    const auto graph = std::make_shared<const Graph>(blocks(count));
    const auto cluster = toy::cluster(2, 2);
    const auto grouping =
        std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                         std::vector<Nanos>(graph->op_count(), Nanos(1)));
    Strategy strategy;
    strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
    strategy.groups.front()->roles.tensor = 2;
    LowerOptions options;
    options.verify = true;
    return std::make_shared<const Program>(
        Lowering(graph, grouping, cluster, std::make_shared<IdealCosts>(graph, cluster))
            .lower(strategy, options));
  }
  static std::vector<TaskId> on(const Program& program, Stream stream) {
    std::vector<TaskId> tasks;
    for (const TaskId id : program.tasks.ids())
      if (collective_of(program.tasks[id].kind) && program.stream_of(id) == stream)
        tasks.push_back(id);
    return tasks;
  }
};

// Forward, a row waits for an AllReduce a block. Behind the last block's, each column reduces the
// gradients of two weights a block, one after another; what rows exchange backward, an AllReduce a
// block but the first, goes on at the same time.
TEST_F(TensorStream, RowsDoNotWaitForGradients) {
  for (const int count : {1, 2, 3}) {
    SCOPED_TRACE(count);
    const auto program = on_mesh(count);
    const auto in_rows = on(*program, Stream::TensorCommunication);
    const auto gradients = on(*program, Stream::Communication);
    EXPECT_EQ(std::ssize(in_rows), 2 * (2 * count - 1));  // of two rows
    EXPECT_EQ(std::ssize(gradients), 2 * 2 * count);      // of two columns
    const Timeline timeline = Simulator().simulate(program);
    Nanos first = timeline.step_time;
    for (const TaskId task : gradients) first = std::min(first, timeline.tasks[task].start);
    EXPECT_EQ(timeline.step_time, first + kCollective * (2 * count) + Nanos(1));  // an update
    EXPECT_GE(first, kCollective * count);
    EXPECT_LT(first, kCollective * count + Nanos(50));  // ops of one nanosecond
    for (const DeviceUse& use : timeline.devices)       // in these, rows' exchanges hide
      EXPECT_EQ(use.communication_busy, kCollective * (3 * count));
  }
}

TEST_F(TensorStream, DumpsNameIt) {
  const std::string dump = dump_tasks(Simulator().simulate(on_mesh(1)));
  EXPECT_NE(dump.find("\"stream\":\"tensor communication\""), std::string::npos) << dump;
  EXPECT_NE(dump.find("\"m0:0 tensor comm\",\"m0:1 tensor comm\""), std::string::npos) << dump;
  EXPECT_NE(dump.find("\"stream\":\"communication\""), std::string::npos) << dump;
}

// Puts a task on other streams of its members.
Program moved(const Program& program, TaskId task, const std::vector<Stream>& streams) {
  Program result = program;
  const auto members = members_of(program, task);
  const auto row = result.resources.mutable_row(task.index());
  for (std::size_t i = 0; i < members.size(); ++i) row[i] = program.stream(members[i], streams[i]);
  return result;
}

TEST_F(TensorStream, ACollectiveOnAnotherStreamIsRefused) {
  const auto program = on_mesh(1);
  constexpr Stream kCommunication = Stream::Communication, kInRow = Stream::TensorCommunication;
  const TaskId in_row = on(*program, kInRow).front();
  const TaskId gradient = on(*program, kCommunication).front();
  EXPECT_NO_THROW(verify(moved(*program, in_row, {kInRow, kInRow})));
  EXPECT_NO_THROW(verify(moved(*program, gradient, {kCommunication, kCommunication})));
  for (const TaskId task : {in_row, gradient}) {
    EXPECT_THROW(verify(moved(*program, task, {kInRow, kCommunication})), InvariantError);
    EXPECT_THROW(verify(moved(*program, task, {kCommunication, kInRow})), InvariantError);
    EXPECT_THROW(verify(moved(*program, task, {Stream::Compute, Stream::Compute})), InvariantError);
  }
  EXPECT_THROW(verify(moved(*program, in_row, {kCommunication, kCommunication})), InvariantError);
  EXPECT_THROW(verify(moved(*program, gradient, {kInRow, kInRow})), InvariantError);
}

// Time in which both streams are busy counts once; shared links change nothing about that.
TEST(CommunicationTime, CountsOnceWhatOverlaps) {
  toy::HandMade program;
  const auto on = [&](std::size_t device, Stream stream) {
    return program.program().stream(DeviceId(device), stream);
  };
  const auto collective = [&](Stream stream, std::int64_t duration, const toy::Extra& extra = {}) {
    return program.on_links({on(0, stream), on(1, stream)}, duration, extra);
  };
  const TaskId wait = program.compute(0, 40);
  collective(Stream::Communication, 100);                          // [0, 100)
  collective(Stream::TensorCommunication, 30, {.after = {wait}});  // [40, 70)
  collective(Stream::TensorCommunication, 50, {.after = {wait}});  // [70, 120)
  const TaskId late = program.compute(0, 200, {.after = {wait}});  // [40, 240)
  collective(Stream::TensorCommunication, 10, {.after = {late}});  // [240, 250)
  program.on_links({on(2, Stream::Communication), on(3, Stream::Communication)}, 60);
  for (const Timeline& timeline : {program.exclusive(), program.fair()}) {
    EXPECT_EQ(timeline.step_time, Nanos(250));
    for (const std::size_t d : {0u, 1u})
      EXPECT_EQ(timeline.devices[DeviceId(d)].communication_busy, Nanos(120 + 10));
    EXPECT_EQ(timeline.devices[DeviceId(2)].communication_busy, Nanos(60));
    EXPECT_EQ(timeline.devices[DeviceId(0)].compute_busy, Nanos(240));
  }
}

}  // namespace
}  // namespace strato
