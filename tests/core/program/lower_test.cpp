#include "core/program/lower/lower.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/program/lower/verify.h"
#include "tests/core/program/toy.h"
#include "tests/core/sim/expect_same.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

bool depends(const Program& program, TaskId task, TaskId on) {
  const auto dependencies = program.dependencies[task.index()];
  return std::find(dependencies.begin(), dependencies.end(), on) != dependencies.end();
}

Bytes resident_bytes(const Program& program, int device) {
  Bytes sum;
  for (const Resident& resident : program.residents)
    if (resident.device.value() == device) sum += resident.bytes;
  return sum;
}

TEST(Lower, OneDeviceRunsEveryOpOnceAndExchangesNothing) {
  Bench bench(toy::training_chain(4, 3, 8), toy::cluster(1, 2));
  for (Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const auto program = bench.lower(bench.everywhere(mode, {1}));
    EXPECT_EQ(program->tasks.size(), bench.graph->op_count());
    EXPECT_EQ(count(*program, TaskKind::Update), 3u);
    EXPECT_EQ(resident_bytes(*program, 0), Bytes(0));
    EXPECT_EQ(resident_bytes(*program, 1), Bytes(128 + 3 * 32));
  }
}

TEST(Lower, DataParallelShardsOpsAndReducesEachGradientOnceInPlace) {
  Bench bench(toy::training_chain(6, 3, 8), toy::cluster(2, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2}));
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 3u);
  EXPECT_EQ(count(*program, TaskKind::Update), 9u);
  EXPECT_EQ(count(*program, TaskKind::Transfer), 0u);
  EXPECT_EQ(count(*program, TaskKind::Split), 0u);
  EXPECT_EQ(count(*program, TaskKind::Compute), 3u * (bench.graph->op_count() - 3));
  const TaskId reduce = find(*program, "AllReduce gw1:0");
  ASSERT_TRUE(reduce.valid());
  EXPECT_EQ(program->writes[reduce.index()].size(), 0u);
  EXPECT_EQ(program->reads[reduce.index()].size(), 3u);
  const TaskId update = find(*program, "u1 @m0:1");
  ASSERT_TRUE(update.valid());
  EXPECT_TRUE(depends(*program, update, reduce));
  const BufferId gradient = program->reads[update.index()][0];
  const auto reduced = program->reads[reduce.index()];
  EXPECT_NE(std::find(reduced.begin(), reduced.end(), gradient), reduced.end());
  // The batch is an input: each device keeps its own two samples of it.
  EXPECT_EQ(resident_bytes(*program, 0), Bytes(6 * 8 * 4 / 3 + 3 * 32));
}

TEST(Lower, AnUpdateWaitsForTheReadersOfTheOldParameter) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_TRUE(depends(*program, find(*program, "u2 @m0:0"), find(*program, "gx2 @m0:0")));
  EXPECT_TRUE(depends(*program, find(*program, "u2 @m0:1"), find(*program, "gx2 @m0:1")));
  const auto servers = bench.lower(bench.everywhere(Mode::ReplicatePs, {0, 1}));
  const TaskId back = find(*servers, "Transfer w2 @m0:1>m0:0");
  ASSERT_TRUE(back.valid());
  EXPECT_TRUE(depends(*servers, back, find(*servers, "gx2 @m0:0")));
  EXPECT_TRUE(depends(*servers, back, find(*servers, "u2 @m0:1")));
}

TEST(Lower, UnevenSharesAndDevicesWithoutSamples) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 4));
  const auto uneven = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 2}, {3, 1}));
  EXPECT_EQ(uneven->tasks[find(*uneven, "f1 @m0:0 [0,3)")].duration, Nanos(30));
  EXPECT_EQ(uneven->tasks[find(*uneven, "f1 @m0:2 [3,4)")].duration, Nanos(10));

  Bench small(toy::training_chain(2, 1, 8), toy::cluster(1, 4));
  const auto program = small.lower(small.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  EXPECT_EQ(count(*program, TaskKind::Update), 2u);
  EXPECT_EQ(resident_bytes(*program, 2), Bytes(0));
  EXPECT_EQ(resident_bytes(*program, 3), Bytes(0));
  const auto one = small.lower(small.everywhere(Mode::ReplicateAllReduce, {0, 1}, {1000, 1}));
  EXPECT_EQ(one->tasks.size(), small.graph->op_count())
      << "one device with all samples: whole there";
}

TEST(Lower, ParameterServersTakeTurnsAndKeepTheState) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  std::vector<TensorId> y = {x};
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    const TensorId w = model.parameter("w" + n, 8);
    y.push_back(model.layer("f" + n, {x, w}, 8));
    const OpId forward = model.last();
    const TensorId seed = model.seed("seed" + n, y.back());
    const TensorId g = model.gradient("g" + n, forward, 1, seed, {x});
    Tensor state;
    state.name = "m" + n;
    state.role = TensorRole::OptimizerState;
    state.shape = {8};
    model.update("u" + n, w, g, {model.builder().add_tensor(state)});
  }
  Bench bench(std::move(model).build(), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicatePs, {0, 1}));
  EXPECT_EQ(count(*program, TaskKind::Update), 3u);
  EXPECT_EQ(count(*program, TaskKind::Sum), 3u);
  EXPECT_EQ(count(*program, TaskKind::Transfer), 6u);
  EXPECT_TRUE(find(*program, "u0 @m0:0").valid());
  EXPECT_TRUE(find(*program, "u1 @m0:1").valid());
  EXPECT_TRUE(find(*program, "u2 @m0:0").valid());
  EXPECT_EQ(resident_bytes(*program, 0), Bytes(64 + 3 * 32 + 2 * 32));
  EXPECT_EQ(resident_bytes(*program, 1), Bytes(64 + 3 * 32 + 1 * 32));
}

TEST(Lower, DuplicateAfterReplicateGathersOnce) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 4),
              {{"seed", 1}, {"gw1", 1}, {"u1", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("seed")] = Bench::decision(Mode::Duplicate, {0, 1});
  auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 1u);
  EXPECT_EQ(count(*program, TaskKind::Transfer), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 0u);

  strategy.groups[bench.group("seed")] = Bench::decision(Mode::Duplicate, {1, 2});
  program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 0u);
  EXPECT_EQ(count(*program, TaskKind::Concat), 2u);
  // Two slices to device 2, one to device 1; w1 goes to device 0, away from its homes 1 and 2.
  EXPECT_EQ(count(*program, TaskKind::Transfer), 4u);
  EXPECT_TRUE(find(*program, "Transfer w1 @m0:1>m0:0").valid());
}

TEST(Lower, OtherShardsComeFromTheOwnersThatOverlap) {
  Bench bench(toy::training_chain(12, 1, 8), toy::cluster(1, 4),
              {{"seed", 1}, {"gw1", 1}, {"u1", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("seed")] = Bench::decision(Mode::ReplicateAllReduce, {1, 2, 3});
  const auto program = bench.lower(strategy);
  // [0,6) on 0 and [6,12) on 1 become [0,4) on 1, [4,8) on 2, [8,12) on 3.
  EXPECT_EQ(count(*program, TaskKind::Split), 4u);
  EXPECT_TRUE(find(*program, "Transfer f1:0 @m0:0>m0:1 [0,4)").valid());
  EXPECT_TRUE(find(*program, "Transfer f1:0 @m0:0>m0:2 [4,6)").valid());
  EXPECT_TRUE(find(*program, "Transfer f1:0 @m0:1>m0:2 [6,8)").valid());
  EXPECT_TRUE(find(*program, "Transfer f1:0 @m0:1>m0:3 [8,12)").valid());
  EXPECT_EQ(count(*program, TaskKind::Concat), 1u);
}

TEST(Lower, GradientsOfOtherDevicesAreSummedAtOneRootAndPassedOn) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 4), {{"u1", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("u1")] = Bench::decision(Mode::Duplicate, {1, 2});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 0u);
  EXPECT_EQ(count(*program, TaskKind::Sum), 1u);
  EXPECT_TRUE(find(*program, "Transfer gw1:0 @m0:0>m0:1 [0,2)").valid());
  EXPECT_TRUE(find(*program, "Transfer gw1:0 @m0:1>m0:2").valid());
  // Sharded readers share one local copy of the parameter; device 0 has none at home.
  EXPECT_TRUE(find(*program, "Transfer w1 @m0:1>m0:0").valid());
}

TEST(Lower, ReadersShareOneTransferAndCopiesTakeTurns) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  const TensorId a = model.layer("a", {x}, 8);
  for (int i = 0; i < 4; ++i) model.layer("b" + std::to_string(i), {a}, 8);
  Bench bench(std::move(model).build(), toy::cluster(2, 2),
              {{"b0", 1}, {"b1", 1}, {"b2", 2}, {"b3", 2}});
  Strategy strategy = bench.everywhere(Mode::Duplicate, {0, 1});
  strategy.groups[bench.group("b0")] = bench.decision(Mode::Duplicate, {2});
  strategy.groups[bench.group("b2")] = bench.decision(Mode::Duplicate, {3});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::Transfer), 2u);
  EXPECT_TRUE(find(*program, "Transfer a:0 @m0:0>m1:0").valid());
  EXPECT_TRUE(find(*program, "Transfer a:0 @m0:1>m1:1").valid());
}

TEST(Lower, ViewsMakeNoTasksAndHoldTheirBytes) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  const TensorId a = model.layer("a", {x}, 8);
  const TensorId b = model.activation("b:0", {4, 8});
  model.op("b", "Identity", {a}, b);
  model.layer("c", {b}, 8);
  Bench bench(std::move(model).build(), toy::cluster(1, 2));
  ASSERT_TRUE(bench.graph->op(bench.graph->find_op("b")).view);
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_EQ(program->tasks.size(), 4u);
  const TaskId reader = find(*program, "c @m0:1"), writer = find(*program, "a @m0:1");
  EXPECT_TRUE(depends(*program, reader, writer));
  EXPECT_EQ(program->reads[reader.index()][0], program->writes[writer.index()][0]);
}

TEST(Lower, APartialSumWithAnotherReaderIsNotOverwritten) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8), w = model.parameter("w", 8), v = model.parameter("v", 8);
  const TensorId y = model.layer("f", {x, w}, 8);
  const OpId f = model.last();
  const TensorId z = model.layer("h", {y, v}, 8);
  const OpId h = model.last();
  const TensorId seed = model.seed("seed", z);
  const TensorId gv = model.gradient("gv", h, 1, seed, {y});
  const TensorId gw = model.gradient("gw", f, 1, seed, {x});
  Tensor sum;
  sum.name = "sum:0";
  sum.role = TensorRole::Gradient;
  sum.shape = {8};
  const TensorId both = model.builder().add_tensor(sum);
  model.builder().op(model.op("sum", "Add", {gv, gw}, both)).phase = Phase::Backward;
  model.update("uv", v, gv);
  model.update("uw", w, both);
  Bench bench(std::move(model).build(), toy::cluster(1, 2));
  ASSERT_EQ(bench.graph->op(bench.graph->find_op("sum")).split, Splittability::Sum);
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_EQ(program->writes[find(*program, "AllReduce gv:0").index()].size(), 2u);
  EXPECT_EQ(program->writes[find(*program, "AllReduce sum:0").index()].size(), 0u);
}

TEST(Lower, AnOpWhosePartialInputsComeFromOtherShardsRunsWhole) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8), w = model.parameter("w", 8);
  const TensorId y = model.layer("f", {x, w}, 8);
  const OpId f = model.last();
  const TensorId seed = model.seed("seed", y);
  const TensorId g = model.gradient("g", f, 1, seed, {x});
  Tensor scaled;
  scaled.name = "neg:0";
  scaled.role = TensorRole::Gradient;
  scaled.shape = {8};
  const TensorId neg = model.builder().add_tensor(scaled);
  model.builder().op(model.op("neg", "Neg", {g}, neg)).phase = Phase::Backward;
  model.update("u", w, neg);
  Bench bench(std::move(model).build(), toy::cluster(1, 4), {{"neg", 1}, {"u", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("neg")] = Bench::decision(Mode::ReplicateAllReduce, {0, 1}, {3, 1});
  const auto program = bench.lower(strategy);
  EXPECT_EQ(program->samples_of(program->tasks[find(*program, "neg @m0:0")]), 4);
  EXPECT_EQ(program->samples_of(program->tasks[find(*program, "neg @m0:1")]), 4);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 1u);
}

TEST(Lower, PassesAreNamedAndResultsDoNotDependOnEarlierCalls) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(2, 2),
              {{"f2", 1}, {"gw2", 1}, {"gx2", 1}, {"u2", 1}});
  std::vector<std::string> passes;
  LowerOptions options;
  options.on_pass = [&](std::string_view name, Nanos) { passes.emplace_back(name); };
  const Strategy first = bench.everywhere(Mode::ReplicatePs, {0, 1, 3});
  const Program once = bench.lowering->lower(first, options);
  EXPECT_EQ(passes, (std::vector<std::string>{"place", "compute", "synchronise", "finish"}));
  bench.lowering->lower(bench.everywhere(Mode::Duplicate, {2, 3}));
  const Program again = bench.lowering->lower(first);
  Lowering other(bench.graph, bench.grouping, bench.cluster, bench.costs);
  const Program fresh = other.lower(first);
  for (const Program* program : {&again, &fresh}) {
    ASSERT_EQ(program->tasks.size(), once.tasks.size());
    for (std::size_t i = 0; i < once.tasks.size(); ++i) {
      EXPECT_EQ(program->task_name(TaskId(i)), once.task_name(TaskId(i)));
      EXPECT_EQ(program->tasks[TaskId(i)].duration, once.tasks[TaskId(i)].duration);
    }
  }
}

// TAG 4.2.3 and Fig. 4b: a dense layer with H1 x H2 weights on D devices that have B samples each.
struct Dense {
  static constexpr std::int64_t kBatch = 3, kDevices = 2, kIn = 8, kOut = 16;
  Dense() : bench(graph(), toy::cluster(1, 2)) {
    strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  }
  static std::shared_ptr<const Graph> graph() {
    toy::Model model(kBatch * kDevices);
    const TensorId input = model.input("input", kIn), w = model.parameter("w", kIn * kOut);
    const TensorId x = model.layer("before", {input}, kIn);
    const TensorId y = model.layer("dense", {x, w}, kOut);
    const OpId dense = model.last();
    const TensorId gradient = model.seed("grad", y);
    model.update("u", w, model.gradient("gw", dense, 1, gradient, {x}));
    return std::move(model).build();
  }
  void duplicate(std::vector<std::string> names) {
    strategy.duplicated.clear();
    for (const std::string& name : names) strategy.duplicated.push_back(bench.graph->find_op(name));
    std::sort(strategy.duplicated.begin(), strategy.duplicated.end());
    validate(strategy, *bench.grouping, *bench.cluster);
  }
  Bench bench;
  Strategy strategy;
};

// What a ring sends in all: each member hands on all slices but one (AllGather), twice (AllReduce).
Bytes sent(const Program& program) {
  Bytes sum;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::AllGather) sum += task.bytes * (Dense::kDevices - 1);
    if (task.kind == TaskKind::AllReduce) sum += task.bytes * (2 * (Dense::kDevices - 1));
    if (task.kind == TaskKind::Transfer) sum += task.bytes;
  }
  return sum;
}

TEST(Duplicated, SufficientFactorsAreGatheredInsteadOfTheGradientBeingReduced) {
  constexpr std::int64_t kFloat = 4, D = Dense::kDevices, B = Dense::kBatch, H1 = Dense::kIn,
                         H2 = Dense::kOut;
  Dense dense;
  const auto without = dense.bench.lower(dense.strategy);
  EXPECT_EQ(count(*without, TaskKind::AllReduce), 1u);
  EXPECT_EQ(count(*without, TaskKind::AllGather), 0u);
  EXPECT_EQ(sent(*without), Bytes(2 * (D - 1) * H1 * H2 * kFloat));

  dense.duplicate({"gw"});
  const auto program = dense.bench.lower(dense.strategy);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 0u);
  EXPECT_EQ(count(*program, TaskKind::AllGather), 2u);
  EXPECT_EQ(program->tasks[find(*program, "AllGather before:0")].bytes, Bytes(D * B * H1 * kFloat));
  EXPECT_EQ(program->tasks[find(*program, "AllGather grad:0")].bytes, Bytes(D * B * H2 * kFloat));
  EXPECT_EQ(sent(*program), Bytes(D * (D - 1) * (H2 * B + B * H1) * kFloat));
  for (const char* device : {" @m0:0", " @m0:1"}) {
    const std::string at = device;
    const TaskId gradient = find(*program, "gw" + at);
    EXPECT_EQ(program->samples_of(program->tasks[gradient]), D * B);
    EXPECT_EQ(program->tasks[gradient].duration, Nanos(10 * D * B));
    EXPECT_TRUE(depends(*program, find(*program, "u" + at), gradient));
    EXPECT_EQ(program->samples_of(program->tasks[find(*program, "dense" + at)]), B)
        << "still in shards";
  }
}

TEST(Duplicated, AnUpdateOfServersRunsOnEveryDevice) {
  Dense dense;
  dense.strategy = dense.bench.everywhere(Mode::ReplicatePs, {0, 1});
  EXPECT_EQ(sent(*dense.bench.lower(dense.strategy)), Bytes(2 * Dense::kIn * Dense::kOut * 4));
  // Only the new value is sent: the server has the whole gradient.
  dense.duplicate({"gw"});
  const auto served = dense.bench.lower(dense.strategy);
  EXPECT_EQ(count(*served, TaskKind::Sum), 0u);
  EXPECT_EQ(count(*served, TaskKind::Update), 1u);
  EXPECT_EQ(count(*served, TaskKind::Transfer), 1u);
  EXPECT_TRUE(find(*served, "Transfer w @m0:0>m0:1").valid());
  dense.duplicate({"gw", "u"});
  const auto both = dense.bench.lower(dense.strategy);
  EXPECT_EQ(count(*both, TaskKind::Update), 2u);
  EXPECT_EQ(count(*both, TaskKind::Transfer), 0u);
  EXPECT_EQ(count(*both, TaskKind::AllGather), 2u);
  // The gradient's sum is made once, and passed on.
  dense.duplicate({"u"});
  const auto summed = dense.bench.lower(dense.strategy);
  EXPECT_EQ(count(*summed, TaskKind::Update), 2u);
  EXPECT_EQ(count(*summed, TaskKind::Sum), 1u);
  EXPECT_EQ(count(*summed, TaskKind::Transfer), 2u);
  EXPECT_EQ(resident_bytes(*summed, 0), resident_bytes(*summed, 1));
}

TEST(Duplicated, OtherUpdatesKeepTheirServers) {
  Bench bench(toy::training_chain(4, 4, 8), toy::cluster(1, 2));
  Strategy strategy = bench.everywhere(Mode::ReplicatePs, {0, 1});
  strategy.duplicated = {bench.graph->find_op("u2")};
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::Update), 5u);
  for (const char* task : {"u1 @m0:0", "u2 @m0:0", "u2 @m0:1", "u3 @m0:0", "u4 @m0:1"})
    EXPECT_TRUE(find(*program, task).valid()) << task;
}

TEST(Duplicated, ChangesNothingWhereEveryOpIsWholeAlready) {
  Dense dense;
  for (std::size_t i = 0; i < dense.bench.graph->op_count(); ++i)
    dense.strategy.duplicated.push_back(OpId(i));
  const std::vector<OpId> all = dense.strategy.duplicated;
  for (const Mode mode : {Mode::Duplicate, Mode::ModelParallel}) {
    dense.strategy = dense.bench.everywhere(mode, {0, 1});
    const auto without = dense.bench.lower(dense.strategy);
    dense.strategy.duplicated = all;
    expect_same(*dense.bench.lower(dense.strategy), *without);
  }
  dense.strategy = dense.bench.everywhere(Mode::ReplicatePs, {1});
  const auto without = dense.bench.lower(dense.strategy);
  dense.strategy.duplicated = all;
  expect_same(*dense.bench.lower(dense.strategy), *without);
  // All ops of a replicated group: as if it were duplicated.
  const auto duplicate = dense.bench.lower(dense.bench.everywhere(Mode::Duplicate, {0, 1}));
  dense.strategy = dense.bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  dense.strategy.duplicated = all;
  expect_same(*dense.bench.lower(dense.strategy), *duplicate);
  dense.strategy.duplicated = {OpId(all.size())};
  EXPECT_THROW(dense.bench.lower(dense.strategy), InvariantError);
}

TEST(Verify, SeesEveryBufferThatIsSaidToHoldAnotherPart) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2), {{"f2", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::Duplicate, {1});
  const auto program = bench.lower(strategy);
  EXPECT_NO_THROW(verify(*program));
  for (std::size_t i = 0; i < program->buffers.size(); ++i) {
    Program copy = *program;
    copy.parts.push_back(Part::samples(1, 2));
    copy.buffers[BufferId(i)].part = PartId(copy.parts.size() - 1);
    EXPECT_THROW(verify(copy), InvariantError) << i;
  }
}

TEST(Verify, CatchesBrokenPrograms) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2), {{"f2", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::Duplicate, {1});
  const auto program = bench.lower(strategy);
  const auto broken = [&](auto&& damage) {
    Program copy = *program;
    damage(copy);
    EXPECT_THROW(verify(copy), InvariantError);
  };
  EXPECT_NO_THROW(verify(*program));
  broken([](Program& p) { p.tasks[TaskId(0)].duration = Nanos(0); });
  broken([](Program& p) { p.tasks[TaskId(0)].device = DeviceId(1); });
  broken([](Program& p) {
    p.parts.push_back(Part::samples(0, 5));
    p.tasks[TaskId(0)].part = PartId(p.parts.size() - 1);
  });
  broken([](Program& p) { p.tasks[TaskId(0)].part = PartId(p.parts.size()); });
  broken([](Program& p) { p.tasks[TaskId(0)].keeps = true; });
  broken([](Program& p) { p.buffers[BufferId(0)].bytes = Bytes(0); });
  broken([](Program& p) { p.buffers[BufferId(0)].device = DeviceId(1); });
  broken([](Program& p) {
    p.residents.pop_back();
    p.residents.insert(p.residents.begin(), p.residents.back());
  });
  broken([](Program& p) {
    p.dependencies.clear();
    for (std::size_t i = 0; i < p.tasks.size(); ++i) p.dependencies.end_row();
  });
  broken([](Program& p) { p.tasks.pop_back(); });
  broken([](Program& p) { p.buffers.push_back(p.buffers.back()); });
}

}  // namespace
}  // namespace strato
