// Variables with an entry of their own: closed forms, counts of tasks and bytes, memory.
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/train/training_graph.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"
#include "core/program/value/collective.h"
#include "core/strategy/value/variable_check.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

SyncPart server(int device, std::vector<DeviceId> stations = {},
                Encoding encoding = Encoding::None) {
  return {Synchroniser::Ps, encoding, DeviceId(device), std::move(stations), -1, {}};
}
SyncPart reduction(int group = -1, std::vector<DeviceId> sequence = {},
                   Encoding encoding = Encoding::None) {
  return {Synchroniser::AllReduce, encoding, {}, {}, group, std::move(sequence)};
}

// Data parallel on all four devices of two machines: the 3 ops of the chain take 10 ns each, then
// the gradient of 32 bytes is there. A transfer takes 1 ns a byte, a local move of n bytes n/16 ns,
// an update 7 ns, an AllReduce of n bytes 100 + n ns.
class OneLayer : public testing::Test {
 protected:
  Timeline run(std::vector<SyncPart> parts, Mode mode = Mode::ReplicateAllReduce) {
    Strategy strategy = bench.everywhere(mode, {0, 1, 2, 3});
    if (!parts.empty()) strategy.variables = {{bench.graph->find_op("u1"), 0, std::move(parts)}};
    return bench.run(strategy);
  }
  std::int64_t resident(const Timeline& timeline, const std::string& tensor, int device) const {
    std::int64_t bytes = 0;
    for (const Resident& of : timeline.program->residents)
      if (of.device == DeviceId(device) && bench.graph->tensor(of.tensor).name == tensor)
        bytes += of.bytes.value;
    return bytes;
  }
  static Bytes sent(const Timeline& timeline) {
    Bytes bytes;
    for (const Task& task : timeline.program->tasks)
      if (task.kind == TaskKind::Transfer) bytes += task.bytes;
    return bytes;
  }
  Bench bench{toy::training_chain(4, 1, 8), toy::cluster(2, 2)};
};

TEST_F(OneLayer, OnePartIsWhatTheGroupsModesDo) {
  const Timeline reduced = run({});
  EXPECT_EQ(reduced.step_time, Nanos(30 + 132 + 7));
  for (const Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs})
    EXPECT_EQ(run({reduction()}, mode).step_time, reduced.step_time);
  const Timeline served = run({}, Mode::ReplicatePs);
  // Three terms arrive over one port, are summed up with the server's, and three values leave.
  EXPECT_EQ(served.step_time, Nanos(30 + 3 * 32 + 5 * 32 / 16 + 7 + 3 * 32));
  for (const Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs}) {
    const Timeline own = run({server(0)}, mode);
    EXPECT_EQ(own.step_time, served.step_time);
    EXPECT_EQ(own.program->tasks.size(), served.program->tasks.size());
  }
}

TEST_F(OneLayer, TwoLevelsCrossTheNetworkOnce) {
  // Machine 1: 3 sends to 2, which sums up two terms and sends on; in machine 0 1 sends to 0. The
  // sum of three terms is 4 x 32 bytes moved. Back the same way.
  const Timeline two = run({server(0, {DeviceId(2)})});
  EXPECT_EQ(two.step_time, Nanos(30 + (32 + 3 * 32 / 16 + 32) + 4 * 32 / 16 + 7 + 2 * 32));
  EXPECT_EQ(count(*two.program, TaskKind::Sum), 2u);
  EXPECT_EQ(count(*two.program, TaskKind::Transfer), 6u);
  // In the server's machine the server is the station.
  const Timeline same = run({server(0, {DeviceId(1), DeviceId(2)})});
  EXPECT_EQ(same.program->tasks.size(), two.program->tasks.size());
  EXPECT_EQ(same.step_time, two.step_time);
}

TEST_F(OneLayer, AStationAndAServerNeedBeNoReplicas) {
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 3});
  strategy.variables = {{bench.graph->find_op("u1"), 0, {server(1, {DeviceId(2)})}}};
  const Timeline timeline = bench.run(strategy);
  // 3 sends to 2, which has nothing to sum up; the value comes back the same way.
  EXPECT_EQ(count(*timeline.program, TaskKind::Transfer), 6u);
  EXPECT_EQ(count(*timeline.program, TaskKind::Sum), 1u);
  EXPECT_EQ(count(*timeline.program, TaskKind::Update), 1u);
  EXPECT_EQ(timeline.step_time, Nanos(60 + 64 + 3 * 32 / 16 + 7 + 64));
  EXPECT_EQ(resident(timeline, "w1", 1), 32);
  EXPECT_EQ(resident(timeline, "w1", 0), 32);
  EXPECT_EQ(resident(timeline, "w1", 2), 0) << "it only passes through";
}

TEST_F(OneLayer, PartsGoTheirOwnWays) {
  // 8 elements in 3 parts: 3, 3 and 2. All ways are free for each part.
  const Timeline parts = run({server(0), server(3), reduction()});
  const Program& program = *parts.program;
  EXPECT_EQ(count(program, TaskKind::Split), 12u);
  EXPECT_EQ(count(program, TaskKind::Update), 6u);
  EXPECT_EQ(count(program, TaskKind::Sum), 2u);
  EXPECT_EQ(sent(parts), Bytes(2 * 6 * 12));
  const TaskId reduce = find(program, "AllReduce gw1:0 axis 0 [6,8)");
  ASSERT_TRUE(reduce.valid());
  EXPECT_EQ(program.tasks[reduce].bytes, Bytes(8));
  EXPECT_TRUE(find(program, "u1 @m0:0 axis 0 [0,3)").valid());
  EXPECT_TRUE(find(program, "u1 @m1:1 axis 0 [3,6)").valid());
  for (const char* device : {"m0:0", "m0:1", "m1:0", "m1:1"})
    EXPECT_TRUE(find(program, std::string("u1 @") + device + " axis 0 [6,8)").valid()) << device;
  for (int device = 0; device < 4; ++device) EXPECT_EQ(resident(parts, "w1", device), 32);
}

TEST_F(OneLayer, AServerThatIsNoReplicaKeepsItsSlices) {
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.variables = {
      {bench.graph->find_op("u1"), 0, {server(2), server(3), server(2), reduction()}}};
  const Timeline timeline = bench.run(strategy);
  EXPECT_EQ(resident(timeline, "w1", 2), 16);
  EXPECT_EQ(resident(timeline, "w1", 3), 8);
  EXPECT_EQ(resident(timeline, "w1", 0), 32);
}

TEST_F(OneLayer, HalfTakesHalf) {
  const Timeline half = run({reduction(-1, {}, Encoding::Half)});
  // Encoding and decoding move 32 + 16 bytes each.
  EXPECT_EQ(half.step_time, Nanos(30 + 3 + 100 + 16 + 3 + 7));
  const TaskId reduce = find(*half.program, "AllReduce");
  EXPECT_EQ(half.program->tasks[reduce].encoding, Encoding::Half);
  EXPECT_EQ(half.program->tasks[reduce].bytes, Bytes(16));
  const Timeline served = run({server(0, {}, Encoding::Half)});
  // Values come back as they are.
  EXPECT_EQ(served.step_time, Nanos(30 + 3 + 3 * 16 + (3 * 16 + 2 * 32) / 16 + 7 + 3 * 32));
}

TEST_F(OneLayer, TopKIsGathered) {
  const Timeline top = run({reduction(-1, {}, Encoding::TopK)});
  // One element with its place: 12 bytes of each.
  EXPECT_EQ(top.step_time, Nanos(30 + 44 / 16 + 100 + 48 + (48 + 32) / 16 + 7));
  EXPECT_EQ(count(*top.program, TaskKind::AllGather), 1u);
  EXPECT_EQ(count(*top.program, TaskKind::Sum), 4u);
}

TEST_F(OneLayer, AnEntryThatCannotMatterChangesNothing) {
  for (const Mode mode : {Mode::Duplicate, Mode::ModelParallel}) {
    Strategy strategy = bench.everywhere(mode, {0, 1});
    const Timeline without = bench.run(strategy);
    strategy.variables = {{bench.graph->find_op("u1"), 0, {server(3), reduction()}}};
    EXPECT_EQ(bench.run(strategy).step_time, without.step_time);
  }
  Strategy alone = bench.everywhere(Mode::ReplicateAllReduce, {1});
  const Timeline without = bench.run(alone);
  alone.variables = {{bench.graph->find_op("u1"), 0, {server(3)}}};
  EXPECT_EQ(bench.run(alone).step_time, without.step_time);
}

TEST_F(OneLayer, ABadEntryIsToldBeforeItIsLowered) {
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.variables = {{bench.graph->find_op("u1"), 0, std::vector<SyncPart>(9, reduction())}};
  EXPECT_THROW(bench.lower(strategy), InputError);
  strategy.variables = {{bench.graph->find_op("u1"), 0, {server(4)}}};
  EXPECT_THROW(bench.lower(strategy), InputError);
  strategy.variables = {{bench.graph->find_op("u1"), 0, {reduction(-1, {DeviceId(0)})}}};
  EXPECT_THROW(bench.lower(strategy), InputError);
  strategy.groups.assign(strategy.groups.size(), std::nullopt);  // all four are replicas then
  strategy.variables = {{bench.graph->find_op("u1"), 0, {reduction(-1, {DeviceId(0)})}}};
  EXPECT_THROW(bench.lower(strategy), InputError);
}

TEST_F(OneLayer, NothingIsFolded) {
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  bench.lowering->lower(strategy, options);
  EXPECT_GT(fold.left_out, 0u);
  strategy.variables = {{bench.graph->find_op("u1"), 0, {server(3)}}};
  bench.lowering->lower(strategy, options);
  EXPECT_EQ(fold.left_out, 0u);
  strategy.variables.clear();
  bench.lowering->lower(strategy, options);
  EXPECT_GT(fold.left_out, 0u);
}

// A ring 0 1 2 3 crosses the network twice, each way once; 0 2 1 3 four times, each way twice.
TEST_F(OneLayer, TheOrderOfARingMatters) {
  const auto ids = [](std::initializer_list<int> numbers) {
    std::vector<DeviceId> devices;
    for (const int number : numbers) devices.push_back(DeviceId(number));
    return devices;
  };
  const auto cost = make_analytic_cost_model(bench.graph, bench.cluster);
  const auto ring = [&](std::initializer_list<int> sequence) {
    return ordered_ring(*bench.cluster, *cost, Collective::AllReduce, ids(sequence),
                        Bytes(std::int64_t{1} << 30));
  };
  const Nanos near = ring({0, 1, 2, 3}).duration, far = ring({0, 2, 1, 3}).duration;
  EXPECT_NEAR(far / near, 12 / (12.5 / 2), 0.001);  // a port's bandwidth, half of the network's
  EXPECT_EQ(ring({2, 3, 0, 1}).duration, near);
  EXPECT_EQ(ring({0, 2, 1, 3}).links.size(), ring({0, 1, 2, 3}).links.size());
  // Of the toy costs, which know bytes alone: 2 (n - 1) steps of a quarter each, over ports that
  // are crossed once or twice.
  EXPECT_EQ(run({reduction(-1, ids({0, 1, 2, 3}))}).step_time, Nanos(30 + 6 * 8 + 7));
  EXPECT_EQ(run({reduction(-1, ids({0, 2, 1, 3}))}).step_time, Nanos(30 + 6 * 16 + 7));
}

class ThreeVariables : public testing::Test {
 protected:
  OpId update(int layer) const { return bench.graph->find_op("u" + std::to_string(layer)); }
  Timeline run(std::vector<VariableSync> variables, std::int64_t bucket = 0) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
    strategy.variables = std::move(variables);
    strategy.bucket = Bytes(bucket);
    return bench.run(strategy);
  }
  Bench bench{toy::training_chain(4, 3, 8), toy::cluster(1, 2)};
};

// As buckets: see fusion_test.cpp.
TEST_F(ThreeVariables, AMergeGroupIsOneMessage) {
  const Timeline all = run({{update(1), 0, {reduction(5)}},
                            {update(2), 0, {reduction(5)}},
                            {update(3), 0, {reduction(5)}}});
  EXPECT_EQ(count(*all.program, TaskKind::AllReduce), 1u);
  EXPECT_EQ(all.step_time, Nanos(180 + 100 + 96 + 3 * 7));
  EXPECT_TRUE(find(*all.program, "AllReduce 3 gradients (96 B)").valid());
  const Timeline two = run({{update(2), 0, {reduction(5)}}, {update(3), 0, {reduction(5)}}});
  EXPECT_EQ(two.step_time, Nanos(140 + 164 + 132 + 7));
}

TEST_F(ThreeVariables, PartsAreMergedToo) {
  const Timeline parts = run({{update(1), 0, {reduction(0), reduction(1)}},
                              {update(2), 0, {reduction(1), reduction(0), reduction(1)}}});
  EXPECT_EQ(count(*parts.program, TaskKind::AllReduce), 3u);
  EXPECT_TRUE(find(*parts.program, "AllReduce 2 gradients (28 B)").valid());  // 4 + 3 elements
  EXPECT_TRUE(find(*parts.program, "AllReduce 3 gradients (36 B)").valid());  // 4 + 3 + 2
}

TEST_F(ThreeVariables, BucketsTakeWhatHasNoWayOfItsOwn) {
  const Timeline some = run({{update(1), 0, {reduction()}}, {update(2), 0, {server(0)}}}, 1 << 20);
  EXPECT_EQ(count(*some.program, TaskKind::AllReduce), 1u);
  EXPECT_TRUE(find(*some.program, "AllReduce 2 gradients (64 B)").valid());
  EXPECT_EQ(count(*some.program, TaskKind::Transfer), 2u);
}

TEST_F(ThreeVariables, MessagesHaveThePriorityOfTheirUpdate) {
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.variables = {{update(1), 0, {server(0), reduction(2)}}, {update(3), 0, {reduction(2)}}};
  for (std::size_t i = 0; i < bench.graph->op_count(); ++i)
    strategy.priorities.push_back(static_cast<std::int32_t>(100 - i));
  const auto program = bench.lower(strategy);
  const auto priority = [&](OpId op) { return strategy.priorities[op.index()]; };
  for (const Task& task : program->tasks) {
    if (program->cuts_of(task).empty()) continue;
    EXPECT_EQ(task.priority, priority(update(1)));
  }
  const TaskId merged = find(*program, "AllReduce 2 gradients");
  EXPECT_EQ(program->tasks[merged].priority, std::min(priority(update(1)), priority(update(3))));
}

// A table of 1000 rows of 4 floats, of which each of 8 samples looks up 3.
class Table : public testing::Test {
 protected:
  Table() {
    ModelKit kit(8);
    const TensorId ids = kit.input("ids", {8, 3}, DataType::I64);
    kit.op("Gather", {kit.weight("w", {1000, 4}), ids});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
    bench = std::make_unique<Bench>(graph, toy::cluster(2, 2));
    for (std::size_t i = 0; i < graph->op_count(); ++i)
      if (graph->op(OpId(i)).phase == Phase::Update) update = OpId(i);
  }
  std::shared_ptr<const Program> lower(std::vector<SyncPart> parts, int axis = 0,
                                       std::vector<std::int32_t> partition = {}) {
    Strategy strategy = bench->everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
    strategy.variables = {{update, axis, std::move(parts), 0, std::move(partition)}};
    return bench->lower(strategy);
  }
  std::vector<std::int64_t> bytes(const Program& program, TaskKind kind, Encoding encoding) const {
    std::vector<std::int64_t> all;
    for (const Task& task : program.tasks)
      if (task.kind == kind && task.encoding == encoding) all.push_back(task.bytes.value);
    return all;
  }
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Bench> bench;
  OpId update;
};

constexpr std::int64_t kRow = 4 * 4 + 8;
using Sizes = std::vector<std::int64_t>;

TEST_F(Table, SparseRowsAreGatheredOrServed) {
  const SyncPart sparse = reduction(-1, {}, Encoding::SparseRows);
  const auto gathered = lower({sparse});
  EXPECT_EQ(bytes(*gathered, TaskKind::AllGather, Encoding::SparseRows), Sizes{4 * 6 * kRow});
  EXPECT_EQ(count(*gathered, TaskKind::Sum), 4u);
  EXPECT_EQ(count(*gathered, TaskKind::Update), 4u);
  const auto served = lower({server(0, {DeviceId(2)}, Encoding::SparseRows)});
  // 1 to 0, 3 to its station 2, which sends the rows of both on.
  EXPECT_EQ(bytes(*served, TaskKind::Transfer, Encoding::SparseRows),
            (Sizes{6 * kRow, 6 * kRow, 12 * kRow}));
  EXPECT_EQ(bytes(*served, TaskKind::Transfer, Encoding::None), Sizes(3, 16000));
}

// The same as the ops by hand.
class Products : public testing::Test {
 protected:
  Products() {
    ModelKit kit(8);
    const TensorId x = kit.input("x", {8, 6});
    const TensorId y = kit.op("Gemm", {x, kit.weight("w", {6, 20}), kit.weight("b", {20})});
    kit.op("MatMul", {kit.op("Relu", {y}), kit.weight("v", {20, 10})});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
    bench = std::make_unique<Bench>(graph, toy::cluster(2, 2));
    for (std::size_t i = 0; i < graph->op_count(); ++i) {
      const TensorId of = parameter_of(*graph, OpId(i));
      if (of.valid()) updates[graph->tensor(of).name] = OpId(i);
    }
  }
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Bench> bench;
  std::map<std::string, OpId> updates;
};

TEST_F(Products, FactorsAreBroadcastAsDuplicatedOps) {
  const SyncPart factors = reduction(-1, {}, Encoding::SufficientFactors);
  for (const Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs}) {
    Strategy strategy = bench->everywhere(mode, {0, 1, 3});
    const auto before = bench->lower(strategy);
    Strategy by_hand = strategy;
    by_hand.duplicated = {gradient_products(*graph, updates["v"]).front(), updates["v"]};
    std::ranges::sort(by_hand.duplicated);
    strategy.variables = {{updates["v"], 0, {factors}}};
    const auto found = bench->lower(strategy), expected = bench->lower(by_hand);
    ASSERT_EQ(found->tasks.size(), expected->tasks.size());
    for (std::size_t i = 0; i < found->tasks.size(); ++i) {
      EXPECT_EQ(found->task_name(TaskId(i)), expected->task_name(TaskId(i)));
      EXPECT_EQ(found->tasks[TaskId(i)].bytes, expected->tasks[TaskId(i)].bytes);
    }
    // What travels: the factors, 8 samples of 20 and 10 floats, instead of 20 x 10.
    Bytes gathered;
    for (const Task& task : found->tasks)
      if (task.kind == TaskKind::AllGather) gathered += task.bytes;
    EXPECT_EQ(gathered, encoded_bytes(*graph, updates["v"], Encoding::SufficientFactors, {}, 8));
    EXPECT_EQ(gathered, Bytes(8 * 30 * 4));
    EXPECT_EQ(count(*found, TaskKind::Update), mode == Mode::ReplicatePs ? 3u + 2u : 9u);
    EXPECT_EQ(count(*bench->lower(bench->everywhere(mode, {0, 1, 3})), TaskKind::Transfer),
              count(*before, TaskKind::Transfer))
        << "nothing of it stays";
  }
}

TEST_F(Products, FactorsOfWhatIsNotReplicatedChangeNothing) {
  const SyncPart factors = reduction(-1, {}, Encoding::SufficientFactors);
  for (const Mode mode : {Mode::Duplicate, Mode::ModelParallel}) {
    Strategy strategy = bench->everywhere(mode, {0, 1});
    const auto without = bench->lower(strategy);
    strategy.variables = {{updates["v"], 0, {factors}}, {updates["w"], 0, {factors}}};
    std::ranges::sort(strategy.variables, {}, &VariableSync::update);
    EXPECT_EQ(bench->lower(strategy)->tasks.size(), without->tasks.size());
  }
  Strategy wrong = bench->everywhere(Mode::ReplicateAllReduce, {0, 1});
  wrong.variables = {{updates["b"], 0, {factors}}};
  EXPECT_THROW(bench->lower(wrong), InputError);
}

TEST_F(Products, LowRanksAreGatheredOrServed) {
  const auto bytes = [](const Program& program, TaskKind kind) {
    std::vector<std::int64_t> all;
    for (const Task& task : program.tasks)
      if (task.kind == kind && task.encoding == Encoding::LowRank) all.push_back(task.bytes.value);
    return all;
  };
  constexpr std::int64_t kMessage = 4 * (20 + 10) * 4;
  Strategy strategy = bench->everywhere(Mode::ReplicateAllReduce, {0, 1, 3});
  strategy.variables = {{updates["v"], 0, {reduction(-1, {}, Encoding::LowRank)}}};
  EXPECT_EQ(bytes(*bench->lower(strategy), TaskKind::AllGather),
            std::vector<std::int64_t>{3 * kMessage});
  strategy.variables = {{updates["v"], 0, {server(1, {}, Encoding::LowRank)}}};
  EXPECT_EQ(bytes(*bench->lower(strategy), TaskKind::Transfer),
            (std::vector<std::int64_t>(2, kMessage)));
  // It is multiplied four times before.
  const auto encodings = bytes(*bench->lower(strategy), TaskKind::Split);
  EXPECT_EQ(encodings, (std::vector<std::int64_t>(2, 4 * 20 * 10 * 4 + kMessage)));
  // Halves of the columns: 5 of 20 rows.
  strategy.variables = {
      {updates["v"], 1, {server(1, {}, Encoding::LowRank), server(0, {}, Encoding::LowRank)}}};
  EXPECT_EQ(bytes(*bench->lower(strategy), TaskKind::Transfer),
            (std::vector<std::int64_t>(4, 4 * (20 + 5) * 4)));
}

// Of 1,000 rows and 4 columns: 500 rows and 2 columns each.
TEST_F(Table, PartsAlongTwoAxesGoTheirOwnWays) {
  const auto program = lower({server(3), reduction(), server(3), server(0)}, 0, {2, 2});
  std::map<std::string, int> updates;
  for (std::size_t i = 0; i < program->tasks.size(); ++i) {
    const Task& task = program->tasks[TaskId(i)];
    if (task.kind == TaskKind::Update) ++updates[program->task_name(TaskId(i))];
    if (is_communication(task.kind)) {
      EXPECT_EQ(task.bytes, Bytes(500 * 2 * 4));
    }
  }
  const std::string name = graph->op(update).name;
  EXPECT_EQ(updates.size(), 3u + 4u);
  EXPECT_EQ(updates[name + " @m1:1 axes 0,1 [0,500)x[0,2)"], 1);
  EXPECT_EQ(updates[name + " @m1:1 axes 0,1 [500,1000)x[0,2)"], 1);
  EXPECT_EQ(updates[name + " @m0:0 axes 0,1 [500,1000)x[2,4)"], 1);
  EXPECT_EQ(updates[name + " @m0:1 axes 0,1 [0,500)x[2,4)"], 1);
  std::map<int, std::int64_t> state;
  for (const Resident& resident : program->residents)
    if (graph->tensor(resident.tensor).role == TensorRole::OptimizerState)
      state[resident.device.value()] += resident.bytes.value;
  EXPECT_EQ(state, (std::map<int, std::int64_t>{
                       {0, 4 * 4000}, {1, 2 * 4000}, {2, 2 * 4000}, {3, 6 * 4000}}));
}

TEST_F(Table, RanksWithPartsAlongTwoAxesAreReadAsWritten) {
  const auto program = lower({server(3), reduction(), server(3), server(0)}, 0, {2, 2});
  std::vector<TaskId> order;
  for (std::size_t i = 0; i < program->tasks.size(); ++i) order.push_back(TaskId(i));
  const RankPrograms ranks = rank_programs(*program, order);
  check_termination(ranks, "table");
  std::size_t forged = 0;
  const auto refused = [&](const RankProgram& rank) {
    ++forged;
    EXPECT_THROW(read_rank_program(write_rank_program(rank), *graph, "rank"), InputError);
  };
  for (const RankProgram& rank : ranks.ranks) {
    const std::string bytes = write_rank_program(rank);
    EXPECT_EQ(write_rank_program(read_rank_program(bytes, *graph, "rank")), bytes);
    for (std::size_t i = 0; i < rank.values.size(); ++i)
      for (const AxisRange wrong : {AxisRange{2, 0, 2}, {1, 3, 9}, {1, 2, 2}, {1, -1, 2}}) {
        if (rank.values[ValueId(i)].part.cuts().empty()) continue;
        RankProgram other = rank;
        Part& part = other.values[ValueId(i)].part;
        part = part.without(1).cut(wrong);
        refused(other);
      }
    for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
      if (rank.instructions[i].kind != InstructionKind::Update) continue;
      RankProgram other = rank;
      other.instructions[i].part = other.instructions[i].part.without(1).cut({3, 0, 2});
      refused(other);
    }
  }
  EXPECT_GT(forged, 50u);
}

// The axes of a part are told in their order: a file that has one of them twice is refused.
TEST_F(Table, ARankWithAnAxisTwiceIsRefused) {
  const auto program = lower({server(3), reduction(), server(3), server(0)}, 0, {2, 2});
  std::vector<TaskId> order;
  for (std::size_t i = 0; i < program->tasks.size(); ++i) order.push_back(TaskId(i));
  const RankPrograms ranks = rank_programs(*program, order);
  constexpr std::size_t kHead = 8 + 4 + 16, kFirstValue = kHead + 4 + 4 + 4;
  // From a value's tensor: 4 bytes; its part's flags and the number of its ranges; each of these,
  // an axis and its bounds; and three figures, 6 bytes.
  std::string bytes = write_rank_program(ranks.ranks[0]);
  std::size_t at = kFirstValue, forged = 0;
  for (const Value& value : ranks.ranks[0].values) {
    const std::span<const AxisRange> ranges = value.part.ranges();
    if (ranges.size() > 1 && ++forged == 1)
      bytes[at + 4 + 2 + 9] = static_cast<char>(ranges[0].axis);
    at += 4 + 2 + ranges.size() * 9 + 6;
  }
  ASSERT_GE(forged, 1u);
  const Digest check = digest_of(bytes.substr(kHead));
  std::memcpy(bytes.data() + 12, &check.high, 8);
  std::memcpy(bytes.data() + 20, &check.low, 8);
  try {
    read_rank_program(bytes, *graph, "rank");
    FAIL() << "it is read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("out of order"), std::string::npos) << error.what();
  }
}

TEST(Parts, OfSeveralAxes) {
  const auto box = [](int begin, int end, int other, int until) {
    return Part::slice(0, begin, end).cut({2, other, until});
  };
  EXPECT_EQ(describe(box(0, 4, 8, 16)), "axes 0,2 [0,4)x[8,16)");
  EXPECT_EQ(describe(Part::partial_sum(2, 6).cut({0, 0, 4}).cut({2, 8, 16})),
            "the sum over samples [2,6) of axes 0,2 [0,4)x[8,16)");
  EXPECT_TRUE(overlap(box(0, 4, 8, 16), box(3, 5, 15, 20)));
  EXPECT_FALSE(overlap(box(0, 4, 8, 16), box(3, 5, 16, 20)));
  EXPECT_FALSE(overlap(box(0, 4, 8, 16), box(4, 5, 8, 16)));
  EXPECT_TRUE(overlap(box(0, 4, 8, 16), Part::slice(1, 0, 1)));
  EXPECT_TRUE(overlap(box(0, 4, 8, 16), Part()));
}

TEST_F(Table, OptimizerStateStandsWhereItsSliceIsUpdated) {
  const auto program = lower({server(3), reduction(), server(3)}, 1);  // columns: 2, 1 and 1
  std::map<int, std::int64_t> state, parameters;
  for (const Resident& resident : program->residents) {
    const TensorRole role = graph->tensor(resident.tensor).role;
    if (role == TensorRole::OptimizerState) state[resident.device.value()] += resident.bytes.value;
    if (role == TensorRole::Parameter) parameters[resident.device.value()] += resident.bytes.value;
  }
  EXPECT_EQ(state, (std::map<int, std::int64_t>{
                       {0, 2 * 4000}, {1, 2 * 4000}, {2, 2 * 4000}, {3, 2 * 16000}}));
  EXPECT_EQ(parameters,
            (std::map<int, std::int64_t>{{0, 16000}, {1, 16000}, {2, 16000}, {3, 16000}}));
}

}  // namespace
}  // namespace strato
