#include "core/graph/axes/letter_splits.h"

#include <gtest/gtest.h>

#include <ostream>

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {

void PrintTo(const LetterSplit& split, std::ostream* to) {
  *to << split.letter << ":" << split.extent << " in";
  for (const int axis : split.inputs) *to << " " << axis;
  *to << " out";
  for (const int axis : split.outputs) *to << " " << axis;
}

namespace {

using Integers = std::vector<std::int64_t>;
using Splits = std::vector<LetterSplit>;
constexpr int A = kAllOf, S = kSummed;

Splits splits_of(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (graph.op(OpId(i)).name == name || graph.op(OpId(i)).type == name)
      return letter_splits(graph, OpId(i));
  throw std::logic_error("no " + std::string(name));
}

Graph training_of(ModelKit& kit) { return make_training_graph(kit.build(), Optimizer::Adam); }

Attribute number(std::int64_t value) { return value; }

// A result that needs a gradient, so that gradients of what reads it are made.
TensorId made(ModelKit& kit, Shape shape) {
  return kit.op("Relu", {kit.op("Add", {kit.input("x", shape), kit.weight("shift", {1})})});
}

// ---- products

TEST(LetterSplits, ProductsByColumnsRowsAndWhatTheySumOver) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 7, 6});
  kit.op("MatMul", {x, kit.weight("w", {6, 10})});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "MatMul"),
            (Splits{{'k', 6, {2, 0}, {S}}, {'m', 7, {1, A}, {1}}, {'n', 10, {A, 1}, {2}}}));
  // dy, w: what a column gives is a share of the gradient.
  EXPECT_EQ(splits_of(graph, "MatMulGradA"),
            (Splits{{'k', 6, {A, 0}, {2}}, {'m', 7, {1, A}, {1}}, {'n', 10, {2, 1}, {S}}}));
  // dy, x
  EXPECT_EQ(splits_of(graph, "MatMulGradB"),
            (Splits{{'k', 6, {A, 2}, {0}}, {'m', 7, {1, 1}, {S}}, {'n', 10, {2, A}, {1}}}));
  EXPECT_EQ(splits_of(graph, "w/update"),
            (Splits{{'a', 6, {0, 0, 0, 0}, {}}, {'b', 10, {1, 1, 1, 1}, {}}}));
}

// The sum of what two products give a tensor they both read, each a sum over its own columns.
TEST(LetterSplits, SumsOfSums) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 7, 6});
  kit.op("MatMul", {x, kit.weight("narrow", {6, 10})});
  kit.op("MatMul", {x, kit.weight("wide", {6, 15})});
  const Graph graph = training_of(kit);
  const Splits splits = splits_of(graph, "AddN");
  ASSERT_EQ(splits.size(), 3u);  // two axes, and
  EXPECT_EQ(splits.back(), (LetterSplit{'{', 5, {kSumOver + 2, kSumOver + 2}, {S}}));
  // Not of a sum and a copy.
  ModelKit mixed(4);
  const TensorId y = made(mixed, {4, 7, 6});
  mixed.op("Add", {y, mixed.op("MatMul", {y, mixed.weight("w", {6, 6})})});
  const Graph residual = training_of(mixed);
  for (const LetterSplit& split : splits_of(residual, "AddN")) EXPECT_NE(split.outputs.front(), S);
}

TEST(LetterSplits, ProductsOfHeads) {
  ModelKit kit(4);
  const TensorId q = made(kit, {4, 12, 7, 8});
  kit.op("MatMul", {q, kit.weight("shared", {1, 8, 5})});
  kit.op("Einsum", {q, kit.weight("k", {12, 8, 5})}, {{"equation", std::string("bhid,hdj->bhij")}});
  const Graph graph = training_of(kit);
  // The gradient of what all heads share sums over them.
  EXPECT_EQ(splits_of(graph, "MatMul").front(), (LetterSplit{'B', 12, {1, A}, {1}}));
  EXPECT_EQ(splits_of(graph, "MatMulGradB").front(), (LetterSplit{'B', 12, {1, 1}, {S}}));
  EXPECT_EQ(splits_of(graph, "Einsum"), (Splits{{'d', 8, {3, 1}, {S}},
                                                {'h', 12, {1, 0}, {1}},
                                                {'i', 7, {2, A}, {2}},
                                                {'j', 5, {A, 2}, {3}}}));
}

TEST(LetterSplits, BiasIsAddedOnce) {
  const auto graph_of = [](bool biased) {
    ModelKit kit(4);
    std::vector<TensorId> inputs = {made(kit, {4, 100}), kit.weight("w", {30, 100})};
    if (biased) inputs.push_back(kit.weight("b", {30}));
    kit.op("Gemm", inputs, {{"transB", number(1)}, {"alpha", 0.5}, {"beta", 2.0}});
    return training_of(kit);
  };
  const Graph with = graph_of(true), without = graph_of(false);
  EXPECT_EQ(splits_of(with, "Gemm"), (Splits{{'n', 30, {A, 0, 0}, {1}}}));
  EXPECT_EQ(splits_of(without, "Gemm"), (Splits{{'k', 100, {1, 1}, {S}}, {'n', 30, {A, 0}, {1}}}));
  EXPECT_EQ(splits_of(with, "GemmGradInput"),
            (Splits{{'k', 100, {A, 1}, {1}}, {'n', 30, {1, 0}, {S}}}));
  EXPECT_EQ(splits_of(with, "GemmGradWeight"),
            (Splits{{'k', 100, {A, 1}, {1}}, {'n', 30, {1, A}, {0}}}));
  EXPECT_EQ(splits_of(with, "GemmGradBias"), (Splits{{'n', 30, {1}, {0}}}));
}

TEST(LetterSplits, Convolutions) {
  ModelKit kit(8);
  const TensorId x = made(kit, {8, 12, 9, 9});
  kit.op("Conv", {x, kit.weight("w", {6, 12, 3, 3})});
  kit.op("Conv", {x, kit.weight("v", {12, 1, 3, 3})}, {{"group", number(12)}});
  kit.op("Conv", {x, kit.weight("u", {6, 12, 3, 3}), kit.weight("bias", {6})});
  kit.op("Conv", {x, kit.weight("t", {8, 3, 3, 3})}, {{"group", number(4)}});
  kit.op("FusedConv", {x, kit.weight("s", {6, 12, 3, 3})}, {{"activation", std::string("Relu")}});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "Conv2"), (Splits{{'c', 12, {1, 1}, {S}}, {'o', 6, {A, 0}, {1}}}));
  EXPECT_EQ(splits_of(graph, "Conv2/grad_input"),
            (Splits{{'c', 12, {A, 1}, {1}}, {'o', 6, {1, 0}, {S}}}));
  EXPECT_EQ(splits_of(graph, "Conv2/grad_weight"),
            (Splits{{'c', 12, {A, 1}, {1}}, {'o', 6, {1, A}, {0}}}));
  EXPECT_EQ(splits_of(graph, "Conv3"), (Splits{{'o', 12, {1, 0}, {1}}}));
  EXPECT_EQ(splits_of(graph, "Conv4"), (Splits{{'o', 6, {A, 0, 0}, {1}}}));
  EXPECT_EQ(splits_of(graph, "Conv5"), Splits{});  // a part would cut a group
  EXPECT_EQ(splits_of(graph, "FusedConv"), (Splits{{'o', 6, {A, 0}, {1}}}));
}

// Samples are never mixed: what sums over them is not divided, nor what they are an axis of.
TEST(LetterSplits, NeverAlongTheBatch) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 6});
  kit.op("MatMul", {kit.transpose(x, {1, 0}), x});
  const Graph graph = kit.build();
  EXPECT_EQ(splits_of(graph, "MatMul"), (Splits{{'m', 6, {0, A}, {0}}, {'n', 6, {A, 1}, {1}}}));
}

TEST(LetterSplits, ProductWithItselfHasNoGradientInParts) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 6, 6});
  kit.op("MatMul", {x, x});
  kit.op("Mul", {x, x});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "MatMul").size(), 3U);
  EXPECT_EQ(splits_of(graph, "MatMulGradA"), Splits{});
  EXPECT_EQ(splits_of(graph, "MulGradA").size(), 2U);
}

// ---- element by element

TEST(LetterSplits, GradientsOfWhatIsStretchedAreSums) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 6, 8});
  kit.op("Add", {x, kit.weight("bias", {8})});
  kit.op("Mul", {x, kit.weight("stretched", {6, 1})});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "Add2"), (Splits{{'b', 6, {1, A}, {1}}, {'c', 8, {2, 0}, {2}}}));
  EXPECT_EQ(splits_of(graph, "Add2/grad_b"), (Splits{{'b', 6, {1}, {S}}, {'c', 8, {2}, {0}}}));
  EXPECT_EQ(splits_of(graph, "Mul3"), (Splits{{'b', 6, {1, 0}, {1}}, {'c', 8, {2, A}, {2}}}));
  EXPECT_EQ(splits_of(graph, "Mul3/grad_b"),
            (Splits{{'b', 6, {1, 1}, {0}}, {'c', 8, {2, 2}, {S}}}));
}

TEST(LetterSplits, ReductionsThatAddUp) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 6, 8});
  const auto reduce = [&](const char* type) {
    kit.op(type, {x}, {{"axes", Integers{1}}, {"keepdims", number(0)}});
  };
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax"}) reduce(type);
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "ReduceSum"), (Splits{{'b', 6, {1}, {S}}, {'c', 8, {2}, {1}}}));
  EXPECT_EQ(splits_of(graph, "ReduceMean"), (Splits{{'c', 8, {2}, {1}}}));
  EXPECT_EQ(splits_of(graph, "ReduceMax"), (Splits{{'c', 8, {2}, {1}}}));
  for (const char* type : {"ReduceSumGrad", "ReduceMeanGrad"})
    EXPECT_EQ(splits_of(graph, type), (Splits{{'b', 6, {A}, {1}}, {'c', 8, {1}, {2}}})) << type;
}

TEST(LetterSplits, WhatIsNormalisedStaysTogether) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 6, 8});
  const TensorId y = kit.op("LayerNormalization", {x, kit.weight("g", {8}), kit.weight("h", {8})});
  kit.op("Softmax", {y}, {{"axis", std::int64_t{-1}}});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "LayerNormalization"), (Splits{{'b', 6, {1, A, A}, {1}}}));
  // Scale's and shift's gradients are sums over the positions.
  EXPECT_EQ(splits_of(graph, "LayerNormalizationGrad"), (Splits{{'b', 6, {1, 1, A}, {1, S, S}}}));
  EXPECT_EQ(splits_of(graph, "Softmax"), (Splits{{'b', 6, {1}, {1}}}));
  EXPECT_EQ(splits_of(graph, "SoftmaxGrad"), (Splits{{'b', 6, {1, 1}, {1}}}));
}

TEST(LetterSplits, Embedding) {
  ModelKit kit(4);
  kit.op("Gather", {kit.weight("table", {100, 20}), kit.input("ids", {4, 7}, DataType::I64)});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "Gather"), (Splits{{'#', 100, {0, A}, {S}},  // rows: a vocabulary
                                                {'b', 20, {1, A}, {2}},
                                                {'d', 7, {A, 1}, {1}}}));
  EXPECT_EQ(splits_of(graph, "GatherGrad"),
            (Splits{{'#', 100, {A, A}, {0}}, {'b', 20, {2, A}, {1}}, {'d', 7, {1, 1}, {S}}}));
}

// Blocks of classes next to each other, and the classes that are in them.
TEST(LetterSplits, ClassesInBlocks) {
  ModelKit kit(4);
  const TensorId labels = kit.input("labels", {4, 7}, DataType::I64);
  const TensorId sums =
      kit.op("BlockLogSumExp", {made(kit, {4, 7, 60}), labels}, {{"blocks", number(12)}}, 2);
  kit.op("BlockCrossEntropy", {sums, TensorId(sums.index() + 1), labels});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "BlockLogSumExp"),
            (Splits{{'b', 7, {1, 1}, {1, 1}}, {'c', 12, {2, A}, {2, 2}}}));
  // The gradients of both, scores, labels, the sums.
  EXPECT_EQ(splits_of(graph, "BlockLogSumExpGrad"),
            (Splits{{'b', 7, {1, 1, 1, 1, 1}, {1}}, {'c', 12, {2, 2, 2, A, 2}, {2}}}));
  EXPECT_EQ(splits_of(graph, "BlockCrossEntropy"), Splits{});
}

// A loss that keeps its probabilities is a mean all the same: a part would divide by its own count.
TEST(LetterSplits, Losses) {
  const auto graph_of = [](const char* reduction) {
    ModelKit kit(4);
    kit.op("SoftmaxCrossEntropyLoss",
           {made(kit, {4, 10, 7}), kit.input("labels", {4, 7}, DataType::I64)},
           {{"reduction", std::string(reduction)}}, 2);
    return training_of(kit);
  };
  EXPECT_EQ(splits_of(graph_of("mean"), "SoftmaxCrossEntropyLoss"), Splits{});
  EXPECT_EQ(splits_of(graph_of("mean"), "SoftmaxCrossEntropyLossGrad"), Splits{});
  EXPECT_EQ(splits_of(graph_of("none"), "SoftmaxCrossEntropyLoss"),
            (Splits{{'c', 7, {2, 1}, {1, 2}}}));

  ModelKit kit(4);
  made(kit, {4, 7, 10});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "SoftmaxCrossEntropy"), Splits{});
  EXPECT_EQ(splits_of(graph, "SoftmaxCrossEntropyGrad"), (Splits{{'b', 7, {1, 1}, {1}}}));
}

TEST(LetterSplits, DropoutWithItsMask) {
  ModelKit kit(4);
  kit.op("Dropout", {made(kit, {4, 6, 8})});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "Dropout"), (Splits{{'b', 6, {1}, {1, 1}}, {'c', 8, {2}, {2, 2}}}));
  EXPECT_EQ(splits_of(graph, "DropoutGrad"),
            (Splits{{'b', 6, {1, 1}, {1}}, {'c', 8, {2, 2}, {2}}}));
}

// ---- views

Splits splits_of_view(Shape from, Integers to) {
  ModelKit kit(from[0]);
  kit.reshape(kit.input("x", std::move(from)), std::move(to));
  return splits_of(kit.build(), "Reshape");
}

TEST(LetterSplits, ViewsKeepTheOutermostOfWhatTheyMerge) {
  EXPECT_EQ(splits_of_view({4, 7, 96}, {4, 7, 12, 8}),
            (Splits{{'b', 7, {1, A}, {1}}, {'c', 12, {2, A}, {2}}}));
  EXPECT_EQ(splits_of_view({4, 7, 12, 8}, {4, 7, 96}),
            (Splits{{'b', 7, {1, A}, {1}}, {'c', 12, {2, A}, {2}}}));
  EXPECT_EQ(splits_of_view({4, 1, 7, 1, 96}, {4, 7, 1, 12, 1, 8, 1}),
            (Splits{{'b', 7, {2, A}, {1}}, {'c', 12, {4, A}, {3}}}));
  // Two rows of six are three of four: halves are halves.
  EXPECT_EQ(splits_of_view({4, 6, 4}, {4, 4, 6}), (Splits{{'b', 2, {1, A}, {1}}}));
  EXPECT_EQ(splits_of_view({4, 3, 4}, {4, 4, 3}), Splits{});
}

TEST(LetterSplits, ViewsThatMergeSamplesGiveNoLetterOfThem) {
  EXPECT_EQ(splits_of_view({4, 7, 96}, {28, 96}), (Splits{{'b', 96, {2, A}, {1}}}));
  EXPECT_EQ(splits_of_view({4, 7, 96}, {4, 672}), (Splits{{'b', 7, {1, A}, {1}}}));
  EXPECT_EQ(splits_of_view({4, 7, 96}, {2688}), Splits{});
  EXPECT_EQ(splits_of_view({1, 7, 96}, {1, 672}), (Splits{{'a', 7, {1, A}, {1}}}));
}

TEST(LetterSplits, GradientsOfViewsHaveTheirLetters) {
  ModelKit kit(4);
  TensorId x = kit.reshape(made(kit, {4, 7, 96}), {28, 12, 8});
  x = kit.op("Unsqueeze", {x, kit.constant("axes", {1})});
  x = kit.op("Squeeze", {x, kit.constant("axes", {1})});
  x = kit.op("Flatten", {x}, {{"axis", number(1)}});
  kit.op("Tanh", {x});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "Reshape"), (Splits{{'b', 12, {2, A}, {1}}}));
  EXPECT_EQ(splits_of(graph, "ReshapeGrad"), (Splits{{'b', 12, {1}, {2}}}));
  EXPECT_EQ(splits_of(graph, "UnsqueezeGrad"), (Splits{{'b', 12, {2}, {1}}, {'c', 8, {3}, {2}}}));
  EXPECT_EQ(splits_of(graph, "Squeeze"), (Splits{{'b', 12, {2, A}, {1}}, {'c', 8, {3, A}, {2}}}));
  EXPECT_EQ(splits_of(graph, "FlattenGrad"), (Splits{{'b', 12, {1}, {1}}}));
}

// ---- attention

// Heads go from the columns of the projection through views and transposes to its rows.
TEST(LetterSplits, AttentionAsTorchExportsIt) {
  ModelKit kit(4);
  const TensorId x = made(kit, {4, 7, 96});
  const auto heads = [&](const char* name, std::vector<std::int64_t> order) {
    const TensorId columns = kit.op("MatMul", {x, kit.weight(name, {96, 96})});
    const TensorId biased = kit.op("Add", {columns, kit.weight("b", {96})});
    return kit.transpose(kit.reshape(biased, {4, 7, 12, 8}), std::move(order));
  };
  const TensorId scores = kit.op("MatMul", {heads("q", {0, 2, 1, 3}), heads("k", {0, 2, 3, 1})});
  const TensorId shares = kit.op("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const TensorId values = kit.op("MatMul", {shares, heads("v", {0, 2, 1, 3})});
  const TensorId merged = kit.reshape(kit.transpose(values, {0, 2, 1, 3}), {4, 7, 96});
  kit.op("MatMul", {merged, kit.weight("o", {96, 96})});
  const Graph graph = training_of(kit);
  for (const char* type : {"MatMul", "Add", "Reshape", "Transpose", "Softmax"}) {
    for (const char* end : {"", "Grad"}) {
      for (std::size_t i = 0; i < graph.op_count(); ++i) {
        const Op& op = graph.op(OpId(i));
        if (op.type != std::string(type) + end || op.name == "Add0" || op.name == "Add0/grad_b")
          continue;
        const auto by_heads = [&](const LetterSplit& split) {
          return split.extent % 12 == 0 && !split.outputs.empty();
        };
        EXPECT_TRUE(std::ranges::any_of(letter_splits(graph, OpId(i)), by_heads)) << op.name;
      }
    }
  }
  EXPECT_EQ(splits_of(graph, "Softmax").front(), (LetterSplit{'b', 12, {1}, {1}}));
  EXPECT_EQ(splits_of(graph, "SoftmaxGrad").front(), (LetterSplit{'b', 12, {1, 1}, {1}}));
  EXPECT_EQ(splits_of(graph, "Transpose"),
            (Splits{{'b', 7, {1}, {2}}, {'c', 12, {2}, {1}}, {'d', 8, {3}, {3}}}));
  // The last transpose is the first to be taken back: from positions, heads to heads, positions.
  EXPECT_EQ(splits_of(graph, "TransposeGrad"),
            (Splits{{'b', 12, {2}, {1}}, {'c', 7, {1}, {2}}, {'d', 8, {3}, {3}}}));
}

Graph attention(std::int64_t key_heads, Shape mask = {4, 1, 7, 7}) {
  ModelKit kit(4);
  const TensorId q = made(kit, {4, 6, 7, 8});
  const TensorId k = kit.op("MatMul", {made(kit, {4, key_heads, 7, 8}), kit.weight("w", {8, 8})});
  kit.op("Attention", {q, k, k, kit.input("mask", std::move(mask))});
  return training_of(kit);
}

// By heads, and by queries, beside all keys: then what keys and values are given is a sum.
TEST(LetterSplits, FusedAttention) {
  EXPECT_EQ(splits_of(attention(6), "Attention"),
            (Splits{{'h', 6, {1, 1, 1, A}, {1, 1}},
                    {'q', 7, {2, A, A, 2}, {2, 2}}}));  // what is kept of the scores, too
  EXPECT_EQ(splits_of(attention(6, {4, 6, 7, 7}), "Attention"),
            (Splits{{'h', 6, {1, 1, 1, 1}, {1, 1}}, {'q', 7, {2, A, A, 2}, {2, 2}}}));
  // dy, query, key, value, y, sums, mask
  EXPECT_EQ(splits_of(attention(6), "AttentionGrad"),
            (Splits{{'h', 6, {1, 1, 1, 1, 1, 1, A}, {1, 1, 1}},
                    {'q', 7, {2, 2, A, A, 2, 2, 2}, {2, S, S}}}));
  EXPECT_EQ(splits_of(attention(6, {6, 7, 7}), "Attention"), Splits{});
}

// Heads of queries that share one of keys stay with it. One that all share is needed by every part,
// and its gradient is a sum.
TEST(LetterSplits, AttentionWithSharedKeys) {
  EXPECT_EQ(splits_of(attention(3), "Attention"),
            (Splits{{'h', 3, {1, 1, 1, A}, {1, 1}}, {'q', 7, {2, A, A, 2}, {2, 2}}}));
  EXPECT_EQ(splits_of(attention(3), "AttentionGrad"),
            (Splits{{'h', 3, {1, 1, 1, 1, 1, 1, A}, {1, 1, 1}},
                    {'q', 7, {2, 2, A, A, 2, 2, 2}, {2, S, S}}}));
  EXPECT_EQ(splits_of(attention(1), "Attention"),
            (Splits{{'h', 6, {1, A, A, A}, {1, 1}}, {'q', 7, {2, A, A, 2}, {2, 2}}}));
  EXPECT_EQ(splits_of(attention(1), "AttentionGrad"),
            (Splits{{'h', 6, {1, 1, A, A, 1, 1, A}, {1, S, S}},
                    {'q', 7, {2, 2, A, A, 2, 2, 2}, {2, S, S}}}));
}

// ---- others

// What the experts give back is added up by tokens: each part of the experts makes a partial sum.
TEST(LetterSplits, Experts) {
  ModelKit kit(4);
  const TensorId chosen = kit.input("chosen", {4, 5, 2}, DataType::I64);
  TensorId h = kit.op("DispatchTokens", {made(kit, {4, 5, 8}), chosen},
                      {{"capacity", number(3)}, {"experts", number(6)}});
  h = kit.op("MatMul", {h, kit.weight("w", {6, 8, 7})});
  kit.op("CombineTokens", {h, chosen, kit.op("Exp", {kit.weight("weights", {4, 5, 2})})});
  const Graph graph = training_of(kit);
  EXPECT_EQ(splits_of(graph, "DispatchTokens"),
            (Splits{{'d', 8, {2, A}, {3}}, {'e', 6, {A, A}, {1}}}));
  EXPECT_EQ(splits_of(graph, "DispatchTokensGrad"),
            (Splits{{'d', 8, {3, A}, {2}}, {'e', 6, {1, A}, {S}}}));
  EXPECT_EQ(splits_of(graph, "CombineTokens"),
            (Splits{{'d', 7, {3, A, A}, {2}}, {'e', 6, {1, A, A}, {S}}}));
  EXPECT_EQ(splits_of(graph, "CombineTokensGradResults"),
            (Splits{{'d', 7, {2, A, A}, {3}}, {'e', 6, {A, A, A}, {1}}}));
  EXPECT_EQ(splits_of(graph, "CombineTokensGradWeights"),
            (Splits{{'d', 7, {2, 3, A}, {S}}, {'e', 6, {A, 1, A}, {S}}}));
}

TEST(LetterSplits, NoneOfWhatNobodyKnows) {
  ModelKit kit(4);
  kit.shaped("Strange", {kit.input("x", {4, 6})}, {{4, 6}});
  kit.op("LSTM",
         {kit.input("t", {35, 4, 20}), kit.weight("w", {1, 40, 20}), kit.weight("r", {1, 40, 10})},
         {{"hidden_size", number(10)}}, 3);
  const Graph graph = kit.build();
  EXPECT_EQ(splits_of(graph, "Strange"), Splits{});
  EXPECT_EQ(splits_of(graph, "LSTM"), Splits{});
}

}  // namespace
}  // namespace strato
