// A step in several micro-batches: what runs how often, on which samples, and in which order, with
// closed forms of the time and memory of pipelines.
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "core/graph/train/training_graph.h"
#include "core/program/lower/pipeline.h"
#include "core/program/lower/verify.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;

constexpr int kStages = 4;
constexpr std::int64_t kWidth = 5;

// A chain of as many layers as stages, whose gradients cost what the layers do; the loss's gradient
// costs 10 ns a sample, too. Stage by stage on devices 0 to 3, or by pairs.
class Chain : public testing::Test {
 protected:
  Chain()
      : bench(toy::training_chain(kBatch, kStages, kWidth), toy::cluster(1, 4),
              toy::layer_groups(kStages)) {}

  Strategy staged(MicroBatches micro_batches) const {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
    for (int stage = 0; stage < kStages; ++stage)
      strategy.groups[bench.group("f" + std::to_string(stage + 1))] =
          Bench::decision(Mode::ReplicateAllReduce, {stage});
    strategy.micro_batches = micro_batches;
    return strategy;
  }
  // Layers 1 and 2 on devices 0 and 1, the others on 2 and 3.
  Strategy paired(MicroBatches micro_batches, std::vector<int> weights = {1, 1}) const {
    Strategy strategy = staged(micro_batches);
    for (int layer = 1; layer <= kStages; ++layer)
      strategy.groups[bench.group("f" + std::to_string(layer))] = Bench::decision(
          Mode::ReplicateAllReduce, layer <= 2 ? std::vector{0, 1} : std::vector{2, 3}, weights);
    return strategy;
  }
  // "F0 F1 B0 ...": forward and backward passes of a device in the order in which they begin.
  static std::string passes(const Timeline& timeline, DeviceId device) {
    std::string text, last;
    for (const TaskId id : execution_order(timeline)) {
      const Task& task = timeline.program->tasks[id];
      if (task.kind != TaskKind::Compute || task.device != device) continue;
      const bool backward = timeline.program->graph->op(task.op).phase == Phase::Backward;
      std::string pass = (backward ? "B" : "F") + std::to_string(task.micro);
      if (pass != last) text += (text.empty() ? "" : " ") + pass;
      last = std::move(pass);
    }
    return text;
  }

  static constexpr std::int64_t kBatch = 24;
  Bench bench;
};

TEST_F(Chain, OneMicroBatchIsTheStepAsItIs) {
  const auto plain = bench.lower(staged({}));
  const auto one = bench.lower(staged({1, PipelineSchedule::Gpipe}));
  EXPECT_EQ(one->tasks.size(), plain->tasks.size());
  EXPECT_EQ(staged({1, PipelineSchedule::Gpipe}).digest(), staged({}).digest());
  EXPECT_NE(staged({2, PipelineSchedule::Gpipe}).digest(), staged({}).digest());
  EXPECT_NE(staged({2, PipelineSchedule::Gpipe}).digest(),
            staged({2, PipelineSchedule::OneFOneB}).digest());
}

TEST_F(Chain, OpsOfTheBatchRunForEachMicroBatchAndUpdatesOnce) {
  const auto program = bench.lower(staged({6, PipelineSchedule::Gpipe}));
  std::map<std::string, int> runs;
  for (const Task& task : program->tasks)
    if (task.op.valid() && !task.tensor.valid()) ++runs[program->graph->op(task.op).name];
  for (const auto& [op, times] : runs) EXPECT_EQ(times, op[0] == 'u' ? 1 : 6) << op;
  EXPECT_EQ(count(*program, TaskKind::Sum), 5u * kStages);  // each later gradient, to the first
  // On one device there are as many samples as there are.
  std::map<std::string, std::int64_t> samples;
  for (const Task& task : program->tasks)
    if (task.kind == TaskKind::Compute)
      samples[program->graph->op(task.op).name] += program->samples_of(task);
  for (const auto& [op, all] : samples) EXPECT_EQ(all, kBatch) << op;
}

TEST_F(Chain, GradientsAreSynchronisedOnceHoweverManyMicroBatches) {
  for (const std::int32_t micro_batches : {1, 2, 4, 12}) {
    const auto program = bench.lower(paired({micro_batches, PipelineSchedule::OneFOneB}));
    EXPECT_EQ(count(*program, TaskKind::AllReduce), 4u);
    EXPECT_EQ(count(*program, TaskKind::Sum), 2u * kStages * (micro_batches - 1));
  }
}

// Weights are cast to 16 bits: gradients are cast back in each micro-batch, and added up, fused and
// reduced in 32.
TEST(MicroBatchModels, GradientsIn16BitsAreAddedUpIn32) {
  constexpr std::int64_t kBf16 = 16, kHere = 8, kWeights = 3;
  ModelKit kit(kHere);
  TensorId x = kit.input("x", {kHere, 4});
  for (int i = 0; i < kWeights; ++i)
    x = kit.op("MatMul",
               {x, kit.op("Cast", {kit.weight("w" + std::to_string(i), {4, 4})}, {{"to", kBf16}})});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  const auto grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  const auto cluster = toy::cluster(1, 2);
  Lowering lowering(graph, grouping, cluster, std::make_shared<toy::Costs>(graph, cluster));
  for (const std::int32_t tensor : {1, 2}) {
    Strategy strategy;
    strategy.groups.push_back(Bench::decision(Mode::ReplicateAllReduce, {0, 1}));
    strategy.groups[GroupId(0)]->roles.tensor = tensor;
    strategy.bucket = Bytes(1 << 20);
    strategy.micro_batches = {4, PipelineSchedule::Gpipe};
    LowerOptions options;
    options.verify = true;
    const Program program = lowering.lower(strategy, options);
    std::map<std::string, int> casts, sums;
    for (const Task& task : program.tasks) {
      const bool is_compute = task.kind == TaskKind::Compute;
      if (is_compute && graph->op(task.op).type == "CastGrad") ++casts[graph->op(task.op).name];
      if (task.kind == TaskKind::Sum) ++sums[graph->op(graph->tensor(task.tensor).producer).type];
    }
    EXPECT_EQ(casts.size(), static_cast<std::size_t>(kWeights));
    for (const auto& [name, times] : casts) EXPECT_EQ(times, 4 * 2) << name;
    const std::map<std::string, int> later = {{"CastGrad", kWeights * 3 * 2},
                                              {"SoftmaxCrossEntropy", 3 * 2}};
    EXPECT_EQ(sums, later) << "of each later micro-batch, on each device";
    if (tensor == 1) {
      EXPECT_EQ(count(program, TaskKind::AllReduce), 1u) << "of all gradients together";
    }
  }
}

TEST_F(Chain, SharesOfAMicroBatchMayBeUneven) {
  const auto program = bench.lower(paired({4, PipelineSchedule::Gpipe}, {2, 1}));
  std::map<DeviceId, std::int64_t> samples;
  for (const Task& task : program->tasks)
    if (task.kind == TaskKind::Compute && program->graph->op(task.op).name == "f1")
      samples[task.device] += program->samples_of(task);
  EXPECT_EQ(samples[DeviceId(0)], 16);
  EXPECT_EQ(samples[DeviceId(1)], 8);
  // What is resident of the batch is what each device reads of it.
  Bytes resident;
  for (const Resident& at : program->residents)
    if (program->graph->tensor(at.tensor).name == "x") resident += at.bytes;
  EXPECT_EQ(resident, Bytes(4 * kBatch * kWidth));
}

TEST_F(Chain, StagesKeepToTheirSchedule) {
  const Timeline gpipe = bench.run(staged({4, PipelineSchedule::Gpipe}));
  for (int stage = 0; stage < kStages; ++stage)
    EXPECT_EQ(passes(gpipe, DeviceId(static_cast<std::size_t>(stage))), "F0 F1 F2 F3 B0 B1 B2 B3");
  const Timeline one_each = bench.run(staged({4, PipelineSchedule::OneFOneB}));
  EXPECT_EQ(passes(one_each, DeviceId(0)), "F0 F1 F2 F3 B0 B1 B2 B3");
  EXPECT_EQ(passes(one_each, DeviceId(1)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(passes(one_each, DeviceId(2)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(passes(one_each, DeviceId(3)), "F0 B0 F1 B1 F2 B2 F3 B3");
}

// All costs but those of the passes are next to nothing: then m micro-batches on p stages take
// (m + p - 1) (F + B), and what is not (m (F + B)) is the bubble.
class IdealCosts : public toy::Costs {
 public:
  using Costs::Costs;
  static constexpr std::int64_t kSample = 1'000'000;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const std::string& name = graph_->op(op).name;
    if (name[0] == 'f' || name.starts_with("gx")) return Nanos(kSample * samples);
    return Nanos(1);  // gw, seed, u
  }
  Nanos transfer(const Path&, Bytes) const override { return Nanos(1); }
};

TEST_F(Chain, BubbleIsThatOfThePapers) {
  const auto costs = std::make_shared<IdealCosts>(bench.graph, bench.cluster);
  Lowering lowering(bench.graph, bench.grouping, bench.cluster, costs);
  for (const std::int32_t m : {4, 8, 24})
    for (const auto schedule : {PipelineSchedule::Gpipe, PipelineSchedule::OneFOneB}) {
      const auto program = std::make_shared<const Program>(lowering.lower(staged({m, schedule})));
      const double step = to_seconds(bench.simulator.simulate(program).step_time);
      // The first stage has no gx: p - 1 of the stages' backward passes are on the way.
      const double pass = 1e-9 * IdealCosts::kSample * (kBatch / m);
      const double ideal = pass * ((m + kStages - 1) + (m + kStages - 2));
      EXPECT_NEAR(step / ideal, 1, 1e-5) << m << " " << name_of(schedule);
      EXPECT_GE(step, ideal);
    }
}

// Stage s of p keeps what p - s micro-batches need of it; GPipe's keep what all need.
TEST_F(Chain, ActivationsUnderWayAreThoseOfTheSchedule) {
  const std::int32_t m = 12;
  const Timeline gpipe = bench.run(staged({m, PipelineSchedule::Gpipe}));
  const Timeline one_each = bench.run(staged({m, PipelineSchedule::OneFOneB}));
  const std::int64_t kept =
      4 * kWidth * kBatch / m;  // a stage's input, for gw; stage 0's is resident
  for (int stage = 1; stage + 1 < kStages; ++stage) {
    const auto& [all, few] = std::pair(gpipe.devices[DeviceId(static_cast<std::size_t>(stage))],
                                       one_each.devices[DeviceId(static_cast<std::size_t>(stage))]);
    const std::int64_t fewer = all.peak.value - few.peak.value;
    EXPECT_GE(fewer, (m - (kStages - stage) - 1) * kept) << stage;
    EXPECT_LE(fewer, (m - (kStages - stage) + 1) * kept) << stage;
  }
}

// Of four chunks on three stages the first one has two: others wait for its second meanwhile.
TEST_F(Chain, StagesMayBeVisitedTwice) {
  Strategy strategy = staged({4, PipelineSchedule::OneFOneB});
  strategy.groups[bench.group("f3")] = Bench::decision(Mode::ReplicateAllReduce, {0});
  const Timeline timeline = bench.run(strategy);  // 0, 1, 0, 3
  EXPECT_EQ(passes(timeline, DeviceId(0)), "F0 F1 F2 F0 F1 B0 F2 F3 B1 F3 B2 B0 B1 B2 B3");
  EXPECT_EQ(passes(timeline, DeviceId(3)), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST_F(Chain, WhatCannotBeIsRefused) {
  const auto refusal = [&](const Strategy& strategy) {
    return message_of([&] { bench.lower(strategy); });
  };
  EXPECT_NE(refusal(staged({7, PipelineSchedule::Gpipe})).find("do not divide the batch of 24"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              validate(staged({0, PipelineSchedule::Gpipe}), *bench.grouping, *bench.cluster);
            }).find("give at least 1"),
            std::string::npos);
}

// An op that needs all samples, and one that reads a sum over them.
TEST(MicroBatchModels, OpsThatNeedTheWholeBatchAreNamed) {
  for (const bool sums : {false, true}) {
    toy::Model model(8);
    const TensorId x = model.input("x", 4), w = model.parameter("w", 4);
    const TensorId y = model.layer("f", {x, w}, 4);
    const OpId forward = model.last();
    const TensorId dy = model.seed("seed", y);
    const TensorId dw = model.gradient("gw", forward, 1, dy, {x});
    const TensorId out = model.activation("last:0", sums ? Shape{8, 4} : Shape{3});
    const OpId last = model.op("last", "ToyLayer", sums ? std::vector{y, dw} : std::vector{y}, out);
    if (!sums) model.builder().op(last).split = Splittability::None;
    model.update("u", w, dw);
    Bench bench(std::move(model).build(), toy::cluster(1, 2));
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
    bench.lower(strategy);
    strategy.micro_batches.count = 2;
    const std::string message = message_of([&] { bench.lower(strategy); });
    EXPECT_NE(message.find("op \"last\""), std::string::npos) << message;
    EXPECT_NE(message.find(sums ? "sum over the batch" : "all samples"), std::string::npos)
        << message;
  }
}

// A term that is added twice, or before its turn, is seen.
TEST_F(Chain, TheVerifierFollowsWhatIsAddedUp) {
  const auto program = bench.lower(staged({3, PipelineSchedule::Gpipe}));
  std::vector<std::size_t> sums;
  for (std::size_t i = 0; i < program->tasks.size(); ++i)
    if (program->tasks[TaskId(i)].kind == TaskKind::Sum &&
        program->graph->tensor(program->tasks[TaskId(i)].tensor).name == "gw2:0")
      sums.push_back(i);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_NO_THROW(verify(*program));
  Program twice = *program;
  twice.reads.mutable_row(sums[1])[1] = program->reads[sums[0]][1];
  EXPECT_THROW(verify(twice), InvariantError);
  Program lost = *program;
  lost.reads.mutable_row(sums[0])[1] = program->reads[sums[1]][1];
  EXPECT_THROW(verify(lost), InvariantError);
}

}  // namespace
}  // namespace strato
