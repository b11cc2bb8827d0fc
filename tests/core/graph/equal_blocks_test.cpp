#include "core/graph/group/equal_blocks.h"

#include <gtest/gtest.h>

#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

using Sets = std::vector<std::vector<OpId>>;

std::vector<std::size_t> classes(const Graph& graph, const Sets& sets) {
  std::vector<std::span<const OpId>> spans(sets.begin(), sets.end());
  return equal_blocks(graph, spans);
}

// Layers of three ops in a row: a product, a relu, a sum with the layer's input.
Graph layers(int count, std::int64_t odd_width_of_last = 0) {
  ModelKit kit(8);
  TensorId h = kit.input("x", {8, 64});
  for (int i = 0; i < count; ++i) {
    const bool odd = i + 1 == count && odd_width_of_last != 0;
    const TensorId w = kit.weight("w" + std::to_string(i), {64, odd ? odd_width_of_last : 64});
    const TensorId product = kit.op("MatMul", {h, w});
    const TensorId active = kit.op("Relu", {product});
    h = kit.op("Add", {active, odd ? product : h});
  }
  return kit.build();
}

Sets threes(const Graph& graph) {
  Sets sets(graph.op_count() / 3);
  for (std::size_t i = 0; i < graph.op_count(); ++i) sets[i / 3].emplace_back(i);
  return sets;
}

TEST(EqualBlocks, RepeatedLayersAreEqual) {
  const Graph graph = layers(6);
  EXPECT_EQ(classes(graph, threes(graph)), (std::vector<std::size_t>{0, 0, 0, 0, 0, 0}));
}

TEST(EqualBlocks, ShapesAndWiringCount) {
  const Graph shaped = layers(4, 32);
  EXPECT_EQ(classes(shaped, threes(shaped)), (std::vector<std::size_t>{0, 0, 0, 3}));
  const Graph wired = layers(4, 64);  // the last sum adds its own product
  EXPECT_EQ(classes(wired, threes(wired)), (std::vector<std::size_t>{0, 0, 0, 3}));
}

TEST(EqualBlocks, AttributesAndTheOrderOfInputsCount) {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 64}), y = kit.input("y", {8, 64});
  const auto block = [&](std::int64_t axis, bool swapped) {
    const TensorId a = kit.op("Softmax", {x}, {{"axis", axis}}), b = kit.op("Relu", {y});
    kit.op("Sub", {swapped ? b : a, swapped ? a : b});
  };
  block(1, false), block(1, false), block(0, false), block(1, true);
  const Graph graph = kit.build();
  Sets sets(4);
  for (std::size_t i = 0; i < graph.op_count(); ++i) sets[i / 3].emplace_back(i);
  EXPECT_EQ(classes(graph, sets), (std::vector<std::size_t>{0, 0, 2, 3}));
}

TEST(EqualBlocks, SharedWeightsAreNotTwoWeights) {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 8});
  const TensorId shared = kit.weight("s", {8, 8});
  const TensorId a = kit.op("MatMul", {x, shared});
  kit.op("MatMul", {a, shared});
  const TensorId b = kit.op("MatMul", {x, kit.weight("t", {8, 8})});
  kit.op("MatMul", {b, kit.weight("u", {8, 8})});
  const Graph graph = kit.build();
  EXPECT_EQ(classes(graph, {{OpId(0), OpId(1)}, {OpId(2), OpId(3)}}),
            (std::vector<std::size_t>{0, 1}));
}

// One value read twice is not two values read once, though each op has the same ancestors.
TEST(EqualBlocks, ReadTwiceIsNotComputedTwice) {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 8});
  const TensorId one = kit.op("Relu", {x});
  kit.op("Tanh", {one}), kit.op("Tanh", {one});
  kit.op("Tanh", {kit.op("Relu", {x})}), kit.op("Tanh", {kit.op("Relu", {x})});
  const Graph graph = kit.build();
  std::vector<OpId> first, second;
  for (std::size_t i = 0; i < graph.op_count(); ++i) (i < 3 ? first : second).emplace_back(i);
  EXPECT_EQ(classes(graph, {first, second}), (std::vector<std::size_t>{0, 1}));
}

TEST(EqualBlocks, EmptyAndSingleSets) {
  const Graph graph = layers(2);
  EXPECT_EQ(classes(graph, {{}, {}, {OpId(0)}, {OpId(3)}}), (std::vector<std::size_t>{0, 0, 2, 2}));
  EXPECT_TRUE(classes(graph, {}).empty());
}

}  // namespace
}  // namespace strato
