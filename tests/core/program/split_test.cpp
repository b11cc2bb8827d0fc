// Ops split along another axis than the batch (FastT 5.2): every task of a product of matrices that
// is split in two columns.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/program/delta/delta_lower.h"
#include "core/program/place/symmetry.h"
#include "core/sim/explain/error_bar.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

// y = x w, 4 samples, 6 to 8 columns: x has 96 bytes, w 192, y 128. Ops: m, seed, gw, u; with
// `before` an op f in front that makes x.
std::shared_ptr<const Graph> product_with_sgd(bool before = false) {
  toy::Model model(4);
  TensorId x = model.input("x", 6);
  if (before) x = model.layer("f", {x}, 6);
  const TensorId w = model.parameter("w", 48);
  model.builder().tensor(w).shape = {6, 8};
  const TensorId y = model.activation("m:0", {4, 8});
  const OpId forward = model.op("m", "MatMul", {x, w}, y);
  const TensorId dy = model.seed("seed", y);
  const TensorId dw = model.gradient("gw", forward, 1, dy, {x});
  OpId gradient(0);
  while (model.builder().op(gradient).name != "gw") gradient = OpId(gradient.index() + 1);
  model.builder().op(gradient).type = "MatMulGradB";
  const OpId update = model.update("u", w, dw);
  model.builder().op(update).type = "ApplySgd";
  return std::move(model).build();
}

std::vector<DeviceShare> shares(std::vector<int> weights) {
  std::vector<DeviceShare> result;
  for (std::size_t d = 0; d < weights.size(); ++d) result.push_back({DeviceId(d), weights[d]});
  return result;
}

class Split : public testing::Test {
 protected:
  explicit Split(bool before = false) : bench(product_with_sgd(before), toy::cluster(1, 4)) {}

  Strategy on(std::vector<int> devices, Mode mode = Mode::Duplicate) const {
    return bench.everywhere(mode, std::move(devices));
  }
  void split(Strategy& strategy, const std::string& op, int axis, std::vector<int> weights) const {
    strategy.splits.push_back({bench.graph->find_op(op), axis, shares(std::move(weights))});
    std::sort(strategy.splits.begin(), strategy.splits.end(),
              [](const OpSplit& a, const OpSplit& b) { return a.op < b.op; });
  }
  static void expect(const Program& program, const std::string& name, Bytes bytes, Nanos duration,
                     int n = 0) {
    const TaskId task = find(program, name, n);
    ASSERT_TRUE(task.valid()) << name;
    EXPECT_EQ(program.tasks[task].bytes, bytes) << name;
    EXPECT_EQ(program.tasks[task].duration, duration) << name;
  }
  static Bytes resident(const Program& program, int device, const std::string& tensor) {
    Bytes bytes;
    for (const Resident& at : program.residents)
      if (at.device.value() == device && program.graph->tensor(at.tensor).name == tensor)
        bytes += at.bytes;
    return bytes;
  }

  Bench bench;
};

TEST_F(Split, TwoColumnsOfAProduct) {
  Strategy strategy = on({0});
  split(strategy, "m", 1, {1, 1});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(program->tasks.size(), 10u);
  expect(*program, "Split w @m0:0", Bytes(2 * 96), Nanos(12), 0);
  expect(*program, "Split w @m0:0", Bytes(2 * 96), Nanos(12), 1);
  expect(*program, "Transfer w @m0:0>m0:1", Bytes(96), Nanos(96));
  expect(*program, "m @m0:0", Bytes(0), Nanos(20));
  expect(*program, "m @m0:1", Bytes(0), Nanos(20));
  expect(*program, "Transfer m:0 @m0:1>m0:0", Bytes(64), Nanos(64));
  expect(*program, "Concat m:0 @m0:0", Bytes(2 * 128), Nanos(16));
  expect(*program, "seed @m0:0", Bytes(0), Nanos(40));
  for (const auto& [name, bytes] : {std::pair("m @m0:0", 64), std::pair("m @m0:1", 64),
                                    std::pair("Split w @m0:0", 96), std::pair("seed", 128)}) {
    const auto writes = program->writes[find(*program, name).index()];
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(program->buffers[writes[0]].bytes, Bytes(bytes)) << name;
  }
  EXPECT_EQ(resident(*program, 0, "w"), Bytes(192));
  EXPECT_EQ(resident(*program, 1, "w"), Bytes(0));  // its slice travels each step
  EXPECT_EQ(resident(*program, 1, "x"), Bytes(96));
  // The update waits for those who read the old value, the Split for the other device, too.
  const auto waits = program->dependencies[find(*program, "u @m0:0").index()];
  for (int n : {0, 1})
    EXPECT_NE(std::find(waits.begin(), waits.end(), find(*program, "Split w", n)), waits.end());
  // Split, Split, Transfer w, m @m0:1, Transfer y, Concat, seed, gw, u.
  EXPECT_EQ(bench.run(strategy).step_time, Nanos(12 + 12 + 96 + 20 + 64 + 16 + 40 + 40 + 7));
}

TEST_F(Split, PartsOfUnequalWeights) {
  Strategy strategy = on({0});
  split(strategy, "m", 1, {3, 1});
  const auto program = bench.lower(strategy);
  expect(*program, "m @m0:0", Bytes(0), Nanos(30));
  expect(*program, "m @m0:1", Bytes(0), Nanos(10));
  expect(*program, "Split w @m0:0", Bytes(2 * 144), Nanos(18), 0);
  expect(*program, "Transfer m:0 @m0:1>m0:0", Bytes(32), Nanos(32));
}

TEST_F(Split, APartWithoutAColumnDropsOut) {
  Strategy strategy = on({0});
  split(strategy, "m", 1, {1000, 1});
  EXPECT_EQ(bench.lower(strategy)->tasks.size(), bench.lower(on({0}))->tasks.size());
  strategy.splits[0].parts = shares({1000, 1, 1000});
  const auto program = bench.lower(strategy);
  EXPECT_FALSE(find(*program, "m @m0:1").valid());
  EXPECT_TRUE(find(*program, "m @m0:2").valid());
}

TEST_F(Split, APartIsExplainedByItsSlice) {
  Strategy strategy = on({0});
  split(strategy, "m", 1, {3, 1});
  const Timeline timeline = bench.run(strategy);
  const TaskId part = find(*timeline.program, "m @m0:1");
  EXPECT_EQ(explain_task(timeline, part, *bench.costs).time, Nanos(10));
  const TaskId whole = find(*timeline.program, "seed @m0:0");
  EXPECT_EQ(explain_task(timeline, whole, *bench.costs).time, Nanos(40));
}

// Weights stay where their columns are computed: nothing of them travels.
TEST_F(Split, ReadersThatAreSplitAlikeTakeTheSlices) {
  Strategy strategy = on({0});
  for (const char* op : {"m", "gw", "u"}) split(strategy, op, 1, {1, 1});
  const auto program = bench.lower(strategy);
  for (const char* name : {"Split w", "Transfer w", "Transfer gw:0", "Concat gw:0"})
    EXPECT_FALSE(find(*program, name).valid()) << name;
  expect(*program, "Transfer seed:0 @m0:0>m0:1", Bytes(64), Nanos(64));
  expect(*program, "u @m0:0", Bytes(0), Nanos(4));
  expect(*program, "u @m0:1", Bytes(0), Nanos(4));
  EXPECT_EQ(resident(*program, 0, "w"), Bytes(96));
  EXPECT_EQ(resident(*program, 1, "w"), Bytes(96));
  EXPECT_EQ(program->tasks.size(), 2u + 2 + 1 + 3 + 2 + 2);
}

// Other cuts on the same axis: only what overlaps is sent.
TEST_F(Split, OtherCutsTakeWhatOverlaps) {
  Strategy strategy = on({0});
  split(strategy, "gw", 1, {1, 1});
  split(strategy, "u", 1, {1, 3});
  const auto program = bench.lower(strategy);
  // Columns 0 to 3 are made on device 0, of which 2 and 3 go to device 1 and join 4 to 7.
  expect(*program, "Split gw:0 @m0:0", Bytes(2 * 48), Nanos(6), 0);
  expect(*program, "Split gw:0 @m0:0", Bytes(2 * 48), Nanos(6), 1);
  expect(*program, "Transfer gw:0 @m0:0>m0:1", Bytes(48), Nanos(48));
  expect(*program, "Concat gw:0 @m0:1", Bytes(2 * 144), Nanos(18));
}

TEST_F(Split, AParameterInPartsIsGatheredByOthers) {
  Strategy strategy = on({2});
  split(strategy, "u", 0, {1, 1});
  const auto program = bench.lower(strategy);
  expect(*program, "Transfer w @m0:0>m0:2", Bytes(96), Nanos(96));
  expect(*program, "Transfer w @m0:1>m0:2", Bytes(96), Nanos(96));
  expect(*program, "Concat w @m0:2", Bytes(2 * 192), Nanos(24));
  expect(*program, "Transfer gw:0 @m0:2>m0:1", Bytes(96), Nanos(96));
  EXPECT_EQ(resident(*program, 2, "w"), Bytes(0));
  EXPECT_EQ(resident(*program, 0, "w") + resident(*program, 1, "w"), Bytes(192));
  // m reads the gathered copy; the parts' updates wait for the Transfers that read them.
  const auto waits = program->dependencies[find(*program, "u @m0:0").index()];
  EXPECT_NE(std::find(waits.begin(), waits.end(), find(*program, "Transfer w @m0:0")), waits.end());
}

// Gradients that replicas sum up: split along the columns, the whole batch is read and no sum is
// left.
TEST_F(Split, AWeightGradientOfTheWholeBatchNeedsNoSum) {
  Strategy strategy = on({0, 1}, Mode::ReplicateAllReduce);
  split(strategy, "gw", 1, {1, 1});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 1u);  // of dy; x is at hand
  EXPECT_TRUE(find(*program, "AllGather seed:0").valid());
  EXPECT_EQ(count(*program, TaskKind::Concat), 2u);  // each update has the whole gradient
  EXPECT_EQ(count(*program, TaskKind::Update), 2u);
}

// A sum over the batch is made before it is split where one of its makers has no part, or at a
// server (else see scatter_test.cpp).
TEST_F(Split, PartialSumsAreSummedFirst) {
  Strategy strategy = on({0, 1, 2}, Mode::ReplicateAllReduce);
  split(strategy, "u", 0, {1, 1});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::ReduceScatter), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 0u);
  EXPECT_EQ(count(*program, TaskKind::Sum), 1u);
  expect(*program, "Transfer gw:0 @m0:0>m0:1", Bytes(96), Nanos(96));
  EXPECT_TRUE(find(*program, "Concat w @m0:2").valid());
  strategy = on({0, 1}, Mode::ReplicatePs);
  split(strategy, "u", 0, {1, 1});
  const auto servers = bench.lower(strategy);
  EXPECT_EQ(count(*servers, TaskKind::Sum), 1u);
  expect(*servers, "Transfer gw:0 @m0:0>m0:1", Bytes(96), Nanos(96));  // half of the sum
  EXPECT_FALSE(find(*servers, "Transfer w @m0:0>m0:1", 1).valid());
}

TEST_F(Split, ShardsReadTheirSamplesOfTheParts) {
  Strategy strategy = on({0, 1}, Mode::ReplicateAllReduce);
  split(strategy, "m", 1, {1, 1});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 1u);
  EXPECT_TRUE(find(*program, "seed @m0:1 [2,4)").valid());
  EXPECT_TRUE(find(*program, "Concat m:0 @m0:1").valid());
  expect(*program, "Split m:0 @m0:1 [2,4)", Bytes(2 * 64), Nanos(8));
}

// With the strategy before, nothing remains of its splits.
TEST_F(Split, OneLoweringAfterAnother) {
  for (const Mode mode : {Mode::Duplicate, Mode::ModelParallel, Mode::ReplicatePs}) {
    const Strategy plain = on({0, 1}, mode);
    const std::size_t tasks = bench.lower(plain)->tasks.size();
    Strategy strategy = plain;
    split(strategy, "m", 1, {1, 1, 1});
    const std::size_t split_tasks = bench.lower(strategy)->tasks.size();
    EXPECT_NE(split_tasks, tasks);
    EXPECT_EQ(bench.lower(plain)->tasks.size(), tasks);
    EXPECT_EQ(bench.lower(strategy)->tasks.size(), split_tasks);
  }
}

TEST_F(Split, AreNotForDeltasAndNotFolded) {
  Strategy strategy = on({0, 1}, Mode::ReplicateAllReduce);
  EXPECT_TRUE(DeltaLowering::is_plain(strategy));
  split(strategy, "m", 1, {1, 1});
  EXPECT_FALSE(DeltaLowering::is_plain(strategy));
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  const Program folded = bench.lowering->lower(strategy, options);
  EXPECT_EQ(fold.left_out, 0u);
  EXPECT_EQ(folded.tasks.size(), bench.lower(strategy)->tasks.size());
}

TEST_F(Split, AlongAnAxisThatDoesNotDivideTheOpIsABug) {
  Strategy strategy = on({0});
  split(strategy, "m", 0, {1, 1});  // the batch
  EXPECT_THROW(bench.lower(strategy), InvariantError);
  strategy.splits[0].axis = 5;
  EXPECT_THROW(bench.lower(strategy), InvariantError);
  strategy.splits[0] = {bench.graph->find_op("seed"), 1, shares({1, 1})};  // of unknown type
  EXPECT_THROW(bench.lower(strategy), InvariantError);
}

class SplitBehindAnOp : public Split {
 protected:
  SplitBehindAnOp() : Split(true) {}
};

// x is made in shards: both parts need all of it.
TEST_F(SplitBehindAnOp, ABatchInShardsIsGatheredFirst) {
  Strategy strategy = on({0, 1}, Mode::ReplicateAllReduce);
  split(strategy, "m", 1, {1, 1});
  const auto program = bench.lower(strategy);
  expect(*program, "AllGather f:0", Bytes(96), Nanos(100 + 96));
  EXPECT_EQ(count(*program, TaskKind::AllGather), 1u);
}

// The whole of x travels once to each device that has none.
TEST_F(SplitBehindAnOp, WholeInputsTravelAsTheyAre) {
  Strategy strategy = on({0});
  split(strategy, "m", 1, {1, 1, 2});
  const auto program = bench.lower(strategy);
  expect(*program, "Transfer f:0 @m0:0>m0:1", Bytes(96), Nanos(96));
  expect(*program, "Transfer f:0 @m0:0>m0:2", Bytes(96), Nanos(96));
  expect(*program, "Transfer w @m0:0>m0:2", Bytes(96), Nanos(96));
  expect(*program, "Transfer w @m0:0>m0:1", Bytes(48), Nanos(48));
}

}  // namespace
}  // namespace strato
