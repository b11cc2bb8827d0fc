// Ops of com.microsoft, of quantised models and of op sets that libonnx does not know: shapes,
// FLOPs and the samples' axis.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

const Op& last(const Graph& graph) {
  return graph.ops()[OpId(static_cast<int>(graph.ops().size()) - 1)];
}

void expect_split(const Graph& graph) {
  for (const Op& op : graph.ops()) {
    EXPECT_EQ(op.split, Splittability::Concat) << op.name;
    EXPECT_FALSE(op.estimated) << op.name;
  }
}

TEST(OnnxContrib, AttentionWithItsProjection) {
  ModelKit kit;
  kit.input("x", {"batch", 16, 64}).input("mask", {"batch", 16}, onnx::TensorProto::INT32);
  kit.output("y").weight("w", {64, 192}).weight("b", {192});
  kit.node("Attention", {"x", "w", "b", "mask"}, {"y"}).domain(kMicrosoft).set("num_heads", 4);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 16, 64}));
  const double projection = 2.0 * 2 * 16 * 64 * 192,
               scores = 2.0 * 4 * 16 * 16 * (2 * 16 + 2 * 16 + 13);
  EXPECT_EQ(last(graph).work.flops, projection + scores);
}

TEST(OnnxContrib, AttentionOverACache) {
  ModelKit kit;
  kit.input("q", {"batch", 1, 64}).input("k", {"batch", 1, 32}).input("v", {"batch", 1, 32});
  kit.input("pk", {"batch", 2, 9, 16}).input("pv", {"batch", 2, 9, 16}).output("y").output("nk");
  kit.node("GroupQueryAttention", {"q", "k", "v", "pk", "pv"}, {"y", "nk", "nv"})
      .domain(kMicrosoft)
      .set("num_heads", 4)
      .set("kv_num_heads", 2);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 1, 64}));
  EXPECT_EQ(tensor_named(graph, "nk").shape, (Shape{2, 2, 10, 16}));
  EXPECT_EQ(tensor_named(graph, "nk").batch.axis, 0);
  EXPECT_EQ(last(graph).work.flops, 2.0 * 4 * 1 * 10 * (2 * 16 + 2 * 16 + 13));
}

TEST(OnnxContrib, AttentionOfOpSet23) {
  ModelKit kit(23);
  kit.input("q", {"batch", 8, 4, 16})
      .input("k", {"batch", 2, 4, 16})
      .input("v", {"batch", 2, 4, 16});
  kit.output("y");
  kit.node("Attention", {"q", "k", "v"}, {"y"});
  const Graph graph = kit.import(batch(3));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{3, 8, 4, 16}));
  EXPECT_EQ(last(graph).work.flops, 3.0 * 8 * 4 * 4 * (2 * 16 + 2 * 16 + 13));
}

TEST(OnnxContrib, RotationAndSkippedNormalization) {
  ModelKit kit;
  kit.input("x", {"batch", 16, 64}).input("at", {"batch", 16}, onnx::TensorProto::INT64);
  kit.output("z").output("sum").weight("cos", {128, 32}).weight("sin", {128, 32}).weight("g", {64});
  kit.node("RotaryEmbedding", {"x", "at", "cos", "sin"}, {"r"}).domain(kMicrosoft);
  kit.node("SkipSimplifiedLayerNormalization", {"r", "x", "g"}, {"z", "", "", "sum"})
      .domain(kMicrosoft);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "sum").shape, (Shape{2, 16, 64}));
  EXPECT_EQ(tensor_named(graph, "sum").batch.axis, 0);
}

TEST(OnnxContrib, QuantizedLayers) {
  const auto bytes = [](std::vector<std::int64_t> dims) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    return tensor_of(dims, std::vector<std::int8_t>(static_cast<std::size_t>(count)),
                     onnx::TensorProto::INT8);
  };
  ModelKit kit;
  kit.input("x", {"batch", 3, 8, 8}).output("y").constant("s", floats({}, {0.1F}));
  kit.constant("z", bytes({})).constant("w", bytes({8, 3, 3, 3})).constant("m", bytes({8, 10}));
  kit.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  kit.node("QLinearConv", {"q", "s", "z", "w", "s", "z", "s", "z"}, {"c"})
      .set("pads", {1, 1, 1, 1});
  kit.node("QLinearGlobalAveragePool", {"c", "s", "z", "s", "z"}, {"p"}).domain(kMicrosoft);
  kit.node("Flatten", {"p"}, {"f"});
  kit.node("QLinearMatMul", {"f", "s", "z", "m", "s", "z", "s", "z"}, {"r"});
  kit.node("DequantizeLinear", {"r", "s", "z"}, {"y"});
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "c").shape, (Shape{2, 8, 8, 8}));
  EXPECT_EQ(graph.ops()[OpId(1)].work.flops, 2.0 * 2 * 8 * 64 * 27);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 10}));
}

TEST(OnnxContrib, FewBitsAndFusedActivations) {
  ModelKit kit;
  kit.input("x", {"batch", 16, 64})
      .output("y")
      .weight("s", {256})
      .weight("w", {128, 8})
      .weight("b", {8});
  kit.constant("q",
               tensor_of({128, 2, 16}, std::vector<std::uint8_t>(4096), onnx::TensorProto::UINT8));
  kit.node("MatMulNBits", {"x", "q", "s"}, {"p"}).domain(kMicrosoft).set("K", 64).set("N", 128);
  kit.node("FusedMatMul", {"p", "w"}, {"m"}).domain(kMicrosoft);
  kit.node("BiasGelu", {"m", "b"}, {"y"}).domain(kMicrosoft);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(graph.ops()[OpId(0)].work.flops, 2.0 * 2 * 16 * 64 * 128);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 16, 8}));
}

TEST(OnnxContrib, SamplingAtPlaces) {
  ModelKit kit;
  kit.input("x", {"batch", 3, 8, 8}).input("at", {"batch", 5, 6, 2}).output("y");
  kit.node("GridSample", {"x", "at"}, {"y"});
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 3, 5, 6}));
}

// Op set 18 let every reduction do nothing; the rules of earlier ones would make a lone number.
TEST(OnnxContrib, AReductionOfNoAxes) {
  ModelKit kit(18);
  kit.input("x", {"batch", 8}).output("y");
  kit.node("ReduceMax", {"x"}, {"y"}).set("keepdims", 0).set("noop_with_empty_axes", 1);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 8}));
}

TEST(OnnxContrib, PlacesOfWhatIsNotZero) {
  ModelKit kit;
  kit.input("x", {"batch", 3, 4}).output("y");
  kit.node("NonZero", {"x"}, {"y"});
  EXPECT_EQ(tensor_named(kit.import(batch(2)), "y").shape, (Shape{3, 24}));
}

// libonnx does not tell the length of the new axis.
TEST(OnnxContrib, OneHotIsAsLongAsItsDepth) {
  ModelKit kit;
  kit.input("x", {"batch", 5}, onnx::TensorProto::INT64).input("z", {"batch", 7, 1}).output("y");
  kit.constant("depth", int64s({7})).constant("values", int64s({0, 1}));
  kit.node("OneHot", {"x", "depth", "values"}, {"hot"}).set("axis", 1);
  kit.node("Cast", {"hot"}, {"weights"}).set("to", static_cast<int>(onnx::TensorProto::FLOAT));
  kit.node("Mul", {"z", "weights"}, {"y"});
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "hot").shape, (Shape{2, 7, 5}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 7, 5}));
}

// An op that nobody knows, and one that libonnx knows without a rule, are guessed and marked.
TEST(OnnxContrib, UnknownOpsAreMarked) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain("ai.onnx.ml");
  kit.proto.mutable_opset_import(1)->set_version(3);
  kit.input("x", {"batch", 8}).output("z");
  kit.node("Scaler", {"x"}, {"y"}).domain("ai.onnx.ml");
  kit.node("Odd", {"y"}, {"z"}).domain("somewhere.else");
  const Graph graph = kit.import(batch(2));
  for (const Op& op : graph.ops()) EXPECT_TRUE(op.estimated) << op.name;
  EXPECT_EQ(tensor_named(graph, "z").shape, (Shape{2, 8}));
}

// The extent of a grid is not the batch, although it is divisible by it.
TEST(OnnxContrib, AGridIsNotScaledWithTheBatch) {
  for (const int stored : {1, 2}) {
    ModelKit kit;
    kit.input("x", {stored, 4, 6}).output("y").weight("row", {1, 6}).weight("token", {1, 1, 6});
    kit.constant("grid", int64s({4, 6})).constant("each", int64s({stored, 1, 6}));
    kit.node("Expand", {"row", "grid"}, {"rows"});
    kit.node("Add", {"x", "rows"}, {"sum"});
    kit.node("Expand", {"token", "each"}, {"tokens"});
    kit.node("Concat", {"tokens", "sum"}, {"y"}).set("axis", 1);
    EXPECT_EQ(tensor_named(kit.import(batch(8)), "y").shape, (Shape{8, 5, 6}));
  }
}

TEST(OnnxContrib, EmbeddingsWithoutSegments) {
  ModelKit kit;
  kit.input("ids", {"batch", 5}, onnx::TensorProto::INT32).output("y");
  kit.weight("words", {30, 8}).weight("places", {10, 8}).weight("scale", {8}).weight("shift", {8});
  kit.node("EmbedLayerNormalization", {"ids", "", "words", "places", "", "scale", "shift"},
           {"y", "mask"})
      .domain(kMicrosoft);
  const Graph graph = kit.import(batch(2));
  expect_split(graph);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 5, 8}));
  EXPECT_EQ(parameters(graph), 4);
}

TEST(OnnxContrib, CropsOfTheFirstOpSet) {
  const auto cropped = [](const std::vector<std::int64_t>& border,
                          const std::vector<std::int64_t>& scale) {
    ModelKit kit(6);
    kit.input("x", {"batch", 3, 9, 8}).output("y");
    NodeKit crop = kit.node("Crop", {"x"}, {"y"}).set("border", border);
    if (!scale.empty()) crop.set("scale", scale);
    const Graph graph = kit.import(batch(2));
    expect_split(graph);
    return tensor_named(graph, "y").shape;
  };
  EXPECT_EQ(cropped({1, 2, 3, 4}, {}), (Shape{2, 3, 3, 4}));
  EXPECT_EQ(cropped({1, 2}, {5, 6}), (Shape{2, 3, 5, 6}));
}

TEST(OnnxContrib, AGuessIsBlamedWhereItDoesNotFit) {
  ModelKit kit;
  kit.input("x", {"batch", 6}).output("y").weight("w", {6, 3});
  kit.node("Shorter", {"x"}, {"s"}).name("guessed");
  kit.node("MatMul", {"x", "w"}, {"h"});
  kit.node("Sigmoid", {"s"}, {"t"});
  kit.node("Add", {"h", "t"}, {"y"}).name("sum");
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(
      error.find("one of them follows from op \"guessed\" (Shorter), whose type is not known"),
      std::string::npos)
      << error;
}

// Classifiers pick the names of classes.
TEST(OnnxContrib, ConstantsOfTextArePickedAsNumbersAre) {
  onnx::TensorProto names;
  names.set_data_type(onnx::TensorProto::STRING);
  names.add_dims(3);
  for (const char* name : {"cat", "dog", "eel"}) names.add_string_data(name);
  for (const bool node : {false, true}) {
    ModelKit kit;
    kit.input("x", {"batch", 6}).output("y").output("name").weight("w", {6, 3});
    kit.node("MatMul", {"x", "w"}, {"y"});
    kit.node("ArgMax", {"y"}, {"place"}).set("axis", 1).set("keepdims", 0);
    if (node)
      kit.node("Constant", {}, {"names"}).set("value", names);
    else
      kit.constant("names", names);
    kit.node("Gather", {"names", "place"}, {"name"});
    const Graph graph = kit.import(batch(2));
    EXPECT_EQ(tensor_named(graph, "name").shape, Shape{2});
    EXPECT_EQ(parameters(graph), 1);
  }
}

}  // namespace
}  // namespace strato::test
