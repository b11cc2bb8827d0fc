// What the elements of weights tell: ties, and tables that nobody trains.
#include <cmath>

#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

using Floats = std::vector<float>;

// Elements by row and column.
onnx::TensorProto matrix(int rows, int columns, const std::function<double(int, int)>& element) {
  Floats elements;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      elements.push_back(static_cast<float>(element(row, column)));
  return floats({rows, columns}, elements);
}

double random_like(int row, int column) { return std::sin(row * 12.9898 + column * 78.233) * 7; }

// Words are looked up in one matrix, and scored with another one.
ModelKit words_and_scores(onnx::TensorProto words, onnx::TensorProto scores) {
  ModelKit kit;
  kit.input("ids", {"batch", 6}, onnx::TensorProto::INT64).output("y");
  kit.constant("words", std::move(words)).constant("scores", std::move(scores));
  kit.node("Gather", {"words", "ids"}, {"found"});
  kit.node("MatMul", {"found", "scores"}, {"y"});
  return kit;
}

TEST(OnnxContent, ATransposedCopyIsTheSameParameter) {
  const ModelKit kit = words_and_scores(
      matrix(40, 24, random_like), matrix(24, 40, [](int r, int c) { return random_like(c, r); }));
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(parameters(graph), 1);
  EXPECT_EQ(op_types(graph), (Names{"Gather", "FusedMatMul"}));
  EXPECT_EQ(graph.op(OpId(1)).integer("transB", 0), 1);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 6, 40}));
}

TEST(OnnxContent, LargeOnesAreReadFromTheFile) {
  const ModelKit kit =
      words_and_scores(matrix(400, 240, random_like),
                       matrix(240, 400, [](int r, int c) { return random_like(c, r); }));
  EXPECT_EQ(parameters(kit.import(batch(2))), 1);
}

TEST(OnnxContent, AnEqualCopyIsTheSameParameter) {
  ModelKit kit = words_and_scores(matrix(24, 24, random_like), matrix(24, 24, random_like));
  EXPECT_EQ(parameters(kit.import(batch(2))), 1);
}

TEST(OnnxContent, OneOtherElementMakesItAnother) {
  const auto almost = [](int r, int c) { return random_like(c, r) + (r == 3 && c == 4 ? 1 : 0); };
  const ModelKit kit = words_and_scores(matrix(40, 24, random_like), matrix(24, 40, almost));
  EXPECT_EQ(parameters(kit.import(batch(2))), 2);
}

TEST(OnnxContent, WhatIsEqualOnlyBeforeTrainingIsNotTied) {
  const auto ones = [](int, int) { return 1.0; };
  const auto identity = [](int r, int c) { return r == c ? 1.0 : 0.0; };
  for (const auto& element : {std::function<double(int, int)>(ones), {identity}}) {
    const ModelKit kit = words_and_scores(matrix(24, 24, element), matrix(24, 24, element));
    EXPECT_EQ(parameters(kit.import(batch(2))), 2);
  }
}

TEST(OnnxContent, AnIdentityOfAWeightThatTellsIsThatWeight) {
  const auto imported = [](const std::function<double(int, int)>& element) {
    ModelKit kit;
    kit.input("x", {"batch", 24}).output("y").constant("w", matrix(24, 24, element));
    kit.node("Identity", {"w"}, {"v"});
    kit.node("MatMul", {"x", "w"}, {"h"});
    kit.node("MatMul", {"h", "v"}, {"y"});
    return kit.import(batch(2));
  };
  EXPECT_EQ(parameters(imported(random_like)), 1);
  EXPECT_EQ(parameters(imported([](int, int) { return 0.0; })), 2);
}

int parameters_beside(const onnx::TensorProto& table) {
  ModelKit kit;
  const int rows = static_cast<int>(table.dims(0)), columns = static_cast<int>(table.dims(1));
  kit.input("x", {"batch", rows, columns}).output("y").constant("table", table);
  kit.weight("w", {columns, 3});
  kit.node("Mul", {"x", "table"}, {"h"});
  kit.node("MatMul", {"h", "w"}, {"y"});
  return parameters(kit.import(batch(2))) - 1;
}

TEST(OnnxContent, TablesThatNobodyTrainsAreNoParameters) {
  EXPECT_EQ(parameters_beside(matrix(16, 16, [](int r, int c) { return c <= r ? 1 : 0; })), 0);
  EXPECT_EQ(parameters_beside(matrix(16, 16, [](int r, int c) { return c > r ? -1e9 : 0; })), 0);
  const auto angle = [](int r, int c) { return r * std::pow(10000.0, -c / 16.0); };
  EXPECT_EQ(parameters_beside(matrix(64, 16, [&](int r, int c) { return std::cos(angle(r, c)); })),
            0);
  EXPECT_EQ(parameters_beside(matrix(64, 16, [&](int r, int c) { return std::sin(angle(r, c)); })),
            0);
  EXPECT_EQ(parameters_beside(matrix(1, 16, [&](int, int c) { return angle(1, c); })), 0);
}

TEST(OnnxContent, OthersAre) {
  EXPECT_EQ(parameters_beside(matrix(64, 16, random_like)), 1);
  EXPECT_EQ(parameters_beside(matrix(64, 16, [](int, int) { return 1; })), 1);
  EXPECT_EQ(parameters_beside(matrix(64, 16, [](int r, int) { return r * 0.012; })), 1);
  EXPECT_EQ(parameters_beside(matrix(1, 16, [](int, int c) { return 1.0 + c; })), 1);
}

TEST(OnnxContent, ATransposedWeightIsReadAsItIsStored) {
  for (const std::string product : {"MatMul", "Gemm"}) {
    ModelKit kit;
    kit.input("x", {"batch", 6}).output("y").weight("w", {5, 6});
    kit.node("Transpose", {"w"}, {"t"}).set("perm", std::vector<std::int64_t>{1, 0});
    kit.node(product, {"x", "t"}, {"y"});
    const Graph graph = kit.import(batch(4));
    EXPECT_EQ(op_types(graph), Names{product == "Gemm" ? "Gemm" : "FusedMatMul"});
    EXPECT_EQ(graph.op(OpId(0)).integer("transB", 0), 1);
    EXPECT_EQ(tensor_named(graph, "y").batch, (BatchLayout{BatchKind::Batched, 0}));
  }
}

// The elements are not at hand: names and uses tell.
TEST(OnnxContent, BuffersByNameAndUse) {
  ModelKit kit;
  kit.input("x", {"batch", 16, 64})
      .input("at", {"batch", 16}, onnx::TensorProto::INT64)
      .output("y");
  kit.weight("rope.inv_freq", {64, 64}).weight("old.running_mean", {64}).weight("w", {64, 64});
  kit.weight("table1", {128, 32}).weight("table2", {128, 32}).weight("bias", {64});
  kit.node("MatMul", {"x", "rope.inv_freq"}, {"a"});
  kit.node("Sub", {"a", "old.running_mean"}, {"b"});
  kit.node("RotaryEmbedding", {"b", "at", "table1", "table2"}, {"c"}).domain("com.microsoft");
  kit.node("MatMul", {"c", "w"}, {"d"});
  kit.node("Add", {"d", "bias"}, {"y"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(parameters(graph), 2);
  for (const char* name : {"rope.inv_freq", "old.running_mean", "table1", "table2"})
    EXPECT_EQ(tensor_named(graph, name).role, TensorRole::Constant) << name;
}

}  // namespace
}  // namespace strato::test
