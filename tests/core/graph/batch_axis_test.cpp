#include <gtest/gtest.h>

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

using Integers = std::vector<std::int64_t>;

// The layout of the tensor and the splittability of the op that made it.
std::pair<BatchLayout, Splittability> outcome(ModelKit& kit, TensorId id) {
  const Graph graph = kit.build();
  return {graph.tensor(id).batch, graph.op(graph.tensor(id).producer).split};
}
const std::pair<BatchLayout, Splittability> nowhere = {whole_tensor(), Splittability::None};
std::pair<BatchLayout, Splittability> on_axis(int axis) {
  return {batched_on(axis), Splittability::Concat};
}
const std::pair<BatchLayout, Splittability> summed = {partial_sum(), Splittability::Sum};

TEST(BatchAxis, ReshapeKeepsItWhileTheSamplesAreOutermost) {
  const auto reshaped = [](Shape from, Integers to, int axis = 0) {
    ModelKit kit(4);
    const TensorId x = kit.input("x", std::move(from));
    kit.builder.tensor(x).batch = batched_on(axis);
    const TensorId out = kit.reshape(x, std::move(to));
    return outcome(kit, out);
  };
  EXPECT_EQ(reshaped({4, 6, 5}, {24, 5}), on_axis(0));
  EXPECT_EQ(reshaped({24, 5}, {4, 6, 5}), on_axis(0));
  EXPECT_EQ(reshaped({4, 6, 5}, {1, 4, 30}), on_axis(1));
  EXPECT_EQ(reshaped({6, 4, 5}, {6, 20}, 1), on_axis(1));
  EXPECT_EQ(reshaped({6, 4, 5}, {6, 2, 10}, 1), nowhere);
  EXPECT_EQ(reshaped({6, 4, 10}, {6, 8, 5}, 1), on_axis(1));  // heads join the batch
  EXPECT_EQ(reshaped({4, 6}, {2, 12}), nowhere);              // half a batch per row
}

TEST(BatchAxis, ASequenceMergedWithItIsSeveralRunsOfSamples) {
  ModelKit kit(4);  // attention with the sequence first: [time, batch, hidden]
  const TensorId x = kit.transpose(kit.input("x", {4, 6, 8}), {1, 0, 2});
  const TensorId merged = kit.reshape(x, {24, 8});
  const TensorId projected = kit.op("Gemm", {merged, kit.weight("w", {8, 10})});
  const TensorId apart = kit.reshape(projected, {6, 4, 10});
  const TensorId other = kit.reshape(kit.input("y", {4, 6, 10}), {24, 10});
  const TensorId mixed = kit.op("Add", {projected, other});
  const TensorId lost = kit.reshape(projected, {4, 6, 10});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  const BatchLayout runs = {BatchKind::Batched, 0, 6};
  EXPECT_EQ(graph.tensor(merged).batch, runs);
  EXPECT_EQ(graph.tensor(projected).batch, runs);
  EXPECT_EQ(graph.tensor(apart).batch, batched_on(1));
  EXPECT_EQ(graph.tensor(other).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(mixed).batch, whole_tensor());  // rows of different samples meet
  EXPECT_EQ(graph.tensor(lost).batch, whole_tensor());
}

TEST(BatchAxis, TheLossFollowsMergedSequences) {
  ModelKit kit(4);
  const TensorId x = kit.transpose(kit.input("x", {4, 6, 8}), {1, 0, 2});
  kit.op("Gemm", {kit.reshape(x, {24, 8}), kit.weight("w", {8, 10})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  EXPECT_EQ(only(graph, "GemmGradWeight").split, Splittability::Sum);
  EXPECT_EQ(only(graph, "SoftmaxCrossEntropy").split, Splittability::Sum);
  EXPECT_EQ(tensor_named(graph, "Gemm2:0/label").batch, (BatchLayout{BatchKind::Batched, 0, 6}));
}

TEST(BatchAxis, TransposeMovesIt) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6, 5});
  const TensorId out = kit.transpose(x, {1, 0, 2});
  EXPECT_EQ(outcome(kit, out), on_axis(1));
}

TEST(BatchAxis, ReductionOverIt) {
  const auto reduced = [](std::string type, Integers axes, std::int64_t keep) {
    ModelKit kit(4);
    const TensorId x = kit.input("x", {4, 6, 5});
    const TensorId out =
        kit.op(std::move(type), {x}, {{"axes", std::move(axes)}, {"keepdims", keep}});
    return outcome(kit, out);
  };
  EXPECT_EQ(reduced("ReduceSum", {0}, 0), summed);
  EXPECT_EQ(reduced("ReduceMean", {0, 1, 2}, 0), summed);
  EXPECT_EQ(reduced("ReduceMax", {0}, 0), nowhere);
  EXPECT_EQ(reduced("ReduceMax", {1}, 0), on_axis(0));
  EXPECT_EQ(reduced("ReduceMean", {-1}, 1), on_axis(0));
}

TEST(BatchAxis, ProductsContractIt) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6}), dy = kit.input("dy", {4, 5});
  const TensorId weight_gradient = kit.op("MatMul", {kit.transpose(x, {1, 0}), dy});
  const TensorId gemm = kit.op("Gemm", {x, dy}, {{"transA", std::int64_t{1}}});
  const TensorId scores =
      kit.op("MatMul", {kit.input("q", {4, 2, 7, 3}), kit.input("k", {4, 2, 3, 7})});
  const TensorId crossed = kit.op("MatMul", {x, kit.transpose(kit.input("z", {4, 6}), {1, 0})});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(weight_gradient).batch, partial_sum());
  EXPECT_EQ(graph.tensor(gemm).batch, partial_sum());
  EXPECT_EQ(graph.tensor(scores).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(crossed).batch, whole_tensor());  // every sample with every other
}

TEST(BatchAxis, ElementwiseMixesWholeAndBatched) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6}), bias = kit.weight("b", {6}),
                 scalar = kit.weight("s", {});
  const TensorId sum = kit.op("Add", {kit.op("Mul", {scalar, x}), bias});
  const TensorId row = kit.op("Mul", {kit.weight("m", {1, 6}), x});
  const TensorId table = kit.op("Add", {x, kit.weight("per_sample", {4, 6})});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(sum).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(row).batch, batched_on(0));
  // A parameter with one row per sample cannot be given to shards.
  EXPECT_EQ(graph.tensor(table).batch, whole_tensor());
}

TEST(BatchAxis, LinearOpsPassSumsThroughOthersNeedTheFullSum) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6}), w = kit.weight("w", {6});
  const auto sum = [&] {
    return kit.op("ReduceSum", {x}, {{"axes", Integers{0}}, {"keepdims", std::int64_t{0}}});
  };
  const TensorId a = sum(), b = sum();
  const TensorId added = kit.op("Add", {a, b}), scaled = kit.op("Mul", {a, w});
  const TensorId negated = kit.op("Neg", {a}), divided = kit.op("Div", {a, w});
  const TensorId squared = kit.op("Mul", {a, b}), root = kit.op("Sqrt", {a});
  const TensorId inverse = kit.op("Div", {w, a}), shifted = kit.op("Add", {a, w});
  const TensorId mixed = kit.op("Add", {x, a});
  const Graph graph = kit.build();
  for (const TensorId id : {added, scaled, negated, divided}) {
    EXPECT_EQ(graph.tensor(id).batch, partial_sum()) << graph.tensor(id).name;
  }
  for (const TensorId id : {squared, root, inverse, shifted, mixed}) {
    EXPECT_EQ(graph.tensor(id).batch, whole_tensor()) << graph.tensor(id).name;
    EXPECT_EQ(graph.op(graph.tensor(id).producer).split, Splittability::None);
  }
}

TEST(BatchAxis, ParametersAloneAreWhole) {
  ModelKit kit(4);
  const TensorId w = kit.weight("w", {4, 6});  // the batch size by chance
  const TensorId out = kit.op("Tanh", {w});
  EXPECT_EQ(outcome(kit, out), nowhere);
}

TEST(BatchAxis, AnExpandedTokenFollowsTheBatchWhenItsReaderAsksForIt) {
  ModelKit kit(4);  // the class token of a vision transformer
  const TensorId patches = kit.input("x", {4, 10, 8});
  const TensorId token =
      kit.op("Expand", {kit.weight("token", {1, 1, 8}), kit.constant("shape", {4, 1, 8})});
  const TensorId joined = kit.op("Concat", {token, patches}, {{"axis", std::int64_t{1}}});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(token).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(joined).batch, batched_on(0));
}

TEST(BatchAxis, ConstantsOfTheBatchSizeAreSliced) {
  ModelKit kit(4);
  const TensorId mask = kit.tensor("mask", TensorRole::Constant, {4, 6});
  const TensorId out = kit.op("Add", {kit.input("x", {4, 6}), mask});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(out).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(mask).batch, batched_on(0));
}

// A mask for each sample and head, made of nothing but a shape and constants.
TensorId mask_of_shapes(ModelKit& kit) {
  const TensorId ones = kit.shaped("ConstantOfShape", {kit.constant("shape", {4, 6})}, {{4, 6}});
  const TensorId hidden = kit.op("Mul", {ones, kit.tensor("least", TensorRole::Constant, {})});
  const TensorId rows = kit.op(
      "Expand", {kit.tensor("row", TensorRole::Constant, {1, 6}), kit.constant("shape", {4, 6})});
  const TensorId mask = kit.reshape(kit.op("Add", {hidden, rows}), {4, 1, 1, 6});
  const TensorId heads = kit.op("Expand", {mask, kit.constant("shape", {4, 2, 6, 6})});
  return kit.reshape(heads, {8, 6, 6});
}

TEST(BatchAxis, WhatIsMadeOfShapesIsMadeSliceBySlice) {
  ModelKit kit(4);
  const TensorId scores = kit.reshape(kit.input("x", {4, 2, 6, 6}), {8, 6, 6});
  const TensorId mask = mask_of_shapes(kit);
  const TensorId masked = kit.op("Add", {scores, mask});
  const TensorId back = kit.reshape(masked, {4, 2, 6, 6});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(mask).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(back).batch, batched_on(0));
  for (const Op& op : graph.ops()) EXPECT_EQ(op.split, Splittability::Concat) << op.name;
}

TEST(BatchAxis, PositionsOfEachSampleAreLookedUpSliceBySlice) {
  ModelKit kit(4);
  const TensorId positions = kit.tensor("positions", TensorRole::Constant, {4, 6}, DataType::I64);
  const TensorId found = kit.op("Gather", {kit.weight("table", {9, 8}), positions});
  const TensorId sum = kit.op("Add", {kit.input("x", {4, 6, 8}), found});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(positions).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(found).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(sum).batch, batched_on(0));
}

TEST(BatchAxis, EachOfManyLayersMayHaveItsOwnMask) {
  ModelKit kit(4);
  TensorId x = kit.input("x", {4, 6});
  for (int layer = 0; layer < 100; ++layer)
    x = kit.op("Add", {x, kit.op("Neg", {kit.shaped("ConstantOfShape",
                                                    {kit.constant("shape", {4, 6})}, {{4, 6}})})});
  EXPECT_EQ(outcome(kit, x), on_axis(0));
}

TEST(BatchAxis, WhatIsMadeOfAParameterWithARowForEachSampleIsWhole) {
  ModelKit kit(4);
  const TensorId mask = kit.op("Neg", {kit.weight("per_sample", {4, 6})});
  const TensorId constant = kit.tensor("constant", TensorRole::Constant, {4, 6});
  const TensorId both = kit.op("Mul", {constant, mask});
  const TensorId sum = kit.op("Add", {kit.input("x", {4, 6}), both});
  const Graph graph = kit.build();
  for (const TensorId id : {mask, constant, both, sum})
    EXPECT_EQ(graph.tensor(id).batch, whole_tensor()) << graph.tensor(id).name;
}

TEST(BatchAxis, SequenceModelsCarryItOnAxisOne) {
  ModelKit kit(4);
  const TensorId x = kit.transpose(kit.input("x", {4, 9, 8}), {1, 0, 2});
  const TensorId zeros = kit.tensor("h0", TensorRole::Constant, {1, 4, 5});
  const TensorId y = kit.op("LSTM",
                            {x, kit.weight("w", {1, 20, 8}), kit.weight("r", {1, 20, 5}),
                             TensorId(), TensorId(), zeros, zeros},
                            {}, 3);
  const Graph graph = kit.build();
  const Op& lstm = only(graph, "LSTM");
  EXPECT_EQ(graph.tensor(y).batch, batched_on(2));
  EXPECT_EQ(graph.tensor(lstm.outputs[1]).batch, batched_on(1));
  EXPECT_EQ(graph.tensor(lstm.outputs[2]).batch, batched_on(1));
  EXPECT_EQ(lstm.split, Splittability::Concat);
}

TEST(BatchAxis, SoftmaxOverItCannotBeSplit) {
  for (const std::int64_t axis : {0, 1}) {
    ModelKit kit(4);
    const TensorId out = kit.op("Softmax", {kit.input("x", {4, 6})}, {{"axis", axis}});
    EXPECT_EQ(outcome(kit, out), axis == 0 ? nowhere : on_axis(0));
  }
}

TEST(BatchAxis, GatherAlongIndicesAndData) {
  ModelKit kit(4);
  const TensorId embedded =
      kit.op("Gather", {kit.weight("table", {100, 8}), kit.input("ids", {4, 6}, DataType::I64)});
  const TensorId first =
      kit.op("Gather", {embedded, kit.tensor("zero", TensorRole::Constant, {}, DataType::I64)},
             {{"axis", std::int64_t{1}}});
  const TensorId sample =
      kit.op("Gather", {embedded, kit.tensor("one", TensorRole::Constant, {}, DataType::I64)},
             {{"axis", std::int64_t{0}}});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(embedded).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(first).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(first).shape, (Shape{4, 8}));
  EXPECT_EQ(graph.tensor(sample).batch, whole_tensor());
}

TEST(BatchAxis, BatchNormalizationSplitsByConvention) {
  ModelKit kit(4);  // as many channels as samples
  const TensorId x = kit.input("x", {4, 4, 5, 5});
  const TensorId c = kit.weight("c", {4});
  const TensorId y = kit.shaped("BatchNormalization", {x, c, c, c, c}, {{4, 4, 5, 5}, {4}, {4}},
                                {{"training_mode", std::int64_t{1}}});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(y).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(graph.op(OpId(0)).outputs[1]).batch, whole_tensor());
}

// A shape from a file that does not fit the op: not splittable, and nothing is read out of range.
TEST(BatchAxis, AResultWithoutTheAxisIsWhole) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 8});
  kit.shaped("Relu", {x}, {{}});
  kit.shaped("Odd", {x}, {{3, 8}});
  const Graph graph = kit.build();
  for (const Op& op : graph.ops()) EXPECT_EQ(op.split, Splittability::None) << op.name;
}

}  // namespace
}  // namespace strato
