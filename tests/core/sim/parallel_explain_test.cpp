// What pipelines and meshes cost, with closed forms: the bubble by stage, exchanges between
// columns.
#include <gtest/gtest.h>

#include "core/graph/train/training_graph.h"
#include "core/sim/explain/column_exchanges.h"
#include "core/sim/explain/stage_waits.h"
#include "core/sim/explain/why.h"
#include "core/sim/timeline/spans.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/mixture.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

TEST(Spans, AreUnitedAndCompared) {
  const auto span = [](int begin, int end) { return Span{Nanos(begin), Nanos(end)}; };
  const Spans some = united({span(5, 9), span(0, 2), span(1, 3), span(9, 10)});
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[1].begin, Nanos(5));
  EXPECT_EQ(some[1].end, Nanos(10));
  EXPECT_EQ(length(some), Nanos(3 + 5));
  EXPECT_EQ(overlap(some, {span(2, 6), span(8, 20)}), Nanos(1 + 1 + 2));
  EXPECT_EQ(overlap(some, {}), Nanos(0));
}

// A pass of a stage takes kSample a sample, forward and backward; all else is next to nothing.
class PassCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  static constexpr std::int64_t kSample = 1'000'000;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const std::string& name = graph_->op(op).name;
    const bool is_pass = name[0] == 'f' || name.starts_with("gx") || name == "gw1";
    return Nanos(is_pass ? kSample * samples : 1);
  }
  Nanos transfer(const Path&, Bytes) const override { return Nanos(1); }
};

// A chain of layers, each a stage on a device of its own.
class StageWaits : public testing::Test {
 protected:
  static constexpr int kStages = 4;
  static constexpr std::int64_t kBatch = 24;

  StageWaits()
      : bench(toy::training_chain(kBatch, kStages, 5), toy::cluster(1, 4),
              toy::layer_groups(kStages)),
        lowering(bench.graph, bench.grouping, bench.cluster,
                 std::make_shared<PassCosts>(bench.graph, bench.cluster)) {}

  Strategy staged(MicroBatches micro_batches, const std::vector<std::vector<int>>& devices) const {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
    for (int stage = 0; stage < kStages; ++stage)
      strategy.groups[bench.group("f" + std::to_string(stage + 1))] =
          toy::Bench::decision(Mode::ReplicateAllReduce, devices[static_cast<std::size_t>(stage)]);
    strategy.micro_batches = micro_batches;
    return strategy;
  }
  Timeline run(const Strategy& strategy) {
    return bench.simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
  }
  static std::vector<std::vector<std::size_t>> devices_of(const std::vector<StageWait>& waits) {
    std::vector<std::vector<std::size_t>> result;
    for (const StageWait& wait : waits) {
      result.emplace_back();
      for (const DeviceId device : wait.devices) result.back().push_back(device.index());
    }
    return result;
  }

  toy::Bench bench;
  Lowering lowering;
};

using Devices = std::vector<std::vector<std::size_t>>;

// Huang et al. 2019, 3, and Narayanan et al. 2021, 2.2: (p - 1) / (m + p - 1) of the step, of which
// stage s of p waits s passes forward and s backward while the pipeline fills and drains.
TEST_F(StageWaits, AreTheBubbleOfThePapers) {
  for (const std::int32_t m : {4, 8, 24})
    for (const auto schedule : {PipelineSchedule::Gpipe, PipelineSchedule::OneFOneB}) {
      SCOPED_TRACE(std::string(name_of(schedule)) + " " + std::to_string(m));
      const Timeline timeline = run(staged({m, schedule}, {{0}, {1}, {2}, {3}}));
      const std::vector<StageWait> waits = stage_waits(timeline);
      ASSERT_EQ(devices_of(waits), (Devices{{0}, {1}, {2}, {3}}));
      const double pass = static_cast<double>(PassCosts::kSample) * kBatch / m;
      EXPECT_NEAR(static_cast<double>(timeline.step_time.value), 2 * pass * (m + kStages - 1),
                  1e-3 * pass);
      for (int s = 0; s < kStages; ++s) {
        const StageWait& wait = waits[static_cast<std::size_t>(s)];
        EXPECT_NEAR(wait.all() / timeline.step_time, (kStages - 1.0) / (m + kStages - 1.0), 1e-4);
        EXPECT_NEAR(static_cast<double>(wait.before.value), s * pass, 1e-3 * pass);
        EXPECT_NEAR(static_cast<double>(wait.after.value), s * pass, 1e-3 * pass);
      }
    }
}

TEST_F(StageWaits, AreSaidInWords) {
  const Timeline timeline = run(staged({8, PipelineSchedule::OneFOneB}, {{0}, {1}, {2}, {3}}));
  const std::string text = why(timeline, {}, {}).text();
  EXPECT_NE(text.find("Stage 1 waits 27 % of the step for other stages, stage 2 27 %, stage 3 27 % "
                      "and stage 4 27 %; on average 7 % until their first task, 14 % between their "
                      "tasks and 7 % after the last."),
            std::string::npos)
      << text;
}

// Micro-batches of one stage have no bubble; a step in one micro-batch is no pipeline.
TEST_F(StageWaits, AreOfPipelinesAlone) {
  const MicroBatches four{4, PipelineSchedule::OneFOneB};
  const std::vector<int> all = {0, 1, 2, 3};
  const Timeline together = run(staged(four, {all, all, all, all}));
  EXPECT_TRUE(stage_waits(together).empty());
  EXPECT_EQ(why(together, {}, {}).text().find("other stages"), std::string::npos);
  EXPECT_TRUE(stage_waits(run(staged({}, {{0}, {1}, {2}, {3}}))).empty());
}

// Those of several devices, and one that others come back to.
TEST_F(StageWaits, DevicesOfAStageAreTakenTogether) {
  const MicroBatches four{4, PipelineSchedule::OneFOneB};
  const Timeline pairs = run(staged(four, {{0, 1}, {0, 1}, {2, 3}, {2, 3}}));
  const std::vector<StageWait> waits = stage_waits(pairs);
  EXPECT_EQ(devices_of(waits), (Devices{{0, 1}, {2, 3}}));
  EXPECT_EQ(devices_of(stage_waits(run(staged(four, {{0}, {1}, {0}, {3}})))),
            (Devices{{0}, {1}, {3}}));
  // The gradients of a stage are reduced on its own devices: no waiting for others.
  for (const StageWait& wait : waits)
    EXPECT_NEAR(wait.all() / pairs.step_time, 1.0 / (4 + 1), 1e-3);
}

// Products take time, so that it pays to share them.
class ProductCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t) const override {
    return Nanos(graph_->op(op).family == OpFamily::MatMul ? 5000 : 1);
  }
};

constexpr std::int64_t kSamples = 4, kNarrow = 8, kWide = 32;
constexpr int kBlocks = 2;
constexpr std::int64_t kAllReduce = 100 + kSamples * kNarrow * 4;  // toy::Costs

// Blocks of two products with a residual connection, on one row of `columns` devices.
Timeline blocks(bool trained, int columns) {
  ModelKit kit(kSamples);
  TensorId x = kit.input("x", {kSamples, kNarrow});
  for (int block = 0; block < kBlocks; ++block) {
    const std::string name = "w" + std::to_string(block);
    const TensorId up = kit.op("MatMul", {x, kit.weight(name + "up", {kNarrow, kWide})});
    const TensorId inner = kit.op("Relu", {up});
    x = kit.op("Add", {x, kit.op("MatMul", {inner, kit.weight(name + "down", {kWide, kNarrow})})});
  }
  const Graph model = kit.build();
  const auto graph =
      std::make_shared<const Graph>(trained ? make_training_graph(model, Optimizer::Adam) : model);
  const auto cluster = toy::cluster(1, 4);
  const auto grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  Lowering lowering(graph, grouping, cluster, std::make_shared<ProductCosts>(graph, cluster));
  Strategy strategy;
  strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  strategy.groups.back()->roles.tensor = columns;
  Simulator simulator;
  return simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
}

// Shoeybi et al. 2019, 3: an AllReduce a block and pass; forward, nothing else is to be done.
TEST(ColumnExchanges, OfAForwardPassAreOneAllReduceABlock) {
  const Timeline timeline = blocks(false, 4);
  const ColumnExchanges exchanges = column_exchanges(timeline);
  EXPECT_EQ(exchanges.tasks, kBlocks);
  EXPECT_EQ(exchanges.taken, Nanos(kBlocks * kAllReduce));
  EXPECT_EQ(exchanges.exposed, exchanges.taken);
  const std::string text = why(timeline, {}, {}).text();
  EXPECT_NE(text.find("Devices that compute ops together exchange their parts for"),
            std::string::npos)
      << text;
}

// The gradients of weights are computed meanwhile; they are exchanged by nobody.
TEST(ColumnExchanges, OfTrainingAreHiddenInPart) {
  const ColumnExchanges exchanges = column_exchanges(blocks(true, 4));
  EXPECT_EQ(exchanges.tasks, 2 * kBlocks - 1);  // the input has no gradient
  EXPECT_EQ(exchanges.taken, Nanos((2 * kBlocks - 1) * kAllReduce));
  EXPECT_LT(exchanges.exposed, exchanges.taken);
  EXPECT_GE(exchanges.exposed, Nanos(kBlocks * kAllReduce));
}

// In two rows the sums over samples of a column's gradients are no exchanges of parts.
TEST(ColumnExchanges, SumsOverSamplesAreNone) {
  const ColumnExchanges exchanges = column_exchanges(blocks(true, 2));
  EXPECT_EQ(exchanges.tasks, 2 * (2 * kBlocks - 1));  // in each row
  const Timeline plain = blocks(true, 1);
  EXPECT_EQ(column_exchanges(plain).tasks, 0);
  EXPECT_EQ(column_exchanges(plain).taken, Nanos(0));
  EXPECT_EQ(why(plain, {}, {}).text().find("exchange their parts"), std::string::npos);
}

// Of one row: nothing else is done while tokens are on their way forward.
TEST(ExpertExchanges, AreToldApartFromThoseOfColumns) {
  const auto graph = std::make_shared<const Graph>(small_mixture());
  const auto cluster = toy::cluster(1, 4);
  const auto grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  Lowering lowering(graph, grouping, cluster, std::make_shared<toy::Costs>(graph, cluster));
  Strategy strategy;
  strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  strategy.groups.back()->roles.expert = 4;
  Simulator simulator;
  const Timeline timeline =
      simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
  const ColumnExchanges exchanges = expert_exchanges(timeline);
  EXPECT_EQ(exchanges.tasks, 4);
  EXPECT_EQ(exchanges.taken, Nanos(4 * (100 + kDispatched.value)));
  EXPECT_GE(exchanges.exposed, Nanos(2 * (100 + kDispatched.value)));
  EXPECT_EQ(column_exchanges(timeline).tasks, 0);
  EXPECT_NE(why(timeline, {}, {}).text().find("Tokens are on their way to experts and back"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
