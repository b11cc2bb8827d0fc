// Small files that ask for much, or for what no 64 bits hold: each gets its answer at once.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

onnx::GraphProto round_of(const Names& inputs, const Names& outputs) {
  onnx::GraphProto graph;
  for (const std::string& input : inputs) graph.add_input()->set_name(input);
  for (const std::string& output : outputs) graph.add_output()->set_name(output);
  return graph;
}

ModelKit many_rounds(std::int64_t rounds) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").weight("w", {8, 8}).constant("n", int64(rounds));
  return kit;
}

std::string error_of_import(const ModelKit& kit) {
  return error_of([&] { kit.import(batch(2)); });
}

constexpr const char* kTooMuch = "make too many ops when written out";

TEST(OnnxLimits, AWeightThatGoesFromRoundToRoundStaysOne) {
  onnx::GraphProto body = round_of({"i", "go", "h", "v"}, {"go", "h_next", "v_next"});
  add_node(body, "MatMul", {"h", "v"}, {"h_next"});
  add_node(body, "Identity", {"v"}, {"v_next"});
  ModelKit kit = many_rounds(10);
  kit.node("Loop", {"n", "", "x", "w"}, {"y", "last"}).set("body", body);
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(parameters(graph), 1);
  EXPECT_EQ(graph.op_count(), 10U);
}

TEST(OnnxLimits, ConstantsOfABodyAreReadOnce) {
  onnx::GraphProto body = round_of({"i", "go", "h"}, {"go", "h_next"});
  add_node(body, "Constant", {}, {"c"})
      .set("value", floats({1, 4096}, std::vector<float>(4096, 0.5F)));
  add_node(body, "Add", {"h", "c"}, {"h_next"});
  ModelKit kit;
  kit.input("x", {"batch", 4096}).output("y").constant("n", int64(500));
  kit.node("Loop", {"n", "", "x"}, {"y"}).name("loop").set("body", body);
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(graph.op_count(), 500U);
  EXPECT_EQ(graph.op(OpId(0)).inputs[1], graph.op(OpId(499)).inputs[1]);
}

// Not even a node is in them.
TEST(OnnxLimits, RoundsWithinRoundsCountTogether) {
  const onnx::GraphProto inner = round_of({"i", "g2", "h"}, {"g2", "h"});
  onnx::GraphProto outer = round_of({"i0", "go", "hh"}, {"go", "h3"});
  add_node(outer, "Loop", {"n", "", "hh"}, {"h3"}).name("in").set("body", inner);
  ModelKit kit = many_rounds(19'000);
  kit.node("Loop", {"n", "", "x"}, {"y"}).name("loop").set("body", outer);
  EXPECT_NE(error_of_import(kit).find(kTooMuch), std::string::npos);
}

TEST(OnnxLimits, ListsThatGrowInEveryRound) {
  onnx::GraphProto body = round_of({"i", "go", "s"}, {"go", "s2"});
  add_node(body, "SequenceInsert", {"s", "x"}, {"s2"});
  ModelKit kit = many_rounds(19'000);
  kit.node("SequenceEmpty", {}, {"none"});
  kit.node("Loop", {"n", "", "none"}, {"list"}).set("body", body);
  kit.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(error_of_import(kit).find("too long in all"), std::string::npos);
}

TEST(OnnxLimits, FunctionsThatCallTwice) {
  ModelKit kit;
  kit.input("x", {"batch"}).output("y");
  for (int level = 0; level < 28; ++level) {
    onnx::FunctionProto* function = kit.proto.add_functions();
    function->set_domain("f");
    function->set_name("f" + std::to_string(level));
    function->add_input("a");
    function->add_output("c");
    function->add_opset_import()->set_version(17);
    const std::string next = level < 27 ? "f" + std::to_string(level + 1) : "Relu";
    for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "c")}) {
      onnx::NodeProto* node = function->add_node();
      node->set_op_type(next);
      if (level < 27) node->set_domain("f");
      node->add_input(from);
      node->add_output(to);
    }
  }
  kit.node("f0", {"x"}, {"y"}).domain("f");
  EXPECT_NE(error_of_import(kit).find(kTooMuch), std::string::npos);
}

TEST(OnnxLimits, AListWithoutATensorInIt) {
  for (const char* type : {"SequenceAt", "ConcatFromSequence"}) {
    ModelKit kit;
    kit.input("x", {"batch", 8}).output("y").constant("one", int64(1));
    kit.node("SequenceConstruct", {"x", ""}, {"list"}).name("make");
    if (std::string(type) == "SequenceAt")
      kit.node(type, {"list", "one"}, {"y"});
    else
      kit.node(type, {"list"}, {"y"}).set("axis", 1L);
    EXPECT_NE(error_of_import(kit).find("has a place without a tensor"), std::string::npos);
  }
}

TEST(OnnxLimits, HeadsBeyondReason) {
  for (const std::int64_t heads : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{INT64_MAX},
                                   std::int64_t{INT64_MIN}, std::int64_t{1} << 62}) {
    for (const char* type : {"GroupQueryAttention", "MultiHeadAttention", "Attention"}) {
      ModelKit kit;
      kit.input("x", {"batch", 4, 8}).output("y");
      kit.node(type, {"x", "", ""}, {"y"})
          .domain("com.microsoft")
          .set("num_heads", 2L)
          .set("kv_num_heads", heads);
      error_of_import(kit);  // an error or some answer, never a crash
      ModelKit swapped;
      swapped.input("x", {"batch", 4, 8}).output("y");
      swapped.node(type, {"x", "x", "x"}, {"y"})
          .domain("com.microsoft")
          .set("num_heads", heads)
          .set("q_num_heads", heads)
          .set("kv_num_heads", heads);
      error_of_import(swapped);
    }
  }
}

TEST(OnnxLimits, StridesAndBlocksBeyondReason) {
  using Numbers = std::vector<std::int64_t>;
  for (const std::int64_t huge : {INT64_MAX, INT64_MIN, std::int64_t{1} << 40}) {
    ModelKit pool;
    pool.input("x", {"batch", 4, 4, 4}).output("y");
    pool.node("MaxUnpool", {"x", "x"}, {"y"})
        .set("kernel_shape", Numbers{2, huge})
        .set("strides", Numbers{huge, 2})
        .set("pads", Numbers{huge, huge, huge, huge});
    error_of_import(pool);
    ModelKit image;
    image.input("x", {"batch", 16, 4}).output("y").constant("image", int64s({4, 4}));
    image.constant("block", int64s({huge, huge}));
    image.node("Col2Im", {"x", "image", "block"}, {"y"});
    error_of_import(image);
  }
}

TEST(OnnxLimits, AnExtentThatAnOptionGivesIsNotTheBatch) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).input("mem", {"mem_dynamic_axes_1", 8}).output("y").output("z");
  kit.weight("w", {8, 8});
  kit.node("MatMul", {"x", "w"}, {"y"});
  kit.node("MatMul", {"mem", "w"}, {"z"});
  ImportOptions options = batch(4);
  options.dimensions["mem_dynamic_axes_1"] = 77;
  const Graph graph = kit.import(options);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{4, 8}));
  EXPECT_EQ(tensor_named(graph, "z").shape, (Shape{77, 8}));
}

}  // namespace
}  // namespace strato::test
