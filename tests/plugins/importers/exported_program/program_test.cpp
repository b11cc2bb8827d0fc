// Programs: their inputs, symbols, modules and graphs within graphs; and damaged ones.
#include "tests/plugins/importers/exported_program/program_kit.h"

namespace strato::test {
namespace {

// x [s0, s1, 8] -> linear to 4
ProgramKit layer() {
  ProgramKit kit;
  kit.parameter("p_w", "layers.0.weight", {4, 8}).input("x", {"s0", "s1", 8}).output("y");
  kit.call("aten.linear.default", {tensor("input", "x"), tensor("weight", "p_w")},
           {{"y", {"s0", "s1", 4}}}, "layers.0");
  return kit;
}

ImportOptions sized(std::int64_t samples, std::map<std::string, std::int64_t> dimensions) {
  ImportOptions options = batch(samples);
  options.dimensions = std::move(dimensions);
  return options;
}

TEST(Pt2Program, ParametersInputsAndModules) {
  const Graph graph = layer().import(sized(3, {{"s1", 5}}));
  EXPECT_EQ(graph.batch(), 3);
  EXPECT_EQ(graph.op_count(), 1U);
  EXPECT_EQ(graph.op(OpId(0)).name, "layers.0/y");
  EXPECT_EQ(tensor_named(graph, "layers.0.weight").role, TensorRole::Parameter);
  EXPECT_EQ(tensor_named(graph, "x").shape, (Shape{3, 5, 8}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{3, 5, 4}));
  EXPECT_EQ(tensor_named(graph, "y").batch.axis, 0);
  EXPECT_DOUBLE_EQ(graph.op(OpId(0)).work.flops, 2.0 * 3 * 5 * 4 * 8);
}

TEST(Pt2Program, BuffersAreNotTrained) {
  ProgramKit kit;
  kit.buffer("b_mask", "mask", {8}).input("x", {"s0", 8}).output("y");
  kit.call("aten.add.Tensor", {tensor("self", "x"), tensor("other", "b_mask")}, {{"y", {"s0", 8}}});
  EXPECT_EQ(tensor_named(kit.import(batch(2)), "mask").role, TensorRole::Constant);
}

TEST(Pt2Program, SizesMayBeExpressions) {
  ProgramKit kit;
  kit.input("x", {"Symbol('s77', integer=True, positive=True)", "s1"}).output("y");
  kit.call("aten.cat.default", {tensors("tensors", {"x", "x"}), whole("dim", 1)},
           {{"y", {"s77", "Mul(Integer(2), Symbol('s1', integer=True))"}}});
  EXPECT_EQ(tensor_named(kit.import(sized(3, {{"s1", 5}})), "y").shape, (Shape{3, 10}));
}

TEST(Pt2Program, AllUnboundSymbolsAreToldAtOnce) {
  const std::string error = error_of([] { layer().import(); });
  EXPECT_NE(error.find("2 symbolic dimensions are not bound"), std::string::npos) << error;
  EXPECT_NE(error.find("--batch N --set-dim s1=N"), std::string::npos) << error;
  expect_error([] { layer().import(batch(2)); }, "--set-dim s1=N");
}

TEST(Pt2Program, OptionsThatDoNotFit) {
  expect_error([] { layer().import(sized(2, {{"s1", 4}, {"s9", 4}})); }, "no symbolic dimension");
  expect_error([] { layer().import(sized(0, {{"s1", 4}})); }, "batch of at least 1");
  expect_error([] { layer().import(sized(2, {{"s1", -1}})); }, "is -1");
  ProgramKit kit = layer();
  kit.ranges["s0"] = {{"min_val", 2}, {"max_val", 64}};
  EXPECT_EQ(kit.import(sized(64, {{"s1", 4}})).batch(), 64);
  expect_error([&] { kit.import(sized(65, {{"s1", 4}})); }, "give at most 64");
  expect_error([&] { kit.import(sized(1, {{"s1", 4}})); }, "give at least 2");
}

TEST(Pt2Program, ABatchThatIsBuiltIn) {
  ProgramKit kit;
  kit.input("x", {4, 8}).output("y");
  kit.call("aten.relu.default", {tensor("self", "x")}, {{"y", {4, 8}}});
  EXPECT_EQ(kit.import().batch(), 4);
  EXPECT_EQ(tensor_named(kit.import(batch(4)), "y").batch.axis, 0);
  expect_error([&] { kit.import(batch(8)); }, "4 is built in");
}

// Rotary tables are made without gradients: a graph within the graph.
TEST(Pt2Program, GraphsInsideAreWrittenOut) {
  ProgramKit inner;
  inner.declare("a", {"s0", 8}).declare("c", {"s0", 8});
  inner.graph["inputs"] = Json::array({of_tensor("a")});
  inner.call("aten.cos.default", {tensor("self", "a")}, {{"c", {"s0", 8}}});
  inner.graph["outputs"] = Json::array({of_tensor("c")});
  ProgramKit kit;
  kit.input("x", {"s0", 8}).declare("h", {"s0", 8}).output("y");
  kit.call_making(
      "higher_order.wrap_with_set_grad_enabled",
      {flag("", false), argument("", Json{{"as_graph", {{"name", "sub"}, {"graph", inner.graph}}}}),
       tensor("", "x")},
      Json::array({Json{{"as_tensors", Json::array({named("h")})}}}));
  kit.call("aten.relu.default", {tensor("self", "h")}, {{"y", {"s0", 8}}});
  EXPECT_EQ(op_types(kit.import(batch(2))), (std::vector<std::string>{"Cos", "Relu"}));
  kit.graph["nodes"][0]["target"] = "torch.ops.higher_order.cond";
  expect_error([&] { kit.import(batch(2)); }, "which data decide");
}

TEST(Pt2Program, WhatNoResultNeedsIsLeftOut) {
  ProgramKit kit = layer();
  kit.call("aten.exp.default", {tensor("self", "x")}, {{"unread", {"s0", "s1", 8}}});
  EXPECT_EQ(kit.import(sized(2, {{"s1", 4}})).op_count(), 1U);
}

TEST(Pt2Program, UnknownOpsAreMarked) {
  ProgramKit kit;
  kit.input("x", {"s0", 8}).output("y");
  kit.call("mylib.frobnicate.default", {tensor("x", "x")}, {{"y", {"s0", 3}}});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(graph.op(OpId(0)).type, "mylib.frobnicate");
  EXPECT_TRUE(graph.op(OpId(0)).estimated);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 3}));
}

// ---- damaged programs

Graph import_text(const std::string& text) {
  return import_archive(write_archive({{"models/model.json", text}}), sized(2, {{"s1", 4}}));
}

TEST(Pt2Damaged, Versions) {
  ProgramKit kit = layer();
  kit.major = 9;
  expect_error([&] { kit.import(batch(2)); }, "is 9: 5 to 8 are read");
}

TEST(Pt2Damaged, Wiring) {
  ProgramKit kit = layer();
  kit.graph["nodes"][0]["inputs"][0] = tensor("input", "nobody");
  expect_error([&] { import_text(kit.text()); }, "which nothing makes");
  kit = layer();
  kit.graph["nodes"].push_back(kit.graph["nodes"][0]);
  expect_error([&] { import_text(kit.text()); }, "exists already");
  kit = layer();
  kit.graph["nodes"][0]["inputs"] = Json::array();
  expect_error([&] { import_text(kit.text()); }, "lacks its tensor");
  kit = layer();
  kit.input_specs.push_back(kit.input_specs[0]);
  expect_error([&] { import_text(kit.text()); }, "not as many as the graph's inputs");
}

TEST(Pt2Damaged, Sizes) {
  for (const char* size : {"s1 - 9", "s1//0", "2**62*s1", "os.system('x')", "s0 +"}) {
    ProgramKit kit = layer();
    kit.declare("y", {"s0", size, 4});
    EXPECT_NE(error_of([&] { import_text(kit.text()); }), "") << size;
  }
  ProgramKit kit = layer();
  kit.graph["tensor_values"]["y"]["dtype"] = 10;
  expect_error([&] { import_text(kit.text()); }, "not supported");
}

// Whatever is left out or is of another kind ends in a sentence, or does not matter.
TEST(Pt2Damaged, EveryValueLeftOut) {
  const Json whole_program = Json::parse(layer().text());
  const Json flat = whole_program.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (const Json& other : {Json(), Json(-1), Json("text"), Json::array(), Json::object()}) {
      Json damaged = whole_program;
      damaged[Json::json_pointer(pointer)] = other;
      error_of([&] { import_text(damaged.dump()); });
    }
  }
}

TEST(Pt2Damaged, NestedTextsAndGraphs) {
  expect_error([] { import_text(std::string(100'000, '[')); }, "is nested deeper");
  ProgramKit kit;
  kit.input("x", {"s0", 8}).output("y");
  kit.declare("y", {"s0", 8});
  for (int depth = 0; depth < 20; ++depth) {
    ProgramKit outer;
    outer.input("x", {"s0", 8}).output("y").declare("y", {"s0", 8});
    outer.call_making(
        "higher_order.wrap_with_autocast",
        {argument("", Json{{"as_graph", {{"name", "g"}, {"graph", kit.graph}}}}), tensor("", "x")},
        Json::array({of_tensor("y")}));
    kit = outer;
  }
  EXPECT_NE(error_of([&] { kit.import(batch(2)); }), "");
}

}  // namespace
}  // namespace strato::test
