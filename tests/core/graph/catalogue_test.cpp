#include <gtest/gtest.h>

#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

using Integers = std::vector<std::int64_t>;

TEST(Catalogue, ConvolutionClosedForm) {
  ModelKit kit(8);  // VGG-19's first layer
  kit.op("Conv",
         {kit.input("x", {8, 3, 224, 224}), kit.weight("w", {64, 3, 3, 3}), kit.weight("b", {64})},
         {{"pads", Integers{1, 1, 1, 1}}, {"strides", Integers{1, 1}}});
  const Graph graph = kit.build();
  const Op& op = graph.op(OpId(0));
  EXPECT_EQ(graph.tensor(op.outputs[0]).shape, (Shape{8, 64, 224, 224}));
  EXPECT_EQ(op.work.flops, 2.0 * 8 * 64 * 224 * 224 * 3 * 3 * 3);
  EXPECT_EQ(op.work.batch_bytes.value, 4 * (8 * 3 * 224 * 224 + 8 * 64 * 224 * 224));
  EXPECT_EQ(op.work.fixed_bytes.value, 4 * (64 * 27 + 64));
  EXPECT_EQ(op.family, OpFamily::Convolution);
}

TEST(Catalogue, DepthwiseAndTransposedConvolution) {
  ModelKit kit(2);
  const TensorId x = kit.input("x", {2, 32, 16, 16});
  kit.op(
      "Conv", {x, kit.weight("w", {32, 1, 3, 3})},
      {{"group", std::int64_t{32}}, {"strides", Integers{2, 2}}, {"pads", Integers{1, 1, 1, 1}}});
  kit.op("ConvTranspose", {x, kit.weight("v", {32, 8, 4, 4})},
         {{"strides", Integers{2, 2}}, {"pads", Integers{1, 1, 1, 1}}});
  const Graph graph = kit.build();
  const Op &depthwise = graph.op(OpId(0)), &transposed = graph.op(OpId(1));
  EXPECT_EQ(graph.tensor(depthwise.outputs[0]).shape, (Shape{2, 32, 8, 8}));
  EXPECT_EQ(depthwise.work.flops, 2.0 * 2 * 32 * 8 * 8 * 9);
  EXPECT_EQ(graph.tensor(transposed.outputs[0]).shape, (Shape{2, 8, 32, 32}));
  EXPECT_EQ(transposed.work.flops, 2.0 * (2 * 32 * 16 * 16) * (8 * 4 * 4));
}

TEST(Catalogue, ProductsClosedForm) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 100});
  kit.op("Gemm", {x, kit.weight("w", {30, 100}), kit.weight("b", {30})},
         {{"transB", std::int64_t{1}}});
  const TensorId q = kit.input("q", {4, 12, 128, 64}), k = kit.input("k", {4, 12, 64, 128});
  kit.op("MatMul", {q, k});
  kit.op("Einsum", {q, k}, {{"equation", std::string("bhid, bhdj -> bhij")}});
  kit.op("MatMul", {kit.input("v", {4, 7, 5}), kit.weight("u", {5})});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.op(OpId(0)).work.flops, 2.0 * 4 * 30 * 100);
  EXPECT_EQ(graph.op(OpId(1)).work.flops, 2.0 * 4 * 12 * 128 * 128 * 64);
  EXPECT_EQ(graph.op(OpId(2)).work.flops, graph.op(OpId(1)).work.flops);
  EXPECT_EQ(graph.tensor(graph.op(OpId(2)).outputs[0]).shape, (Shape{4, 12, 128, 128}));
  EXPECT_EQ(graph.tensor(graph.op(OpId(3)).outputs[0]).shape, (Shape{4, 7}));
}

TEST(Catalogue, AttentionClosedForm) {
  ModelKit kit(2);
  const TensorId q = kit.input("q", {2, 7, 12 * 64}), k = kit.input("k", {2, 9, 12 * 64});
  kit.op("MultiHeadAttention", {q, k, kit.input("v", {2, 9, 12 * 32})},
         {{"num_heads", std::int64_t{12}}});
  kit.op("Attention", {q, k, k},
         {{"q_num_heads", std::int64_t{12}}, {"kv_num_heads", std::int64_t{12}}});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.op(OpId(0)).work.flops, 2.0 * 12 * 7 * 9 * (2 * 64 + 2 * 32 + 13));
  EXPECT_EQ(graph.tensor(graph.op(OpId(0)).outputs[0]).shape, (Shape{2, 7, 12 * 32}));
  EXPECT_EQ(graph.op(OpId(1)).work.flops, 2.0 * 12 * 7 * 9 * (4 * 64 + 13));
  EXPECT_EQ(graph.tensor(graph.op(OpId(1)).outputs[0]).shape, (Shape{2, 7, 12 * 64}));
}

// Pairs of a query and a key that a causal attention looks at, counted one by one; keys of before
// are seen by all.
TEST(Catalogue, CausalAttentionLooksBackOnly) {
  for (const std::int64_t past : {0, 3})
    for (const std::int64_t queries : {1, 4, 7})
      for (const std::int64_t keys : {1, 4, 9}) {
        ModelKit kit(1);
        const TensorId q = kit.input("q", {1, 2, queries, 8}), k = kit.input("k", {1, 2, keys, 8});
        std::vector<TensorId> inputs = {q, k, k};
        if (past > 0) {
          const TensorId before = kit.input("past", {1, 2, past, 8});
          inputs.insert(inputs.end(), {TensorId(), before, before});
        }
        kit.op("Attention", inputs, {{"is_causal", std::int64_t{1}}});
        double pairs = 0;
        for (std::int64_t i = 0; i < queries; ++i)
          pairs += double(std::min(past + keys, past + i + 1));
        EXPECT_EQ(kit.build().op(OpId(0)).work.flops, 2 * pairs * (4 * 8 + 13))
            << past << ' ' << queries << ' ' << keys;
      }
}

// What cannot be kept has no shape; nor has what is kept of an axis that is not there.
TEST(Catalogue, TopKKeepsWhatThereIs) {
  const auto kept = [](std::int64_t count, std::int64_t axis) {
    ModelKit kit(2);
    Op op;
    op.type = "TopK";
    op.inputs = {kit.input("x", {2, 5, 3}), kit.constant("k", {count})};
    op.attributes = {{"axis", axis}};
    const auto types = infer_output_shapes(op, kit.builder.tensors());
    return types.empty() ? Shape{} : types[0].shape;
  };
  EXPECT_EQ(kept(2, 1), (Shape{2, 2, 3}));
  EXPECT_EQ(kept(0, -1), (Shape{2, 5, 0}));
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{6}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(kept(count, 1), Shape{}) << count;
  EXPECT_EQ(kept(1, 3), Shape{});
}

// Of the scores, [batch, heads, positions, positions], nothing is kept for the backward pass: a
// number a row is. That is computed again, so it takes five products for the two of the forward.
TEST(Catalogue, AttentionKeepsNoScores) {
  ModelKit kit(2);
  const auto w = [&](const char* name) { return kit.weight(name, {2, 4, 100, 8}); };
  kit.op("ReduceMean", {kit.op("Attention", {w("q"), w("k"), w("v")})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  const auto op = [&](std::string_view type) {
    return *std::ranges::find(graph.ops(), type, &Op::type);
  };
  const Op forward = op("Attention"), backward = op("AttentionGrad");
  ASSERT_EQ(forward.outputs.size(), 2U);
  EXPECT_EQ(graph.tensor(forward.outputs[1]).shape, (Shape{2, 4, 100}));
  EXPECT_EQ(backward.work.flops, 2.5 * forward.work.flops);
  for (const TensorId input : backward.inputs)
    EXPECT_LE(graph.tensor(input).elements(), 2 * 4 * 100 * 8);
}

TEST(Catalogue, SignalsAndPlaces) {
  ModelKit kit(2);
  const TensorId x = kit.input("x", {2, 400, 1});
  kit.op("STFT", {x, kit.constant("step", {100}), kit.weight("window", {200})});
  kit.op("DFT", {x}, {{"onesided", std::int64_t{1}}});
  kit.op("MaxUnpool", {kit.input("p", {2, 4, 4, 4}), kit.input("at", {2, 4, 4, 4}, DataType::I64)},
         {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
  kit.op("DeformConv",
         {kit.input("y", {2, 3, 8, 8}), kit.weight("w", {8, 3, 3, 3}),
          kit.input("offsets", {2, 18, 8, 8})},
         {{"pads", Integers{1, 1, 1, 1}}});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.tensor(graph.op(OpId(0)).outputs[0]).shape, (Shape{2, 3, 101, 2}));
  EXPECT_EQ(graph.tensor(graph.op(OpId(1)).outputs[0]).shape, (Shape{2, 201, 2}));
  EXPECT_EQ(graph.tensor(graph.op(OpId(2)).outputs[0]).shape, (Shape{2, 4, 8, 8}));
  EXPECT_EQ(graph.tensor(graph.op(OpId(3)).outputs[0]).shape, (Shape{2, 8, 8, 8}));
  for (const Op& op : graph.ops()) EXPECT_EQ(op.split, Splittability::Concat) << op.name;
}

TEST(Catalogue, RecurrentClosedForm) {
  ModelKit kit(16);
  const std::int64_t steps = 35, in = 200, hidden = 100;
  kit.op("LSTM",
         {kit.input("x", {steps, 16, in}), kit.weight("w", {1, 4 * hidden, in}),
          kit.weight("r", {1, 4 * hidden, hidden})},
         {}, 3);
  const Graph graph = kit.build();
  EXPECT_EQ(graph.op(OpId(0)).work.flops, 2.0 * 35 * 16 * 4 * 100 * (200 + 100));
  EXPECT_GT(graph.op(OpId(0)).work.kernels, 35);
}

TEST(Catalogue, AnEmbeddingReadsOnlyItsRows) {
  ModelKit kit(2);
  kit.op("Gather", {kit.weight("table", {30'000, 64}), kit.input("ids", {2, 10}, DataType::I64)});
  const Op op = kit.build().op(OpId(0));
  EXPECT_EQ(op.work.fixed_bytes.value, 0);
  EXPECT_EQ(op.work.batch_bytes.value, 2 * 10 * 8 + 2 * (2 * 10 * 64 * 4));
  EXPECT_EQ(op.family, OpFamily::Embedding);
}

TEST(Catalogue, ViewsAreFree) {
  ModelKit kit(2);
  kit.reshape(kit.input("x", {2, 3, 4}), {0, -1});
  const Graph graph = kit.build();
  const Op& op = graph.op(OpId(0));
  EXPECT_TRUE(op.view);
  EXPECT_EQ(op.work.kernels, 0);
  EXPECT_EQ(op.work.batch_bytes.value + op.work.fixed_bytes.value, 0);
  EXPECT_EQ(graph.tensor(op.outputs[0]).shape, (Shape{2, 12}));
}

TEST(Catalogue, UnknownTypesAreMarkedAsEstimated) {
  ModelKit kit(4);
  kit.op("MyCustomOp", {kit.input("x", {4, 8}), kit.weight("w", {8})});
  const Graph graph = kit.build();
  EXPECT_TRUE(graph.op(OpId(0)).estimated);
  EXPECT_EQ(graph.op(OpId(0)).work.flops, 32);
  EXPECT_EQ(graph.op(OpId(0)).split, Splittability::Concat);
}

TEST(Catalogue, KnowsTheTypesOfCommonExports) {
  for (const char* type : {"Abs",
                           "Add",
                           "And",
                           "ArgMax",
                           "AveragePool",
                           "BatchNormalization",
                           "Cast",
                           "Clip",
                           "Concat",
                           "Constant",
                           "ConstantOfShape",
                           "Conv",
                           "ConvTranspose",
                           "Cos",
                           "CumSum",
                           "DepthToSpace",
                           "DequantizeLinear",
                           "Div",
                           "Dropout",
                           "Einsum",
                           "Elu",
                           "Equal",
                           "Erf",
                           "Exp",
                           "Expand",
                           "Flatten",
                           "Floor",
                           "GRU",
                           "Gather",
                           "GatherElements",
                           "GatherND",
                           "Gelu",
                           "Gemm",
                           "GlobalAveragePool",
                           "GlobalMaxPool",
                           "Greater",
                           "GroupNormalization",
                           "HardSigmoid",
                           "HardSwish",
                           "Identity",
                           "InstanceNormalization",
                           "LRN",
                           "LSTM",
                           "LayerNormalization",
                           "LeakyRelu",
                           "Less",
                           "Log",
                           "LogSoftmax",
                           "LpPool",
                           "MatMul",
                           "Max",
                           "MaxPool",
                           "Mean",
                           "Min",
                           "Mish",
                           "Mod",
                           "Mul",
                           "Neg",
                           "NegativeLogLikelihoodLoss",
                           "NonZero",
                           "Not",
                           "OneHot",
                           "Or",
                           "PRelu",
                           "Pad",
                           "Pow",
                           "RNN",
                           "RandomNormalLike",
                           "Range",
                           "Reciprocal",
                           "ReduceL2",
                           "ReduceMax",
                           "ReduceMean",
                           "ReduceProd",
                           "ReduceSum",
                           "Relu",
                           "Reshape",
                           "Resize",
                           "Round",
                           "ScatterElements",
                           "ScatterND",
                           "Selu",
                           "Shape",
                           "Sigmoid",
                           "Sign",
                           "Sin",
                           "Size",
                           "Slice",
                           "Softmax",
                           "SoftmaxCrossEntropyLoss",
                           "Softplus",
                           "Split",
                           "Sqrt",
                           "Squeeze",
                           "Sub",
                           "Sum",
                           "Tanh",
                           "Tile",
                           "TopK",
                           "Transpose",
                           "Trilu",
                           "Unsqueeze",
                           "Upsample",
                           "Where",
                           "Xor"}) {
    EXPECT_NE(find_rule(type), nullptr) << type;
  }
}

}  // namespace
}  // namespace strato
