// Where weights may be, and what counts as one.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

// x [batch, 4] -> MatMul with w [4, 3]
ModelKit linear() {
  ModelKit kit;
  kit.input("x", {"batch", 4}).output("y");
  kit.node("MatMul", {"x", "w"}, {"y"});
  return kit;
}

void expect_linear(const Graph& graph) {
  EXPECT_EQ(op_types(graph), Names{"MatMul"});
  EXPECT_EQ(parameters(graph), 1);
  EXPECT_EQ(tensor_named(graph, "w").role, TensorRole::Parameter);
  EXPECT_EQ(tensor_named(graph, "w").shape, (Shape{4, 3}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{8, 3}));
  EXPECT_FALSE(graph.ops()[OpId(0)].estimated);
}

TEST(OnnxWeights, Initializer) {
  expect_linear(linear().weight("w", {4, 3}, false).import(batch(8)));
}

TEST(OnnxWeights, ExternalFileMayBeMissing) {
  expect_linear(linear().weight("w", {4, 3}).import(batch(8)));
}

TEST(OnnxWeights, InputThatIsAnInitializerToo) {
  expect_linear(linear().input("w", {4, 3}).weight("w", {4, 3}).import(batch(8)));
}

TEST(OnnxWeights, InputAlone) { expect_linear(linear().input("w", {4, 3}).import(batch(8))); }

TEST(OnnxWeights, ConstantNode) {
  ModelKit kit = linear();
  kit.node("Constant", {}, {"w"}).set("value", floats({4, 3}, std::vector<float>(12)));
  expect_linear(kit.import(batch(8)));
}

TEST(OnnxWeights, ConstantOfShapeNode) {
  ModelKit kit = linear();
  kit.constant("w_shape", int64s({4, 3}));
  kit.node("ConstantOfShape", {"w_shape"}, {"w"});
  expect_linear(kit.import(batch(8)));
}

// Buffers of a model that are as large as its data.
TEST(OnnxWeights, WhatIsFilledInTheShapeOfDataIsNone) {
  ModelKit kit;
  kit.input("x", {"batch", 4, 8}).output("y");
  kit.node("Shape", {"x"}, {"shape"});
  kit.node("ConstantOfShape", {"shape"}, {"zeros"}).set("value", floats({1}, {0.5F}));
  kit.constant("first", int64(0));
  kit.node("Gather", {"zeros", "first"}, {"row"}).set("axis", 1);
  kit.node("ReduceMax", {"x"}, {"most"})
      .set("axes", std::vector<std::int64_t>{1})
      .set("keepdims", 0);
  kit.node("Add", {"row", "most"}, {"y"});
  EXPECT_EQ(parameters(kit.import(batch(4))), 0);
}

TEST(OnnxWeights, FixedBatchAndWeightsAsInputs) {
  ModelKit kit;
  kit.input("bias", {6}).input("filter", {6, 3, 3, 3}).input("image", {2, 3, 8, 8}).output("y");
  kit.node("Conv", {"image", "filter", "bias"}, {"y"});
  const Graph graph = kit.import();
  EXPECT_EQ(graph.batch(), 2);
  EXPECT_EQ(parameters(graph), 2);
  EXPECT_EQ(tensor_named(graph, "image").role, TensorRole::Input);
}

TEST(OnnxWeights, MergedByTheExporterAreStillWeightsOfTheirOwn) {
  ModelKit kit;
  kit.input("x", {"batch", 4}).weight("w", {4, 4}).output("y");
  kit.node("Identity", {"w"}, {"w2"});
  kit.node("MatMul", {"x", "w"}, {"h"});
  kit.node("MatMul", {"h", "w2"}, {"y"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), (Names{"MatMul", "MatMul"}));
  EXPECT_EQ(parameters(graph), 2);
}

TEST(OnnxWeights, UsedTwiceAreTied) {
  ModelKit kit;
  kit.input("x", {"batch", 4}).weight("w", {4, 4}).output("y");
  kit.node("MatMul", {"x", "w"}, {"h"});
  kit.node("MatMul", {"h", "w"}, {"y"});
  EXPECT_EQ(parameters(kit.import(batch(2))), 1);
}

TEST(OnnxWeights, LoneNumbersAndSettingsAreConstants) {
  ModelKit kit;
  kit.input("x", {"batch", 4}).output("y");
  kit.constant("half", floats({}, {0.5F}))
      .constant("low", floats({}, {0}))
      .constant("high", floats({}, {6}));
  kit.node("Mul", {"x", "half"}, {"h"});
  kit.node("Clip", {"h", "low", "high"}, {"y"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(parameters(graph), 0);
  float half = 0;
  std::memcpy(&half, tensor_named(graph, "half").data->data(), 4);
  EXPECT_EQ(half, 0.5F);
}

TEST(OnnxWeights, HalfPrecisionConstantsKeepTheirBits) {
  const std::vector<std::uint16_t> bits = {0x3c00, 0xc000, 0x0001, 0x03ff,
                                           0x0400, 0x7bff, 0x7c00, 0x8000};
  ModelKit kit;
  kit.input("x", {"batch", 8}, onnx::TensorProto::FLOAT16).output("y");
  kit.node("Constant", {}, {"c"}).set("value", tensor_of({8}, bits, onnx::TensorProto::FLOAT16));
  kit.node("Add", {"x", "c"}, {"y"});
  const Graph graph = kit.import(batch(2));
  ASSERT_NE(tensor_named(graph, "c").data, nullptr);
  EXPECT_EQ(0, std::memcmp(tensor_named(graph, "c").data->data(), bits.data(), 16));
}

TEST(OnnxWeights, LargePayloadsAreSkipped) {
  ModelKit kit = linear();
  kit.graph().mutable_node()->Clear();
  kit.weight("w", {4, 30000}, false);  // 480 KB inline
  kit.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(tensor_named(kit.import(batch(2)), "w").shape, (Shape{4, 30000}));
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A file of more than 2 GB, which protobuf refuses; its payload is a hole in the file.
TEST(OnnxWeights, FilesOverTwoGigabytes) {
  constexpr std::uint64_t columns = 150'000'000, payload = columns * 4 * 4;
  onnx::TensorProto weight;
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(4);
  weight.add_dims(static_cast<std::int64_t>(columns));
  std::string tensor_head = weight.SerializeAsString() + "\x4a";  // field 9: raw_data
  append_varint(tensor_head, payload);
  const ModelKit kit = linear();
  std::string graph_head = kit.proto.graph().SerializeAsString() + "\x2a";  // field 5: initializer
  append_varint(graph_head, tensor_head.size() + payload);
  onnx::ModelProto rest = kit.proto;
  rest.clear_graph();
  std::string head = rest.SerializeAsString() + "\x3a";  // field 7: graph
  append_varint(head, graph_head.size() + tensor_head.size() + payload);
  head += graph_head + tensor_head;

  const Scratch scratch;
  std::ofstream(scratch / "big.onnx", std::ios::binary) << head;
  std::error_code error;
  std::filesystem::resize_file(scratch / "big.onnx", head.size() + payload, error);
  ASSERT_FALSE(error) << "a sparse file of 2.4 GB: " << error.message();
  const Graph graph = import_file(scratch / "big.onnx", batch(1));
  EXPECT_EQ(graph.name(), "big");
  EXPECT_EQ(graph.parameter_bytes(), Bytes(static_cast<std::int64_t>(payload)));
}

}  // namespace
}  // namespace strato::test
