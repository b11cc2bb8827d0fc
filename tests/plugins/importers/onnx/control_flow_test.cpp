// Loops are unrolled, lists of tensors vanish, and an option decides what an input would.
#include <algorithm>

#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

constexpr int kBool = onnx::TensorProto::BOOL, kInt = onnx::TensorProto::INT64;

onnx::GraphProto body(const Names& inputs, const Names& outputs) {
  onnx::GraphProto graph;
  for (const std::string& input : inputs) graph.add_input()->set_name(input);
  for (const std::string& output : outputs) graph.add_output()->set_name(output);
  return graph;
}

onnx::TensorProto truth(bool value) { return tensor_of<std::uint8_t>({}, {value}, kBool); }

// h = tanh(h x w), each h stacked
onnx::GraphProto step() {
  onnx::GraphProto graph = body({"i", "go", "h"}, {"again", "h_next", "seen"});
  add_node(graph, "MatMul", {"h", "w"}, {"product"});
  add_node(graph, "Tanh", {"product"}, {"h_next"});
  add_node(graph, "Identity", {"go"}, {"again"});
  add_node(graph, "Identity", {"h_next"}, {"seen"});
  return graph;
}

ModelKit loop_kit(int opset = 17) {
  ModelKit kit(opset);
  kit.input("x", {"batch", 8}).output("y").output("all").weight("w", {8, 8});
  kit.node("Loop", {"n", "", "x"}, {"y", "all"}).name("loop").set("body", step());
  return kit;
}

int count(const Graph& graph, const std::string& type) {
  const Names types = op_types(graph);
  return static_cast<int>(std::count(types.begin(), types.end(), type));
}

TEST(OnnxLoop, IsUnrolledWithOneWeight) {
  for (const int opset : {11, 13, 17}) {
    ModelKit kit = loop_kit(opset);
    kit.constant("n", int64(3));
    const Graph graph = kit.import(batch(4));
    EXPECT_EQ(count(graph, "MatMul"), 3);
    EXPECT_EQ(parameters(graph), 1);
    EXPECT_EQ(tensor_named(graph, "all").shape, (Shape{3, 4, 8}));
    EXPECT_EQ(tensor_named(graph, "all").batch.axis, 1);
    EXPECT_EQ(tensor_named(graph, "loop/2/h_next").batch.axis, 0);
  }
}

TEST(OnnxLoop, RoundsMayDependOnShapes) {
  ModelKit kit;
  kit.input("x", {"batch", "time", 8}).output("y").weight("w", {8, 8});
  kit.constant("zeros", floats({1, 8}, std::vector<float>(8))).constant("one", int64(1));
  kit.node("Shape", {"x"}, {"shape"});
  kit.node("Gather", {"shape", "one"}, {"n"});
  onnx::GraphProto graph = body({"i", "go", "h"}, {"go", "h_next"});
  add_node(graph, "Gather", {"x", "i"}, {"now"}).set("axis", 1);
  add_node(graph, "Add", {"h", "now"}, {"sum"});
  add_node(graph, "MatMul", {"sum", "w"}, {"h_next"});
  kit.node("Loop", {"n", "", "zeros"}, {"y"}).set("body", graph);
  ImportOptions options = batch(2);
  options.dimensions["time"] = 5;
  const Graph imported = kit.import(options);
  EXPECT_EQ(count(imported, "MatMul"), 5);
  for (const Op& op : imported.ops()) EXPECT_EQ(op.split, Splittability::Concat) << op.name;
}

TEST(OnnxLoop, EndsWhereItsConditionDoes) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").constant("go", truth(true)).constant("most", int64(2));
  onnx::GraphProto graph = body({"i", "go_on", "h"}, {"again", "h_next"});
  add_node(graph, "Less", {"i", "most"}, {"again"});
  add_node(graph, "Relu", {"h"}, {"h_next"});
  kit.node("Loop", {"", "go", "x"}, {"y"}).set("body", graph);
  EXPECT_EQ(count(kit.import(batch(2)), "Relu"), 3);
}

TEST(OnnxLoop, OfNoRoundsHandsThrough) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").weight("w", {8, 8}).constant("n", int64(0));
  kit.node("Loop", {"n", "", "x"}, {"h"}).set("body", step());
  kit.node("Relu", {"h"}, {"y"});
  EXPECT_EQ(op_types(kit.import(batch(2))), Names{"Relu"});
}

TEST(OnnxLoop, AnInputMayBeGivenAsANumber) {
  ModelKit kit = loop_kit();
  kit.input("n", {}, kInt);
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("op \"loop\" (Loop): loops as long as data say; give it with --set-dim n=N"),
            std::string::npos)
      << error;
  ImportOptions options = batch(2);
  options.dimensions["n"] = 6;
  EXPECT_EQ(count(kit.import(options), "MatMul"), 6);
}

// A "while" of an exporter, whose condition comes from the data.
TEST(OnnxLoop, OfUnknownLengthGetsItsRoundsByName) {
  ModelKit kit;
  kit.input("x", {"batch", 8})
      .output("y")
      .constant("n", int64(INT64_MAX))
      .constant("go", truth(true));
  onnx::GraphProto graph = body({"i", "go_on", "h"}, {"again", "h_next"});
  add_node(graph, "Relu", {"h"}, {"h_next"});
  add_node(graph, "ReduceMax", {"h_next"}, {"most"}).set("keepdims", 0L);
  add_node(graph, "Cast", {"most"}, {"again"}).set("to", static_cast<std::int64_t>(kBool));
  kit.node("Loop", {"n", "go", "x"}, {"y"}).name("/while").set("body", graph);
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("loops as long as data say; give its rounds with --set-dim /while=N"),
            std::string::npos)
      << error;
  ImportOptions options = batch(2);
  options.dimensions["/while"] = 4;
  EXPECT_EQ(count(kit.import(options), "Relu"), 4);
  options.dimensions["/whale"] = 4;
  EXPECT_NE(error_of([&] { kit.import(options); }).find("--set-dim /whale"), std::string::npos);
}

// A branch in a loop's body is decided in all rounds at once.
TEST(OnnxLoop, BranchesInsideAreDecidedByName) {
  ModelKit kit = loop_kit();
  kit.constant("n", int64(3));
  onnx::GraphProto tanh, relu;
  add_node(tanh, "Tanh", {"product"}, {"t"});
  tanh.add_output()->set_name("t");
  add_node(relu, "Relu", {"product"}, {"r"});
  relu.add_output()->set_name("r");
  auto* loop = kit.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::GraphProto made;
  add_node(made, "ReduceMax", {"product"}, {"most"}).set("keepdims", 0L);
  add_node(made, "Cast", {"most"}, {"flag"}).set("to", static_cast<std::int64_t>(kBool));
  add_node(made, "If", {"flag"}, {"h_next"})
      .name("/choice")
      .set("then_branch", tanh)
      .set("else_branch", relu);
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  *nodes.Add() = loop->node(0);
  for (const auto& node : made.node()) *nodes.Add() = node;
  for (int i = 2; i < loop->node_size(); ++i) *nodes.Add() = loop->node(i);
  *loop->mutable_node() = nodes;
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("choose with --set-dim /choice=1 (then) or =0 (else)"), std::string::npos)
      << error;
  ImportOptions options = batch(2);
  options.dimensions["/choice"] = 0;
  EXPECT_EQ(count(kit.import(options), "Relu"), 3);
}

TEST(OnnxLoop, WithoutEndIsRefused) {
  ModelKit kit = loop_kit();
  kit.constant("n", int64(INT64_MAX));
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("too many"), std::string::npos) << error;
  ModelKit bad = loop_kit();
  bad.constant("n", int64(2));
  bad.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_input()->RemoveLast();
  EXPECT_NE(error_of([&] { bad.import(batch(2)); }).find("does not fit its body"),
            std::string::npos);
}

TEST(OnnxScan, SlicesAndStacks) {
  for (const bool backwards : {false, true}) {
    ModelKit kit;
    kit.input("x", {"batch", 5, 8}).input("h0", {"batch", 8}).output("last").output("all");
    kit.weight("w", {8, 8});
    onnx::GraphProto graph = body({"h", "now"}, {"h_next", "seen"});
    add_node(graph, "MatMul", {"h", "w"}, {"product"});
    add_node(graph, "Add", {"product", "now"}, {"h_next"});
    add_node(graph, "Tanh", {"h_next"}, {"seen"});
    kit.node("Scan", {"h0", "x"}, {"last", "all"})
        .name("scan")
        .set("body", graph)
        .set("num_scan_inputs", 1)
        .set("scan_input_axes", std::vector<std::int64_t>{1})
        .set("scan_output_axes", std::vector<std::int64_t>{1})
        .set("scan_input_directions", std::vector<std::int64_t>{backwards ? 1 : 0});
    const Graph imported = kit.import(batch(2));
    EXPECT_EQ(count(imported, "MatMul"), 5);
    EXPECT_EQ(tensor_named(imported, "all").shape, (Shape{2, 5, 8}));
    EXPECT_EQ(tensor_named(imported, "all").batch.axis, 0);
    EXPECT_EQ(tensor_named(imported, "scan/0/slice_0").shape, (Shape{2, 8}));
  }
}

TEST(OnnxBranch, AnOptionChooses) {
  onnx::GraphProto with = body({}, {"a"}), without = body({}, {"b"});
  add_node(with, "Relu", {"x"}, {"a"});
  add_node(without, "Tanh", {"x"}, {"b"});
  ModelKit kit;
  kit.input("x", {"batch", 3}).input("use_cache", {1}, kBool).output("y");
  kit.node("If", {"use_cache"}, {"y"}).set("then_branch", with).set("else_branch", without);
  EXPECT_NE(error_of([&] { kit.import(batch(1)); }).find("choose with --set-dim use_cache=1 or =0"),
            std::string::npos);
  for (const int chosen : {0, 1}) {
    ImportOptions options = batch(1);
    options.dimensions["use_cache"] = chosen;
    EXPECT_EQ(op_types(kit.import(options)), Names{chosen == 1 ? "Relu" : "Tanh"});
  }
}

// A loop in a branch, whose body has names of its own that are others outside.
TEST(OnnxBranch, NamesOfInnerBodiesAreTheirOwn) {
  onnx::GraphProto round = body({"i", "go", "h"}, {"go", "z"});
  *round.add_initializer() = int64(2);
  round.mutable_initializer(0)->set_name("later");
  add_node(round, "Tanh", {"h"}, {"z"});
  onnx::GraphProto with = body({}, {"y"});
  add_node(with, "Relu", {"x"}, {"h"});
  add_node(with, "Loop", {"n", "", "h"}, {"t"}).set("body", round);
  add_node(with, "Sigmoid", {"t"}, {"z"});
  add_node(with, "Neg", {"z"}, {"y"});
  ModelKit kit;
  kit.input("x", {"batch", 3}).constant("n", int64(2)).constant("yes", truth(true)).output("later");
  kit.node("If", {"yes"}, {"r"}).set("then_branch", with).set("else_branch", with);
  kit.node("Abs", {"r"}, {"later"});
  EXPECT_EQ(op_types(kit.import(batch(2))),
            (Names{"Relu", "Tanh", "Tanh", "Sigmoid", "Neg", "Abs"}));
}

// A loop without a name, in a branch whose result it makes.
TEST(OnnxBranch, InnerLoopsGetTheirRoundsByTheirFirstResult) {
  onnx::GraphProto round = body({"i", "go", "h"}, {"again", "z"});
  add_node(round, "Tanh", {"h"}, {"z"});
  add_node(round, "ReduceMax", {"z"}, {"most"}).set("keepdims", 0L);
  add_node(round, "Cast", {"most"}, {"again"}).set("to", static_cast<std::int64_t>(kBool));
  onnx::GraphProto with = body({}, {"t"});
  add_node(with, "Loop", {"", "yes", "x"}, {"t"}).set("body", round);
  ModelKit kit;
  kit.input("x", {"batch", 3}).constant("yes", truth(true)).output("r");
  kit.node("If", {"yes"}, {"r"}).set("then_branch", with).set("else_branch", with);
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("give its rounds with --set-dim t=N"), std::string::npos) << error;
  ImportOptions options = batch(2);
  options.dimensions["t"] = 3;
  EXPECT_EQ(op_types(kit.import(options)), (Names{"Tanh", "Tanh", "Tanh"}));
}

TEST(OnnxSequence, ListsVanish) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").weight("w", {4, 4});
  kit.constant("first", int64(0)).constant("last", int64(-1));
  kit.node("Split", {"x"}, {"a", "b"}).set("axis", 1);
  kit.node("SequenceConstruct", {"a", "b"}, {"list"});
  kit.node("SequenceAt", {"list", "last"}, {"tail"});
  kit.node("MatMul", {"tail", "w"}, {"c"});
  kit.node("SequenceInsert", {"list", "c"}, {"longer"});
  kit.node("SequenceErase", {"longer", "first"}, {"rest"});
  kit.node("ConcatFromSequence", {"rest"}, {"y"}).set("axis", 1);
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), (Names{"Split", "MatMul", "Concat"}));
  const Op& joined = graph.ops()[OpId(2)];
  ASSERT_EQ(joined.inputs.size(), 2u);
  EXPECT_EQ(graph.tensor(joined.inputs[0]).name, "b");
  EXPECT_EQ(graph.tensor(joined.inputs[1]).name, "c");
}

TEST(OnnxSequence, SplitIntoSlicesAndStackedAgain) {
  for (const int opset : {11, 17}) {
    ModelKit kit(opset);
    kit.input("x", {"batch", 3, 8}).output("y");
    kit.node("SplitToSequence", {"x"}, {"list"}).set("axis", 1).set("keepdims", 0);
    kit.node("ConcatFromSequence", {"list"}, {"y"}).set("axis", 2).set("new_axis", 1);
    EXPECT_EQ(tensor_named(kit.import(batch(2)), "y").shape, (Shape{2, 8, 3}));
  }
}

TEST(OnnxSequence, GoesThroughALoop) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").constant("n", int64(3));
  kit.node("SequenceEmpty", {}, {"none"});
  onnx::GraphProto graph = body({"i", "go", "list"}, {"go", "longer"});
  add_node(graph, "Relu", {"x"}, {"r"});
  add_node(graph, "SequenceInsert", {"list", "r"}, {"longer"});
  kit.node("Loop", {"n", "", "none"}, {"list3"}).set("body", graph);
  kit.node("ConcatFromSequence", {"list3"}, {"y"}).set("axis", 1);
  EXPECT_EQ(tensor_named(kit.import(batch(2)), "y").shape, (Shape{2, 24}));
}

TEST(OnnxSequence, WhatIsNotKnownIsAnError) {
  ModelKit place;
  place.input("x", {"batch", 8}).input("at", {}, kInt).output("y");
  place.node("SequenceConstruct", {"x", "x"}, {"list"});
  place.node("SequenceAt", {"list", "at"}, {"y"}).name("pick");
  EXPECT_NE(error_of([&] { place.import(batch(2)); }).find("depends on data"), std::string::npos);
  ModelKit outside;
  outside.input("x", {"batch", 8}).output("y").constant("at", int64(2));
  outside.node("SequenceConstruct", {"x", "x"}, {"list"});
  outside.node("SequenceAt", {"list", "at"}, {"y"});
  EXPECT_NE(error_of([&] { outside.import(batch(2)); }).find("outside of the list"),
            std::string::npos);
  ModelKit read;
  read.input("x", {"batch", 8}).output("y");
  read.node("SequenceConstruct", {"x"}, {"list"});
  read.node("Relu", {"list"}, {"y"});
  EXPECT_NE(error_of([&] { read.import(batch(2)); }).find("is a list of tensors"),
            std::string::npos);
}

TEST(OnnxOptional, IsWhatItHolds) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y");
  kit.node("Optional", {"x"}, {"maybe"});
  kit.node("OptionalGetElement", {"maybe"}, {"sure"});
  kit.node("Relu", {"sure"}, {"y"});
  EXPECT_EQ(op_types(kit.import(batch(2))), Names{"Relu"});
}

}  // namespace
}  // namespace strato::test
