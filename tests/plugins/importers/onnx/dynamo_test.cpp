// Models as PyTorch's exporter over torch.export writes them: modules told in metadata, extents as
// expressions, functions of the model's own.
#include <google/protobuf/unknown_field_set.h>

#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

constexpr int kNodeMetadata = 9;  // a field of ONNX 1.16

void set_scopes(onnx::NodeProto& node, const std::string& scopes) {
  onnx::StringStringEntryProto entry;
  entry.set_key("pkg.torch.onnx.name_scopes");
  entry.set_value(scopes);
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(kNodeMetadata,
                                                                        entry.SerializeAsString());
}

ModelKit layer() {
  ModelKit kit(18);
  kit.input("x", {"batch", 8}).output("y").weight("w", {8, 8});
  kit.node("MatMul", {"x", "w"}, {"y"}).name("node_MatMul_12");
  return kit;
}

std::string name_with(const std::string& scopes) {
  ModelKit kit = layer();
  set_scopes(*kit.graph().mutable_node(0), scopes);
  return kit.import(batch(2)).op(OpId(0)).name;
}

TEST(OnnxDynamo, OpsAreNamedByTheirModules) {
  EXPECT_EQ(name_with("['', 'layers.0', 'layers.0.attention', 'linear_3']"),
            "layers.0.attention/node_MatMul_12");
  EXPECT_EQ(name_with(R"(["it's", "linear"])"), "it's/node_MatMul_12");
  EXPECT_EQ(layer().import(batch(2)).op(OpId(0)).name, "node_MatMul_12");
}

TEST(OnnxDynamo, WithoutModulesNamesStay) {
  for (const char* scopes : {"", "[]", "['', 'linear']", "['linear']", "['a", "no list"})
    EXPECT_EQ(name_with(scopes), "node_MatMul_12") << scopes;
}

TEST(OnnxDynamo, ExtentsMayFollowFromOthers) {
  ModelKit kit(18);
  kit.input("x", {"s0", "s1"}).input("z", {"s0", "2*s1 - 1"}).output("y");
  kit.node("Concat", {"x", "z"}, {"y"}).set("axis", 1);
  ImportOptions options = batch(2);
  options.dimensions = {{"s1", 5}};
  EXPECT_EQ(tensor_named(kit.import(options), "y").shape, (Shape{2, 14}));
  options.dimensions["2*s1 - 1"] = 3;  // which somebody may still say otherwise
  EXPECT_EQ(tensor_named(kit.import(options), "y").shape, (Shape{2, 8}));
}

TEST(OnnxDynamo, OnlyWhatDoesNotFollowIsAskedFor) {
  ModelKit kit(18);
  kit.input("x", {"s0", "s1"}).input("z", {"s0", "s1//2"}).output("y");
  kit.node("Concat", {"x", "z"}, {"y"}).set("axis", 1);
  const std::string error = error_of([&] { kit.import(batch(2)); });
  EXPECT_NE(error.find("\"s1\""), std::string::npos) << error;
  EXPECT_EQ(error.find("s1//2"), std::string::npos) << error;
}

TEST(OnnxDynamo, AnExtentWithoutAValueIsTold) {
  ModelKit kit(18);
  kit.input("x", {"batch", "s1"}).input("z", {"batch", "s1 - 9"}).output("y");
  kit.node("Concat", {"x", "z"}, {"y"}).set("axis", 1);
  ImportOptions options = batch(2);
  options.dimensions = {{"s1", 5}};
  EXPECT_NE(error_of([&] { kit.import(options); }).find("\"s1 - 9\" has no value"),
            std::string::npos);
}

TEST(OnnxDynamo, DeclaredShapesMayBeExpressions) {
  ModelKit kit(18);
  kit.input("x", {"batch", "s1"}).output("y");
  kit.proto.add_opset_import()->set_domain("own");
  kit.proto.mutable_opset_import(1)->set_version(1);
  kit.node("Pooled", {"x"}, {"y"}).domain("own");
  set_type(*kit.graph().add_value_info(), {"batch", "(s1 - 1)//2 + 1"}, onnx::TensorProto::FLOAT);
  kit.graph().mutable_value_info(0)->set_name("y");
  ImportOptions options = batch(2);
  options.dimensions = {{"s1", 8}};
  EXPECT_EQ(tensor_named(kit.import(options), "y").shape, (Shape{2, 4}));
}

// ---- functions

onnx::FunctionProto& add_function(ModelKit& kit, const std::string& name, const Names& inputs,
                                  const Names& outputs) {
  onnx::FunctionProto& function = *kit.proto.add_functions();
  function.set_name(name);
  function.set_domain("own");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  function.add_opset_import()->set_version(18);
  return function;
}

onnx::NodeProto& add_call(onnx::FunctionProto& function, const std::string& type,
                          const Names& inputs, const Names& outputs) {
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

ModelKit calling(const std::string& name) {
  ModelKit kit(18);
  kit.input("x", {"batch", 8}).output("y");
  kit.proto.add_opset_import()->set_domain("own");
  kit.proto.mutable_opset_import(1)->set_version(1);
  kit.node(name, {"x"}, {"y"}).domain("own").name("call");
  return kit;
}

// Names inside are those of the callers', too; the axis goes through two calls.
TEST(OnnxDynamo, FunctionsCallEachOther) {
  ModelKit kit = calling("outer");
  auto* axis = kit.graph().mutable_node(0)->add_attribute();
  axis->set_name("dim");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  for (const char* name : {"outer", "inner"}) {
    onnx::FunctionProto& function = add_function(kit, name, {"x"}, {"y"});
    function.add_attribute("dim");
    const bool is_outer = std::string(name) == "outer";
    onnx::NodeProto& node = add_call(function, is_outer ? "inner" : "Softmax", {"x"}, {"t"});
    if (is_outer) node.set_domain("own");
    auto* handed = node.add_attribute();
    handed->set_name(is_outer ? "dim" : "axis");
    handed->set_type(onnx::AttributeProto::INT);
    handed->set_ref_attr_name("dim");
    add_call(function, "Relu", {"t"}, {"y"});
  }
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), (Names{"Softmax", "Relu", "Relu"}));
  EXPECT_EQ(graph.op(OpId(0)).integer("axis", -1), 0);
}

// Op sets that only a function uses are imported by it alone.
TEST(OnnxDynamo, FunctionsHaveOpSetsOfTheirOwn) {
  ModelKit kit = calling("activated");
  onnx::FunctionProto& function = add_function(kit, "activated", {"x"}, {"y"});
  function.add_opset_import()->set_domain("com.microsoft");
  function.mutable_opset_import(1)->set_version(1);
  add_call(function, "FastGelu", {"x"}, {"y"}).set_domain("com.microsoft");
  EXPECT_EQ(op_types(kit.import(batch(2))), Names{"FastGelu"});
}

TEST(OnnxDynamo, FunctionsThatCallThemselvesEnd) {
  ModelKit kit = calling("a");
  add_call(add_function(kit, "a", {"x"}, {"y"}), "b", {"x"}, {"y"}).set_domain("own");
  add_call(add_function(kit, "b", {"x"}, {"y"}), "a", {"x"}, {"y"}).set_domain("own");
  EXPECT_NE(error_of([&] { kit.import(batch(2)); }).find("nested too deeply"), std::string::npos);
}

// Thirty functions, each of which calls the next one twice: 2^30 ops.
TEST(OnnxDynamo, FunctionsThatGrowWithoutEndEnd) {
  ModelKit kit = calling("f0");
  for (int i = 0; i < 30; ++i) {
    onnx::FunctionProto& function = add_function(kit, "f" + std::to_string(i), {"x"}, {"y"});
    const std::string next = "f" + std::to_string(i + 1);
    for (const auto& [from, to] : {std::pair{"x", "t"}, std::pair{"t", "y"}}) {
      onnx::NodeProto& node = add_call(function, i < 29 ? next : "Relu", {from}, {to});
      if (i < 29) node.set_domain("own");
    }
  }
  EXPECT_NE(error_of([&] { kit.import(batch(2)); }).find("too many ops"), std::string::npos);
}

}  // namespace
}  // namespace strato::test
