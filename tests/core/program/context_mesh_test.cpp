// Rows that have the positions of their samples among them: what they exchange and how long they
// compute, with closed forms.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/graph/axes/position_letters.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/moved.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

constexpr std::int64_t kSequences = 8, kTokens = 16, kQueryHeads = 4, kKeyHeads = 2, kEachHead = 8,
                       kModelWidth = kQueryHeads * kEachHead;
constexpr Bytes kResult(kSequences* kTokens* kModelWidth * 4);  // of the layer
// Keys, or values, of the whole batch.
constexpr Bytes kKeyBytes(kSequences* kTokens* kKeyHeads* kEachHead * 4);

// A layer of attention with grouped queries, and a product behind it.
Graph attention_layer() {
  ModelKit kit(kSequences);
  const TensorId x = kit.op("Mul", {kit.input("x", {kSequences, kTokens, kModelWidth}),
                                    kit.weight("scale", {kModelWidth})});
  const auto by_heads = [&](const char* name, std::int64_t heads) {
    const TensorId flat = kit.op("MatMul", {x, kit.weight(name, {kModelWidth, heads * kEachHead})});
    return kit.transpose(kit.reshape(flat, {kSequences, kTokens, heads, kEachHead}), {0, 2, 1, 3});
  };
  const TensorId made = kit.op(
      "Attention", {by_heads("q", kQueryHeads), by_heads("k", kKeyHeads), by_heads("v", kKeyHeads)},
      {{"is_causal", std::int64_t{1}}});
  const TensorId back =
      kit.reshape(kit.transpose(made, {0, 2, 1, 3}), {kSequences, kTokens, kModelWidth});
  kit.op("MatMul", {back, kit.weight("o", {kModelWidth, kModelWidth})});
  return make_training_graph(kit.build(), Optimizer::Adam);
}

// As long as there are products, and nothing beside them that is worth a word.
class ProductCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    const double flops = graph_->op(op).work.flops * static_cast<double>(samples);
    return Nanos(static_cast<std::int64_t>(flops) * 64);
  }
};

class ContextMesh : public testing::Test {
 protected:
  ContextMesh()
      : graph(std::make_shared<const Graph>(attention_layer())),
        cluster(toy::cluster(2, 4)),
        costs(std::make_shared<ProductCosts>(graph, cluster)),
        grouping(std::make_shared<const Grouping>(*graph,
                                                  std::vector<std::int32_t>(graph->op_count(), 0),
                                                  std::vector<Nanos>(graph->op_count(), Nanos(1)))),
        lowering(graph, grouping, cluster, costs) {}

  Program lower(const MeshRoles& roles, std::int32_t micro_batches = 1) {
    Decision decision;
    for (std::size_t d = 0; d < cluster->device_count(); ++d)
      decision.devices.push_back({DeviceId(d), 1});
    decision.roles = roles;
    Strategy strategy;
    strategy.groups.push_back(decision);
    strategy.micro_batches.count = micro_batches;
    LowerOptions options;
    options.verify = true;
    return lowering.lower(strategy, options);
  }

  static Moved between_ops(const Program& program, TaskKind kind) {
    return moved(program, kind, Stream::TensorCommunication);
  }
  Nanos computing(const Program& program, DeviceId device, const std::string& type) const {
    Nanos time;
    for (const Task& task : program.tasks)
      if (task.kind == TaskKind::Compute && task.device == device &&
          graph->op(task.op).type == type)
        time += task.duration;
    return time;
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> costs;
  std::shared_ptr<const Grouping> grouping;
  Lowering lowering;
};

// Dubey et al. 2024, The Llama 3 herd of models, 3.3.2: keys and values are gathered, once in
// each pass, and what the others' queries add to their gradients is scattered. The loss, a mean, is
// of all positions. Nothing else goes between rows but the sums of the weights' gradients.
TEST_F(ContextMesh, KeysAndValuesAreGathered) {
  const Program program = lower({.context = 4});
  const std::multiset<Devices> keys_and_values = {
      {0, 1, 2, 3}, {0, 1, 2, 3}, {4, 5, 6, 7}, {4, 5, 6, 7}};
  const Moved gathered = between_ops(program, TaskKind::AllGather);
  EXPECT_EQ(gathered.members.count({0, 1, 2, 3}), 6u);
  EXPECT_EQ(gathered.members.count({4, 5, 6, 7}), 6u);
  EXPECT_EQ(gathered.bytes, (kKeyBytes * 2 + kResult) * 2);
  const Moved scattered = between_ops(program, TaskKind::ReduceScatter);
  EXPECT_EQ(scattered.members, keys_and_values);
  EXPECT_EQ(scattered.bytes, kKeyBytes * 2);
  for (const TaskKind kind : {TaskKind::AllReduce, TaskKind::AllToAll})
    EXPECT_TRUE(between_ops(program, kind).members.empty());
  for (const Task& task : program.tasks) EXPECT_NE(task.kind, TaskKind::Transfer);
}

// Each of four rows has a quarter of the work of attention, and of the products.
TEST_F(ContextMesh, RowsShareTheWork) {
  const Program alone = lower({}), together = lower({.context = 4});
  for (const char* type : {"Attention", "MatMul"})
    for (std::size_t d = 0; d < cluster->device_count(); ++d) {
      // Alone a row has one sample, together four have four.
      EXPECT_EQ(computing(together, DeviceId(d), type), computing(alone, DeviceId(d), type))
          << type;
      EXPECT_GT(computing(alone, DeviceId(d), type), Nanos(0));
    }
}

// Sums over positions and over samples are one message for all rows.
TEST_F(ContextMesh, GradientsAreSummedUpOnce) {
  const Program alone = lower({}), together = lower({.context = 4});
  const Moved of_alone = moved(alone, TaskKind::AllReduce, Stream::Communication);
  const Moved of_together = moved(together, TaskKind::AllReduce, Stream::Communication);
  EXPECT_EQ(of_alone.members.count({0, 1, 2, 3, 4, 5, 6, 7}), of_alone.members.size());
  EXPECT_EQ(of_together.members, of_alone.members);
  EXPECT_EQ(of_together.bytes, of_alone.bytes);
}

// ... or scattered, and parameters gathered, where rows share states (ZeRO).
TEST_F(ContextMesh, StatesAreSharedByAllRows) {
  const StateSharding states{.stage = 1, .smallest = Bytes(0)};
  const Program alone = lower({.states = states});
  const Program together = lower({.context = 4, .states = states});
  for (const TaskKind kind : {TaskKind::ReduceScatter, TaskKind::AllGather}) {
    const Moved of_alone = moved(alone, kind, Stream::Communication);
    const Moved of_together = moved(together, kind, Stream::Communication);
    EXPECT_FALSE(of_alone.members.empty());
    EXPECT_EQ(of_together.members, of_alone.members);
    EXPECT_EQ(of_together.bytes, of_alone.bytes);
  }
}

// Each micro-batch has samples of its own, and gradients are still summed up once a step.
TEST_F(ContextMesh, MicroBatchesGatherTheirOwn) {
  const Program program = lower({.context = 4}, 2);
  EXPECT_EQ(between_ops(program, TaskKind::AllGather).members.size(), 24u);
  EXPECT_EQ(between_ops(program, TaskKind::AllGather).bytes, (kKeyBytes * 2 + kResult) * 2);
  EXPECT_EQ(moved(program, TaskKind::AllReduce, Stream::Communication).bytes,
            moved(lower({}), TaskKind::AllReduce, Stream::Communication).bytes);
}

// Columns divide what rows leave: two columns of two rows never have more than a half of it.
TEST_F(ContextMesh, ColumnsDivideTheRest) {
  const Program program = lower({.tensor = 2, .context = 2});
  for (const Task& task : program.tasks) {
    if (task.kind != TaskKind::Compute || graph->op(task.op).type != "Attention") continue;
    const Part& part = program.part_of(task);
    std::int64_t share = 1;
    for (const AxisRange& range : part.cuts())
      share *= (range.axis == 1 ? kQueryHeads : kTokens) / range.size();
    EXPECT_EQ(share, 4) << describe(part);
  }
}

// Positions of what weights do not have; of attention also heads, never its size.
TEST_F(ContextMesh, LettersAreNoWeights) {
  const WeightTensors weights = weights_of(*graph);
  std::map<std::string, std::set<std::int64_t>> extents;
  for (const OpId op : graph->ops().ids())
    for (const LetterSplit& split : letter_splits(*graph, op))
      if (may_share_positions(graph->op(op), split, weights))
        extents[graph->op(op).type].insert(split.extent);
  EXPECT_EQ(extents["MatMul"], std::set<std::int64_t>{kTokens});
  EXPECT_EQ(extents["Mul"], std::set<std::int64_t>{kTokens});
  EXPECT_EQ(extents["Attention"], (std::set<std::int64_t>{kKeyHeads, kTokens}));
  EXPECT_TRUE(extents["AdamUpdate"].empty());
}

// What is made of weights alone is one, however many ways there are to it.
TEST(PositionLetters, WeightsAreFoundInOnePass) {
  ModelKit kit(kSequences);
  TensorId weight = kit.weight("w", {kTokens});
  for (int i = 0; i < 2000; ++i) weight = kit.op("Add", {weight, weight});
  const TensorId sum = kit.op("Add", {kit.input("x", {kSequences, kTokens}), weight});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Adam);
  const WeightTensors weights = weights_of(graph);
  EXPECT_TRUE(weights[weight]);
  EXPECT_FALSE(weights[sum]);
}

}  // namespace
}  // namespace strato
