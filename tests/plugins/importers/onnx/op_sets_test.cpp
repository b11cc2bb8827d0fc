// Op sets 18 to 24: what they changed, each by the shape of its result.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

// "y" of one op on "x", of a batch of 4.
Shape result_of(int opset, const std::vector<Dim>& x, const std::string& type, const Names& inputs,
                const std::function<void(ModelKit&, NodeKit&)>& more = nullptr) {
  ModelKit kit(opset);
  kit.proto.set_ir_version(11);
  kit.input("x", x).output("y");
  NodeKit node = kit.node(type, inputs, {"y"});
  if (more) more(kit, node);
  return tensor_named(kit.import(batch(4)), "y").shape;
}

TEST(OnnxOpSets, SplitsInUnequalParts) {
  ModelKit kit(18);
  kit.input("x", {"batch", 7}).output("a").output("b").output("c");
  kit.node("Split", {"x"}, {"a", "b", "c"}).set("axis", 1).set("num_outputs", 3);
  const Graph graph = kit.import(batch(4));
  EXPECT_EQ(tensor_named(graph, "a").shape, (Shape{4, 3}));
  EXPECT_EQ(tensor_named(graph, "b").shape, (Shape{4, 3}));
  EXPECT_EQ(tensor_named(graph, "c").shape, (Shape{4, 1}));
}

TEST(OnnxOpSets, PadsChosenAxes) {
  const auto chosen = [](ModelKit& kit, NodeKit&) {
    kit.constant("pads", int64s({1, 2, 3, 4})).constant("axes", int64s({-2, -1}));
  };
  EXPECT_EQ(result_of(18, {"batch", 3, 8, 8}, "Pad", {"x", "pads", "", "axes"}, chosen),
            (Shape{4, 3, 12, 14}));
}

TEST(OnnxOpSets, ResizesChosenAxes) {
  const auto sizes = [](ModelKit& kit, NodeKit& node) {
    kit.constant("sizes", int64s({10, 30}));
    node.set("axes", std::vector<std::int64_t>{2, 3}).set("antialias", 1);
  };
  EXPECT_EQ(result_of(18, {"batch", 3, 20, 40}, "Resize", {"x", "", "", "sizes"}, sizes),
            (Shape{4, 3, 10, 30}));
  const auto factors = [](ModelKit& kit, NodeKit& node) {
    kit.constant("scales", floats({2}, {2, 0.5F}));
    node.set("axes", std::vector<std::int64_t>{2, 3});
  };
  EXPECT_EQ(result_of(18, {"batch", 3, 20, 40}, "Resize", {"x", "", "scales"}, factors),
            (Shape{4, 3, 40, 20}));
}

TEST(OnnxOpSets, ImagesKeepTheirProportions) {
  ModelKit kit(18);
  kit.input("x", {"batch", 3, 20, 40}).output("y").constant("sizes", int64s({10, 30}));
  kit.node("Resize", {"x", "", "", "sizes"}, {"y"}).set("axes", std::vector<std::int64_t>{2, 3});
  auto* policy = kit.graph().mutable_node(0)->add_attribute();
  policy->set_name("keep_aspect_ratio_policy");
  policy->set_type(onnx::AttributeProto::STRING);
  policy->set_s("not_larger");
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").shape, (Shape{4, 3, 10, 20}));
  policy->set_s("not_smaller");
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").shape, (Shape{4, 3, 15, 30}));
}

TEST(OnnxOpSets, CropsAroundTheCentre) {
  const auto wanted = [](ModelKit& kit, NodeKit& node) {
    kit.constant("wanted", int64s({6, 50}));
    node.set("axes", std::vector<std::int64_t>{2, 3});
  };
  EXPECT_EQ(result_of(18, {"batch", 3, 20, 40}, "CenterCropPad", {"x", "wanted"}, wanted),
            (Shape{4, 3, 6, 50}));
}

TEST(OnnxOpSets, ReductionsHaveTheirAxesAsAnInput) {
  const auto axes = [](ModelKit& kit, NodeKit& node) {
    kit.constant("axes", int64s({-1}));
    node.set("keepdims", 0);
  };
  for (const char* type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                           "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"})
    EXPECT_EQ(result_of(18, {"batch", 3, 5}, type, {"x", "axes"}, axes), (Shape{4, 3})) << type;
}

TEST(OnnxOpSets, NoAxesAreAllOfThemOrNone) {
  for (const bool none : {false, true}) {
    const auto axes = [none](ModelKit& kit, NodeKit& node) {
      kit.constant("axes", int64s({}));
      node.set("keepdims", 0).set("noop_with_empty_axes", none ? 1 : 0);
    };
    EXPECT_EQ(result_of(18, {"batch", 3, 5}, "ReduceMax", {"x", "axes"}, axes),
              none ? (Shape{4, 3, 5}) : Shape());
  }
}

// The parts do not hang on the batch that the file was made with.
TEST(OnnxOpSets, PartsStayWhereTheBatchChanges) {
  ModelKit kit(18);
  kit.input("x", {2, 7}).output("a").output("b");
  kit.node("Split", {"x"}, {"a", "b"}).set("axis", 1).set("num_outputs", 2);
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "b").shape, (Shape{4, 3}));
}

TEST(OnnxOpSets, WindowsWithHoles) {
  const auto window = [](ModelKit&, NodeKit& node) {
    node.set("kernel_shape", std::vector<std::int64_t>{3, 3})
        .set("dilations", std::vector<std::int64_t>{2, 2});
  };
  EXPECT_EQ(result_of(19, {"batch", 3, 10, 10}, "AveragePool", {"x"}, window), (Shape{4, 3, 6, 6}));
  EXPECT_EQ(result_of(18, {"batch", 3, 10, 10}, "LpPool", {"x"}, window), (Shape{4, 3, 6, 6}));
}

TEST(OnnxOpSets, NewOpsLikeTheirInput) {
  for (const char* type : {"Gelu", "Mish", "Swish"})
    EXPECT_EQ(result_of(24, {"batch", 3, 5}, type, {"x"}), (Shape{4, 3, 5})) << type;
  const auto scale = [](ModelKit& kit, NodeKit&) { kit.weight("scale", {8}).weight("shift", {8}); };
  EXPECT_EQ(result_of(23, {"batch", 5, 8}, "RMSNormalization", {"x", "scale"}, scale),
            (Shape{4, 5, 8}));
  EXPECT_EQ(result_of(21, {"batch", 5, 8}, "LayerNormalization", {"x", "scale", "shift"}, scale),
            (Shape{4, 5, 8}));
  const auto groups = [](ModelKit& kit, NodeKit& node) {
    kit.weight("scale", {8}).weight("shift", {8});
    node.set("num_groups", 4);
  };
  EXPECT_EQ(result_of(21, {"batch", 8, 5}, "GroupNormalization", {"x", "scale", "shift"}, groups),
            (Shape{4, 8, 5}));
}

TEST(OnnxOpSets, AttentionAndRotation) {
  const auto heads = [](ModelKit& kit, NodeKit& node) {
    kit.input("k", {"batch", 2, 9, 16}).input("v", {"batch", 2, 9, 16});
    node.set("is_causal", 1);
  };
  EXPECT_EQ(result_of(23, {"batch", 8, 9, 16}, "Attention", {"x", "k", "v"}, heads),
            (Shape{4, 8, 9, 16}));
  const auto tables = [](ModelKit& kit, NodeKit&) {
    kit.constant("cos", floats({1, 9, 8}, std::vector<float>(72, 1)))
        .constant("sin", floats({1, 9, 8}, std::vector<float>(72, 0)));
  };
  EXPECT_EQ(result_of(23, {"batch", 8, 9, 16}, "RotaryEmbedding", {"x", "cos", "sin"}, tables),
            (Shape{4, 8, 9, 16}));
}

// Four bits an element, a scale for each block of them.
TEST(OnnxOpSets, WeightsOfFourBits) {
  ModelKit kit(21);
  kit.proto.set_ir_version(10);
  onnx::TensorProto packed;
  packed.set_data_type(22);  // INT4
  packed.add_dims(32);
  packed.add_dims(8);
  packed.set_raw_data(std::string(128, '\x21'));
  kit.input("x", {"batch", 32}).output("y").constant("w", packed);
  kit.constant("scale", floats({2, 8}, std::vector<float>(16, 0.5F)));
  kit.node("DequantizeLinear", {"w", "scale"}, {"wide"}).set("axis", 0).set("block_size", 16);
  kit.node("MatMul", {"x", "wide"}, {"y"});
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").shape, (Shape{4, 8}));
}

TEST(OnnxOpSets, ExtentsBeyondReasonAreRefused) {
  ModelKit kit(18);
  kit.input("x", {"batch", 8}).output("y").constant("pads", int64s({INT64_MAX, INT64_MAX}));
  kit.constant("axes", int64s({1}));
  kit.node("Pad", {"x", "pads", "", "axes"}, {"y"});
  EXPECT_NE(error_of([&] { kit.import(batch(4)); }), "");
  ModelKit parts(18);
  parts.input("x", {"batch", 8}).output("y");
  parts.node("Split", {"x"}, {"y"}).set("axis", 1).set("num_outputs", std::int64_t{1} << 30);
  EXPECT_NE(error_of([&] { parts.import(batch(4)); }), "");
}

}  // namespace
}  // namespace strato::test
