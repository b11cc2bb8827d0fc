// Ops in which exporters hide the batch, and what becomes of them: the samples stay apart.
#include <algorithm>

#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

constexpr int kInt64 = onnx::TensorProto::INT64;

onnx::TensorProto table(const std::vector<std::int64_t>& dims,
                        const std::vector<std::int64_t>& elements) {
  return tensor_of(dims, elements, kInt64);
}

// "rest" is data[:, 1:], and "out" what is made of it and the first column.
ModelKit shifted(const onnx::TensorProto& places) {
  ModelKit kit;
  kit.input("x", {2, 4, 3}).constant("places", places).output("out");
  kit.constant("one", int64s({1})).constant("end", int64s({99}));
  kit.node("Slice", {"x", "one", "end", "one"}, {"rest"});
  kit.node("Relu", {"x"}, {"relu"});
  kit.node("ScatterND", {"relu", "places", "rest"}, {"out"});
  return kit;
}

const onnx::TensorProto kColumnsFromOne = table({2, 3, 2}, {0, 1, 0, 2, 0, 3, 1, 1, 1, 2, 1, 3});

TEST(SamplesApart, WritingIntoASliceJoinsIt) {
  const Graph graph = shifted(kColumnsFromOne).import();
  EXPECT_EQ(op_types(graph), (Names{"Slice", "Relu", "Slice", "Concat", "Reshape"}));
  EXPECT_EQ(tensor_named(graph, "out").batch, (BatchLayout{BatchKind::Batched, 0}));
  EXPECT_EQ(tensor_named(graph, "out").shape, (Shape{2, 4, 3}));
  const Op& concat = graph.op(OpId(3));
  ASSERT_EQ(concat.inputs.size(), 2U);
  EXPECT_EQ(graph.tensor(concat.inputs[0]).shape, (Shape{2, 1, 3}));  // in front of it
  EXPECT_EQ(graph.tensor(concat.inputs[1]).name, "rest");
}

TEST(SamplesApart, PlacesMayCountFromTheEnd) {
  const onnx::TensorProto places =
      table({2, 3, 2}, {-2, -3, -2, -2, -2, -1, -1, -3, -1, -2, -1, -1});
  EXPECT_EQ(op_types(shifted(places).import()), op_types(shifted(kColumnsFromOne).import()));
}

TEST(SamplesApart, OtherPlacesStayAsTheyAre) {
  const std::vector<onnx::TensorProto> others = {
      table({2, 3, 2}, {0, 1, 0, 3, 0, 2, 1, 1, 1, 2, 1, 3}),   // another order
      table({2, 3, 2}, {0, 0, 0, 2, 0, 3, 1, 0, 1, 2, 1, 3}),   // a gap
      table({2, 3, 2}, {0, 1, 0, 2, 0, 3, 0, 1, 0, 2, 0, 3})};  // twice the same
  for (const onnx::TensorProto& places : others)
    EXPECT_EQ(op_types(shifted(places).import()), (Names{"Slice", "Relu", "ScatterND"}));
}

TEST(SamplesApart, ABoxOfSeveralAxesIsJoinedAxisByAxis) {
  ModelKit kit;
  kit.input("x", {2, 5, 5}).input("y", {2, 2, 2}).output("out");
  std::vector<std::int64_t> places;
  for (const std::int64_t sample : {0, 1})
    for (const std::int64_t row : {1, 2})
      for (const std::int64_t column : {3, 4}) places.insert(places.end(), {sample, row, column});
  kit.constant("places", table({2, 2, 2, 3}, places));
  kit.node("Neg", {"y"}, {"negative"});
  kit.node("ScatterND", {"x", "places", "negative"}, {"out"});
  const Graph graph = kit.import();
  Names types = op_types(graph);
  EXPECT_EQ(std::count(types.begin(), types.end(), "Concat"), 2);
  EXPECT_EQ(std::count(types.begin(), types.end(), "Slice"), 4);  // above, beside, left, below
  EXPECT_EQ(tensor_named(graph, "out").batch, (BatchLayout{BatchKind::Batched, 0}));
}

TEST(SamplesApart, ATileOfOneIsAnExpand) {
  ModelKit kit;
  kit.input("x", {"batch", 4, 3}).weight("row", {1, 4, 1}).output("out");
  kit.node("Shape", {"x"}, {"shape"});
  kit.constant("zero", int64s({0})).constant("rest", int64s({1, 3}));
  kit.node("Gather", {"shape", "zero"}, {"batch"});
  kit.node("Concat", {"batch", "rest"}, {"repeats"}).set("axis", 0);
  kit.node("Exp", {"row"}, {"positive"});
  kit.node("Tile", {"positive", "repeats"}, {"rows"});
  kit.node("Mul", {"x", "rows"}, {"out"});
  const Graph graph = kit.import(batch(6));
  EXPECT_EQ(op_types(graph), (Names{"Exp", "Expand", "Mul"}));
  EXPECT_EQ(tensor_named(graph, "rows").batch, (BatchLayout{BatchKind::Batched, 0}));
  EXPECT_EQ(tensor_named(graph, "out").batch, (BatchLayout{BatchKind::Batched, 0}));
}

TEST(SamplesApart, TheRowOfEachSampleIsFoundInItsOwnRows) {
  ModelKit kit;
  kit.input("x", {3, 4, 5}).input("last", {3}, kInt64).output("out");
  kit.node("Relu", {"x"}, {"relu"});
  kit.node("Flatten", {"relu"}, {"rows"}).set("axis", 2);
  kit.constant("first", int64s({0, 4, 8}));
  kit.node("Add", {"last", "first"}, {"index"});
  kit.node("Gather", {"rows", "index"}, {"out"}).set("axis", 0);
  const Graph graph = kit.import();
  EXPECT_EQ(op_types(graph), (Names{"Relu", "Reshape", "Expand", "GatherElements", "Reshape"}));
  EXPECT_EQ(tensor_named(graph, "out").shape, (Shape{3, 5}));
  EXPECT_EQ(tensor_named(graph, "out").batch, (BatchLayout{BatchKind::Batched, 0}));
}

TEST(SamplesApart, RowsOfOtherSamplesAreNot) {
  ModelKit kit;
  kit.input("x", {3, 4, 5}).input("last", {3}, kInt64).output("out");
  kit.node("Relu", {"x"}, {"relu"});
  kit.node("Flatten", {"relu"}, {"rows"}).set("axis", 2);
  kit.constant("first", int64s({8, 4, 0}));
  kit.node("Add", {"last", "first"}, {"index"});
  kit.node("Gather", {"rows", "index"}, {"out"}).set("axis", 0);
  EXPECT_EQ(op_types(kit.import()), (Names{"Relu", "Flatten", "Add", "Gather"}));
}

}  // namespace
}  // namespace strato::test
