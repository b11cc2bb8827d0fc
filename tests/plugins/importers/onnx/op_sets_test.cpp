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

// Op sets 1 to 8: what is trained has five results; attributes that later ones do without.
TEST(OnnxOpSets, EarlyBatchNormalization) {
  for (const int opset : {1, 5, 6, 7, 8, 9}) {
    for (const bool trains : {false, true}) {
      ModelKit kit(opset);
      kit.input("x", {"batch", 3, 5, 5}).output("y");
      for (const char* name : {"scale", "shift", "mean", "var"}) kit.weight(name, {3});
      const Names more = trains ? Names{"y", "m", "v", "sm", "sv"} : Names{"y"};
      NodeKit node = kit.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, more);
      if (opset < 7) node.set("is_test", trains ? 0 : 1);
      if (opset < 9) node.set("spatial", 1);
      const Graph graph = kit.import(batch(4));
      EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{4, 3, 5, 5})) << opset;
      EXPECT_EQ(graph.ops()[OpId(0)].outputs.size(), 1U) << opset;
    }
  }
}

// ONNX Runtime writes it into files of op sets that had none, with what its gradient reads.
TEST(OnnxOpSets, LayerNormalizationBeforeItsOpSet) {
  ModelKit kit(14);
  kit.input("x", {"batch", 5, 8}).output("y").output("mean").weight("g", {8}).weight("b", {8});
  kit.node("LayerNormalization", {"x", "g", "b"}, {"y", "mean", "inverse"}).set("axis", -1);
  const Graph graph = kit.import(batch(4));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{4, 5, 8}));
  EXPECT_EQ(tensor_named(graph, "mean").shape, (Shape{4, 5, 1}));
}

TEST(OnnxOpSets, NothingOfOnnxItselfNeedsNoOpSetOfIt) {
  ModelKit kit;
  kit.proto.mutable_opset_import(0)->set_domain("com.microsoft");
  kit.proto.mutable_opset_import(0)->set_version(1);
  kit.input("x", {"batch", 8}).output("y").weight("b", {8});
  kit.node("BiasGelu", {"x", "b"}, {"y"}).domain("com.microsoft");
  EXPECT_EQ(op_types(kit.import(batch(4))), Names{"BiasGelu"});
}

// Up to IR version 3 initializers are inputs, too; sparse ones as well.
TEST(OnnxOpSets, SparseInitializersMayBeListedAsInputs) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).input("w", {8, 5}).output("y");
  auto* sparse = kit.graph().add_sparse_initializer();
  *sparse->mutable_values() = floats({1}, {2});
  sparse->mutable_values()->set_name("w");
  *sparse->mutable_indices() = int64s({3});
  sparse->add_dims(8);
  sparse->add_dims(5);
  kit.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(parameters(kit.import(batch(4))), 1);
}

// A scale for each element, as Caffe's are.
TEST(OnnxOpSets, EarlyBatchNormalizationOfEachElement) {
  ModelKit kit(7);
  kit.input("x", {"batch", 3, 5}).output("y");
  for (const char* name : {"scale", "shift", "mean", "var"}) kit.weight(name, {3, 5});
  kit.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"y"}).set("spatial", 0);
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").shape, (Shape{4, 3, 5}));
}

TEST(OnnxOpSets, TheLargestByALoneNumber) {
  for (const int opset : {10, 11, 17}) {
    ModelKit kit(opset);
    kit.input("x", {"batch", 7}).output("y").output("at").constant("k", int64(3));
    kit.node("TopK", {"x", "k"}, {"y", "at"}).set("axis", 1);
    const Graph graph = kit.import(batch(4));
    EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{4, 3}));
    EXPECT_EQ(tensor_named(graph, "at").type, DataType::I64);
  }
}

// Exporters that know of no rank 0 join lone numbers to a list.
TEST(OnnxOpSets, LoneNumbersAreJoinedToAList) {
  ModelKit kit;
  kit.input("x", {"batch", 6}).output("y").constant("rows", int64(-1)).constant("three", int64(3));
  kit.constant("one", int64s({2}));
  kit.node("Concat", {"rows", "one", "three"}, {"shape"}).set("axis", 0);
  kit.node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").shape, (Shape{4, 2, 3}));
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
