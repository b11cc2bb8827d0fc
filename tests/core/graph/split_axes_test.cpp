#include "core/graph/axes/split_axes.h"

#include <gtest/gtest.h>

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

using Integers = std::vector<std::int64_t>;
using Axes = std::vector<SplitAxis>;

Axes axes_of(const Graph& graph, std::string_view type) {
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (graph.op(OpId(i)).type == type) return split_axes(graph, OpId(i));
  throw std::logic_error("no " + std::string(type));
}

Graph trained(ModelKit& kit, Optimizer optimizer = Optimizer::Adam) {
  return make_training_graph(kit.build(), optimizer);
}

TEST(SplitAxes, Convolution) {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 3, 16, 16});
  const TensorId y = kit.op("Conv", {x, kit.weight("v", {12, 3, 1, 1})});
  kit.op("Conv", {kit.op("Relu", {y}), kit.weight("w", {6, 12, 3, 3}), kit.weight("b", {6})});
  const Graph graph = trained(kit);
  const auto last = [&](std::string_view type) {
    for (std::size_t i = graph.op_count(); i-- > 0;)
      if (graph.op(OpId(i)).type == type && graph.op(OpId(i)).inputs.size() != 1)
        return split_axes(graph, OpId(i));
    throw std::logic_error("none");
  };
  EXPECT_EQ(last("Conv"), (Axes{{1, {-1, 0, 0}}}));  // output channels
  EXPECT_EQ(axes_of(graph, "ConvGradInput"), (Axes{{1, {-1, 1}}}));
  // Backwards the last convolution comes first: its gradient's channels, or its input's.
  EXPECT_EQ(axes_of(graph, "ConvGradWeight"), (Axes{{0, {1, -1}}, {1, {-1, 1}}}));
  EXPECT_EQ(axes_of(graph, "ConvGradBias"), (Axes{{0, {1}}}));
  EXPECT_EQ(axes_of(graph, "Relu"), (Axes{{1, {1}}, {2, {2}}, {3, {3}}}));
  EXPECT_EQ(axes_of(graph, "ApplyAdam"), (Axes{{0, {0, 0, 0, 0}}, {1, {1, 1, 1, 1}}}));
}

TEST(SplitAxes, GroupedConvolutions) {
  ModelKit kit(2);
  const TensorId x = kit.input("x", {2, 32, 16, 16});
  kit.op("Conv", {x, kit.weight("w", {32, 1, 3, 3})}, {{"group", std::int64_t{32}}});
  kit.op("Conv", {x, kit.weight("v", {64, 8, 3, 3})}, {{"group", std::int64_t{4}}});
  kit.op("ConvTranspose", {x, kit.weight("u", {32, 8, 4, 4})});
  const Graph graph = kit.build();
  EXPECT_EQ(split_axes(graph, OpId(0)), (Axes{{1, {1, 0}}}));  // each channel by itself
  EXPECT_EQ(split_axes(graph, OpId(1)), Axes{});               // a part would cut a group
  EXPECT_EQ(split_axes(graph, OpId(2)), (Axes{{1, {-1, 1}}}));
}

TEST(SplitAxes, Products) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 100});
  const Attribute yes = std::int64_t{1};
  kit.op("Gemm", {x, kit.weight("w", {30, 100}), kit.weight("b", {30})}, {{"transB", yes}});
  const TensorId q = kit.input("q", {4, 12, 128, 64}), k = kit.input("k", {4, 12, 64, 128});
  kit.op("MatMul", {q, k});
  kit.op("Einsum", {q, k}, {{"equation", std::string("bhid, bhdj -> bhij")}});
  kit.op("MatMul", {kit.input("v", {4, 7, 5}), kit.weight("u", {5})});
  kit.op("MatMul", {kit.input("t", {4, 7, 5}), kit.weight("s", {5, 1})});
  const Graph graph = kit.build();
  EXPECT_EQ(split_axes(graph, OpId(0)), (Axes{{1, {-1, 0, 0}}}));
  const Axes heads_rows_columns = {{1, {1, 1}}, {2, {2, -1}}, {3, {-1, 3}}};
  EXPECT_EQ(split_axes(graph, OpId(1)), heads_rows_columns);
  EXPECT_EQ(split_axes(graph, OpId(2)), heads_rows_columns);
  EXPECT_EQ(split_axes(graph, OpId(3)), (Axes{{1, {1, -1}}}));
  EXPECT_EQ(split_axes(graph, OpId(4)), (Axes{{1, {1, -1}}}));  // one column cannot be split
}

// By heads, forward and backward: tensor parallelism of an attention. Heads that share keys and
// values with others are not told apart. By queries forward: what they give keys is a sum.
TEST(SplitAxes, HeadsOfAttention) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6, 7, 8});
  const TensorId q = kit.op("MatMul", {x, kit.weight("wq", {6, 8, 8})});
  const TensorId k = kit.op("MatMul", {x, kit.weight("wk", {6, 8, 8})});
  const TensorId mask = kit.input("mask", {4, 1, 7, 7});
  const TensorId table = kit.input("cos", {4, 7, 4});  // of each position
  const TensorId turned = kit.op("RotaryEmbedding", {q, table, table});
  kit.op("Attention", {turned, k, k, mask});
  const Graph graph = trained(kit);
  EXPECT_EQ(axes_of(graph, "Attention"), (Axes{{1, {1, 1, 1, -1}}, {2, {2, -1, -1, 2}}}));
  // dy, query, key, value, y, sums, mask
  EXPECT_EQ(axes_of(graph, "AttentionGrad"), (Axes{{1, {1, 1, 1, 1, 1, 1, -1}}}));
  EXPECT_EQ(axes_of(graph, "RotaryEmbedding"), (Axes{{1, {1, -1, -1}}, {2, {2, 1, 1}}}));
  EXPECT_EQ(axes_of(graph, "RotaryEmbeddingGrad"), (Axes{{1, {1, -1, -1}}, {2, {2, 1, 1}}}));

  ModelKit grouped(4);
  const TensorId shared = grouped.input("k", {4, 3, 7, 8});
  grouped.op("Attention", {grouped.input("q", {4, 6, 7, 8}), shared, shared});
  EXPECT_EQ(axes_of(grouped.build(), "Attention"), (Axes{{2, {2, -1, -1}}}));
}

// Expert parallelism: what makes, reads or returns what experts have is split by them.
TEST(SplitAxes, ExpertsOfAMixture) {
  ModelKit kit(4);
  const TensorId x = kit.op("MatMul", {kit.input("x", {4, 5, 8}), kit.weight("first", {8, 8})});
  const TensorId chosen = kit.input("chosen", {4, 5, 2}, DataType::I64);
  TensorId h = kit.op("DispatchTokens", {x, chosen},
                      {{"capacity", std::int64_t{3}}, {"experts", std::int64_t{6}}});
  h = kit.op("MatMul", {h, kit.weight("w", {6, 8, 7})});
  kit.op("CombineTokens", {h, chosen, kit.op("Exp", {kit.weight("weights", {4, 5, 2})})});
  const Graph graph = trained(kit);
  EXPECT_EQ(axes_of(graph, "DispatchTokens"), (Axes{{1, {-1, -1}}, {3, {2, -1}}}));
  EXPECT_EQ(axes_of(graph, "DispatchTokensGrad"), (Axes{{2, {3, -1}}}));
  EXPECT_EQ(axes_of(graph, "CombineTokens"), (Axes{{2, {3, -1, -1}}}));
  EXPECT_EQ(axes_of(graph, "CombineTokensGradResults"),
            (Axes{{1, {-1, -1, -1}}, {3, {2, -1, -1}}}));
  EXPECT_EQ(graph.tensor(graph.op(OpId(1)).outputs[0]).shape, (Shape{4, 6, 3, 8}));
}

TEST(SplitAxes, GradientsOfProducts) {
  ModelKit kit(4);
  const TensorId x =
      kit.op("Relu", {kit.op("MatMul", {kit.input("x", {4, 7, 5}), kit.weight("v", {5, 6})})});
  kit.op("MatMul", {x, kit.weight("w", {6, 10})});
  const Graph graph = trained(kit, Optimizer::Sgd);
  EXPECT_EQ(axes_of(graph, "MatMulGradA"), (Axes{{1, {1, -1}}, {2, {-1, 0}}}));
  EXPECT_EQ(axes_of(graph, "MatMulGradB"), (Axes{{0, {-1, 2}}, {1, {2, -1}}}));
}

// It is not known which of the two places a gradient reads.
TEST(SplitAxes, ProductWithItselfHasNoGradientInParts) {
  ModelKit kit(4);
  const TensorId x = kit.op("Exp", {kit.weight("w", {4, 6, 6})});
  kit.op("MatMul", {x, x});
  const Graph graph = trained(kit);
  EXPECT_EQ(axes_of(graph, "MatMul").size(), 3U);
  EXPECT_EQ(axes_of(graph, "MatMulGradA"), Axes{});
  EXPECT_EQ(axes_of(graph, "MatMulGradB"), Axes{});
}

TEST(SplitAxes, WhatIsNormalisedStaysTogether) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6, 8});
  kit.op("Softmax", {x}, {{"axis", std::int64_t{-1}}});
  kit.op("LayerNormalization", {x, kit.weight("g", {8}), kit.weight("h", {8})});
  const TensorId image = kit.input("i", {4, 6, 5, 5});
  std::vector<TensorId> inputs = {image};
  for (const char* name : {"scale", "shift", "mean", "variance"})
    inputs.push_back(kit.weight(name, {6}));
  kit.op("BatchNormalization", inputs);
  const Graph graph = kit.build();
  EXPECT_EQ(split_axes(graph, OpId(0)), (Axes{{1, {1}}}));
  EXPECT_EQ(split_axes(graph, OpId(1)), (Axes{{1, {1, -1, -1}}}));
  EXPECT_EQ(split_axes(graph, OpId(2)), (Axes{{1, {1, 0, 0, 0, 0}}}));
}

// The gradient of scale and shift sums over all that is not a channel.
TEST(SplitAxes, GradientsOfNormalisations) {
  ModelKit kit(4);
  const TensorId x =
      kit.op("Relu", {kit.op("MatMul", {kit.input("x", {4, 7, 5}), kit.weight("v", {5, 6})})});
  const TensorId y = kit.op("LayerNormalization", {x, kit.weight("g", {6}), kit.weight("h", {6})});
  kit.op("Softmax", {y}, {{"axis", std::int64_t{-1}}});
  const Graph graph = trained(kit);
  EXPECT_EQ(axes_of(graph, "LayerNormalizationGrad"), Axes{});
  EXPECT_EQ(axes_of(graph, "SoftmaxGrad"), (Axes{{1, {1, 1}}}));

  ModelKit images(4);
  const TensorId conv =
      images.op("Conv", {images.input("i", {4, 3, 5, 5}), images.weight("w", {6, 3, 1, 1})});
  std::vector<TensorId> inputs = {conv};
  for (const char* name : {"scale", "shift"}) inputs.push_back(images.weight(name, {6}));
  for (const char* name : {"mean", "variance"})
    inputs.push_back(images.tensor(name, TensorRole::Constant, {6}));
  images.op("GlobalAveragePool", {images.op("BatchNormalization", inputs)});
  const Graph vision = trained(images);
  EXPECT_EQ(axes_of(vision, "BatchNormalizationGrad"), (Axes{{1, {1, 1, 0}}}));
  EXPECT_EQ(axes_of(vision, "GlobalAveragePoolGrad"), (Axes{{1, {1}}}));
}

TEST(SplitAxes, Elementwise) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6, 8});
  kit.op("Add", {x, kit.weight("bias", {8})});
  kit.op("Mul", {x, kit.weight("scalar", {})});
  kit.op("Add", {x, kit.weight("stretched", {6, 1})});
  kit.op("Add", {x, x});
  const Graph graph = kit.build();
  EXPECT_EQ(split_axes(graph, OpId(0)), (Axes{{1, {1, -1}}, {2, {2, 0}}}));
  EXPECT_EQ(split_axes(graph, OpId(1)), (Axes{{1, {1, -1}}, {2, {2, -1}}}));
  EXPECT_EQ(split_axes(graph, OpId(2)), (Axes{{1, {1, 0}}, {2, {2, -1}}}));
  EXPECT_EQ(split_axes(graph, OpId(3)), (Axes{{1, {1, 1}}, {2, {2, 2}}}));
}

TEST(SplitAxes, Movement) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6, 8, 10});
  kit.transpose(x, {0, 2, 1, 3});
  kit.op("Concat", {x, x}, {{"axis", std::int64_t{1}}});
  kit.op("ReduceMean", {x}, {{"axes", Integers{2}}, {"keepdims", std::int64_t{0}}});
  kit.reshape(x, {4, 6, 80});
  kit.op("Gather", {kit.weight("table", {100, 20}), kit.input("ids", {4, 7}, DataType::I64)});
  kit.shaped("Strange", {x}, {{4, 6, 8, 10}});
  const Graph graph = kit.build();
  EXPECT_EQ(split_axes(graph, OpId(0)), (Axes{{1, {2}}, {2, {1}}, {3, {3}}}));
  EXPECT_EQ(split_axes(graph, OpId(1)), (Axes{{2, {2, 2}}, {3, {3, 3}}}));
  EXPECT_EQ(split_axes(graph, OpId(2)), (Axes{{1, {1}}, {2, {3}}}));
  EXPECT_EQ(split_axes(graph, OpId(3)), Axes{});  // a view makes nothing
  EXPECT_EQ(split_axes(graph, OpId(4)), (Axes{{1, {-1, 1}}, {2, {1, -1}}}));
  EXPECT_EQ(split_axes(graph, OpId(5)), Axes{});  // nobody knows what it does
}

// What an embedding's gradient holds is indexed by words: only features are apart.
TEST(SplitAxes, Embedding) {
  ModelKit kit(4);
  const TensorId ids = kit.input("ids", {4, 7}, DataType::I64);
  kit.op("Gather", {kit.weight("table", {100, 20}), ids});
  const Graph graph = trained(kit);
  EXPECT_EQ(axes_of(graph, "GatherGrad"), (Axes{{1, {2, -1}}}));
}

TEST(SplitAxes, RecurrentLayersStayWhole) {
  ModelKit kit(16);
  kit.op("LSTM",
         {kit.input("x", {35, 16, 20}), kit.weight("w", {1, 40, 20}), kit.weight("r", {1, 40, 10})},
         {{"hidden_size", std::int64_t{10}}}, 3);
  EXPECT_EQ(split_axes(kit.build(), OpId(0)), Axes{});
}

// Parts are counted in 32 bits.
TEST(SplitAxes, NoneThatIsTooLongForPrograms) {
  const auto axes_of_width = [](std::int64_t width) {
    ModelKit kit(2);
    kit.op("Relu", {kit.input("x", {2, width})});
    return axes_of(kit.build(), "Relu");
  };
  EXPECT_EQ(axes_of_width(2147483646), (Axes{{1, {1}}}));
  EXPECT_EQ(axes_of_width(2147483647), Axes());
  EXPECT_EQ(axes_of_width(3000000000), Axes());
}

}  // namespace
}  // namespace strato
