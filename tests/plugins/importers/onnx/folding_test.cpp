// Shape arithmetic, branches, functions, linear layers: what happens to ops before they are in the
// graph.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

using Ints = std::vector<std::int64_t>;

// The graph's constant "c" as integers.
Ints constant_of(const Graph& graph, const std::string& name = "c") {
  const Tensor& tensor = tensor_named(graph, name);
  EXPECT_EQ(tensor.role, TensorRole::Constant);
  EXPECT_NE(tensor.data, nullptr);
  Ints elements(static_cast<std::size_t>(tensor.elements()));
  if (tensor.data == nullptr) return elements;
  const auto size = static_cast<std::size_t>(size_of(tensor.type));
  EXPECT_EQ(tensor.data->size(), size * elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(&elements[i], tensor.data->data() + i * size, size);
  }
  return elements;
}

// One op on constants a, b, d; its result is read by a Reshape-free op, so that it shows in the
// graph.
class Folded {
 public:
  explicit Folded(const std::string& type, int inputs,
                  int type_of_result = onnx::TensorProto::INT64) {
    kit_.input("x", {"batch", 1}, type_of_result).output("y");
    Names names = {"a", "b", "d", "e"};
    names.resize(static_cast<std::size_t>(inputs));
    node_ = std::make_unique<NodeKit>(kit_.node(type, names, {"c"}));
    kit_.node("Concat", {"x", "c2"}, {"y"}).set("axis", 1);
    kit_.node("Identity", {"c"}, {"c1"});
    kit_.node("Reshape", {"c1", "row"}, {"c2"});
    kit_.constant("row", int64s({1, -1}));
  }
  Folded& with(const std::string& name, const onnx::TensorProto& tensor) {
    return kit_.constant(name, tensor), *this;
  }
  template <class T>
  Folded& set(const std::string& key, const T& value) {
    return node_->set(key, value), *this;
  }
  Ints result() { return constant_of(kit_.import(batch(1)), "c2"); }

 private:
  ModelKit kit_;
  std::unique_ptr<NodeKit> node_;
};

Ints binary(const std::string& type, const Ints& a, const Ints& b) {
  return Folded(type, 2).with("a", int64s(a)).with("b", int64s(b)).result();
}

TEST(OnnxFolding, Arithmetic) {
  EXPECT_EQ(binary("Add", {1, 2}, {10, 20}), (Ints{11, 22}));
  EXPECT_EQ(binary("Sub", {1, 2}, {10}), (Ints{-9, -8}));
  EXPECT_EQ(binary("Mul", {3}, {10, 20}), (Ints{30, 60}));
  EXPECT_EQ(binary("Div", {7, -7}, {2}), (Ints{3, -3}));
  EXPECT_EQ(binary("Mod", {7, -7}, {3}), (Ints{1, 2}));
  EXPECT_EQ(binary("Pow", {3, 2}, {2, 10}), (Ints{9, 1024}));
  EXPECT_EQ(binary("Min", {3, 20}, {10}), (Ints{3, 10}));
  EXPECT_EQ(binary("Max", {3, 20}, {10}), (Ints{10, 20}));
}

TEST(OnnxFolding, Unary) {
  EXPECT_EQ(Folded("Neg", 1).with("a", int64s({1, -2})).result(), (Ints{-1, 2}));
  EXPECT_EQ(Folded("Abs", 1).with("a", int64s({1, -2})).result(), (Ints{1, 2}));
  EXPECT_EQ(Folded("Identity", 1).with("a", int64s({5})).result(), (Ints{5}));
}

TEST(OnnxFolding, RealsToIntegers) {
  ModelKit kit;
  kit.input("x", {"batch", 1}, onnx::TensorProto::INT64).output("y");
  kit.node("Constant", {}, {"a"}).set("value", floats({2}, {1.9F, -1.9F}));
  kit.node("Cast", {"a"}, {"c"}).set("to", std::int64_t{onnx::TensorProto::INT64});
  kit.node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(constant_of(kit.import(batch(1))), (Ints{1, -1}));
}

TEST(OnnxFolding, Where) {
  Folded where("Where", 3);
  where.with("a", tensor_of<std::uint8_t>({2}, {1, 0}, onnx::TensorProto::BOOL));
  EXPECT_EQ(where.with("b", int64s({1, 2})).with("d", int64s({9})).result(), (Ints{1, 9}));
}

TEST(OnnxFolding, Movement) {
  const auto grid = tensor_of<std::int64_t>({2, 3}, {0, 1, 2, 3, 4, 5}, onnx::TensorProto::INT64);
  EXPECT_EQ(Folded("Transpose", 1).with("a", grid).result(), (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Folded("Gather", 2).with("a", grid).with("b", int64s({-1, 0})).set("axis", 1L).result(),
            (Ints{2, 0, 5, 3}));
  EXPECT_EQ(Folded("Tile", 2).with("a", int64s({1, 2})).with("b", int64s({2})).result(),
            (Ints{1, 2, 1, 2}));
  EXPECT_EQ(Folded("Expand", 2).with("a", int64s({7})).with("b", int64s({3})).result(),
            (Ints{7, 7, 7}));
  EXPECT_EQ(
      Folded("Concat", 2).with("a", int64s({1})).with("b", int64s({2, 3})).set("axis", 0L).result(),
      (Ints{1, 2, 3}));
  EXPECT_EQ(Folded("NonZero", 1).with("a", int64s({0, 5, 0, 6})).result(), (Ints{1, 3}));
  EXPECT_EQ(Folded("Trilu", 1).with("a", grid).result(), (Ints{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(Folded("CumSum", 2).with("a", int64s({1, 2, 3})).with("b", int64(0)).result(),
            (Ints{1, 3, 6}));
}

TEST(OnnxFolding, Slice) {
  const auto sliced = [](std::int64_t begin, std::int64_t end) {
    Folded slice("Slice", 3);
    return slice.with("a", int64s({0, 1, 2, 3}))
        .with("b", int64s({begin}))
        .with("d", int64s({end}))
        .result();
  };
  EXPECT_EQ(sliced(1, 3), (Ints{1, 2}));
  EXPECT_EQ(sliced(-2, INT64_MAX), (Ints{2, 3}));
  EXPECT_EQ(sliced(INT64_MIN, -1), (Ints{0, 1, 2}));
}

TEST(OnnxFolding, Range) {
  Folded range("Range", 3);
  EXPECT_EQ(range.with("a", int64(1)).with("b", int64(8)).with("d", int64(3)).result(),
            (Ints{1, 4, 7}));
}

TEST(OnnxFolding, Reductions) {
  const auto grid = tensor_of<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6}, onnx::TensorProto::INT64);
  EXPECT_EQ(Folded("ReduceProd", 1).with("a", grid).result(), (Ints{720}));
  EXPECT_EQ(Folded("ReduceSum", 2).with("a", grid).with("b", int64s({1})).result(), (Ints{6, 15}));
  EXPECT_EQ(Folded("ReduceMax", 1).with("a", grid).set("axes", Ints{0}).result(), (Ints{4, 5, 6}));
}

TEST(OnnxFolding, ScatterND) {
  Folded scatter("ScatterND", 3);
  scatter.with("a", int64s({0, 0, 0})).with("b", tensor_of<std::int64_t>({2, 1}, {2, 0}, 7));
  EXPECT_EQ(scatter.with("d", int64s({8, 9})).result(), (Ints{9, 0, 8}));
}

TEST(OnnxFolding, DivisionByZeroIsLeftAlone) {
  ModelKit kit;
  kit.input("x", {"batch", 1}, 7).output("y").constant("a", int64s({1})).constant("b", int64s({0}));
  kit.node("Div", {"a", "b"}, {"c"});
  kit.node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(op_types(kit.import(batch(1))), (Names{"Div", "Add"}));
}

// The way exporters write x.view(x.size(0), -1).
TEST(OnnxFolding, FlattenWrittenOut) {
  ModelKit kit;
  kit.input("x", {"batch", 3, 4}).output("y");
  kit.constant("zero", int64(0)).constant("axes", int64s({0})).constant("rest", int64s({-1}));
  kit.node("Shape", {"x"}, {"s"});
  kit.node("Gather", {"s", "zero"}, {"n"});
  kit.node("Unsqueeze", {"n", "axes"}, {"n1"});
  kit.node("Concat", {"n1", "rest"}, {"target"}).set("axis", 0L);
  kit.node("Reshape", {"x", "target"}, {"y"});
  const Graph graph = kit.import(batch(5));
  EXPECT_EQ(op_types(graph), Names{"Reshape"});
  EXPECT_EQ(constant_of(graph, "target"), (Ints{5, -1}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{5, 12}));
}

TEST(OnnxFolding, ShapeOfPart) {
  ModelKit kit;
  kit.input("x", {"batch", 3, 4}, onnx::TensorProto::INT64).output("y");
  kit.node("Shape", {"x"}, {"c"}).set("start", -2L).set("end", -1L);
  kit.node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(constant_of(kit.import(batch(5))), Ints{3});
}

onnx::GraphProto branch(const std::string& type) {
  onnx::GraphProto graph;
  add_node(graph, type, {"x"}, {"inner"}).name("step");
  graph.add_output()->set_name("inner");
  return graph;
}

TEST(OnnxFolding, DecidedBranch) {
  for (const bool taken : {true, false}) {
    ModelKit kit;
    kit.input("x", {"batch", 3}).output("y");
    kit.constant("flag", tensor_of<std::uint8_t>({}, {taken}, onnx::TensorProto::BOOL));
    kit.node("If", {"flag"}, {"h"})
        .name("choice")
        .set("then_branch", branch("Relu"))
        .set("else_branch", branch("Tanh"));
    kit.node("Sigmoid", {"h"}, {"y"});
    const Graph graph = kit.import(batch(2));
    EXPECT_EQ(op_types(graph), (Names{taken ? "Relu" : "Tanh", "Sigmoid"}));
    EXPECT_EQ(graph.ops()[OpId(0)].name, "choice/step");
  }
}

TEST(OnnxFolding, BranchThatHandsThrough) {
  onnx::GraphProto nothing;
  nothing.add_output()->set_name("x");
  ModelKit kit;
  kit.input("x", {"batch", 3}).output("y");
  kit.constant("flag", tensor_of<std::uint8_t>({}, {1}, onnx::TensorProto::BOOL));
  kit.node("If", {"flag"}, {"h"}).set("then_branch", nothing).set("else_branch", branch("Tanh"));
  kit.node("Sigmoid", {"h"}, {"y"});
  EXPECT_EQ(op_types(kit.import(batch(2))), Names{"Sigmoid"});
}

TEST(OnnxFolding, ControlFlowOnDataIsRefused) {
  ModelKit kit;
  kit.input("x", {"batch", 3}).input("flag", {"batch"}, onnx::TensorProto::BOOL).output("y");
  kit.node("If", {"flag"}, {"y"})
      .name("choice")
      .set("then_branch", branch("Relu"))
      .set("else_branch", branch("Tanh"));
  const std::string error = error_of([&] { kit.import(batch(1)); });
  EXPECT_NE(error.find("op \"choice\" (If): branches on data; choose with --set-dim choice=1"),
            std::string::npos)
      << error;
  for (const bool taken : {true, false}) {
    ImportOptions options = batch(1);
    options.dimensions["choice"] = taken ? 1 : 0;
    EXPECT_EQ(op_types(kit.import(options)), Names{taken ? "Relu" : "Tanh"});
  }
}

// What exporters write for squeeze(1) of an axis whose extent they do not know.
TEST(OnnxFolding, BranchesOnShapesAreDecided) {
  onnx::GraphProto squeezed, as_it_is;
  add_node(squeezed, "Squeeze", {"x", "one"}, {"narrow"}).name("squeeze");
  squeezed.add_output()->set_name("narrow");
  add_node(as_it_is, "Identity", {"x"}, {"same"});
  as_it_is.add_output()->set_name("same");
  for (const std::int64_t extent : {1, 4}) {
    ModelKit kit;
    kit.input("x", {"batch", "time", 3}).output("y").constant("one", int64s({1}));
    kit.node("Shape", {"x"}, {"shape"});
    kit.node("Gather", {"shape", "one"}, {"extent"});
    kit.node("Equal", {"extent", "one"}, {"is_one"});
    kit.node("If", {"is_one"}, {"h"}).set("then_branch", squeezed).set("else_branch", as_it_is);
    kit.node("Relu", {"h"}, {"y"});
    ImportOptions options = batch(2);
    options.dimensions["time"] = extent;
    EXPECT_EQ(tensor_named(kit.import(options), "y").shape,
              extent == 1 ? (Shape{2, 3}) : (Shape{2, 4, 3}));
  }
}

TEST(OnnxFolding, LocalFunctionsAreInlined) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain("mine");
  kit.proto.mutable_opset_import(1)->set_version(1);
  auto* function = kit.proto.add_functions();
  function->set_domain("mine");
  function->set_name("Scaled");
  function->add_input("in");
  function->add_output("out");
  function->add_attribute("to");
  onnx::GraphProto body;
  add_node(body, "Relu", {"in"}, {"h"}).name("relu");
  add_node(body, "Flatten", {"h"}, {"out"}).name("flat").set("axis", 0L);
  *function->mutable_node() = body.node();
  function->mutable_node(1)->mutable_attribute(0)->set_ref_attr_name("to");
  kit.input("x", {"batch", 3, 2}).output("y");
  kit.node("Scaled", {"x"}, {"a"}).domain("mine").name("first").set("to", 1L);
  kit.node("Scaled", {"a"}, {"y"}).domain("mine").name("first").set("to", 2L);  // a name may repeat
  const Graph graph = kit.import(batch(4));
  EXPECT_EQ(op_types(graph), (Names{"Relu", "Flatten", "Relu", "Flatten"}));
  EXPECT_EQ(graph.ops()[OpId(0)].name, "first/relu");
  EXPECT_EQ(tensor_named(graph, "a").shape, (Shape{4, 6}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{24, 1}));
}

void set_newer(google::protobuf::Message& message, int field, const std::string& content) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, content);
}

// PyTorch's dynamo exporter writes each op as a function of its own, functions call functions, say
// the values of attributes that calls leave out, and several may have one name.
TEST(OnnxFolding, FunctionsOfNewerExportersAreInlined) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain("pkg.torch_lib");
  kit.proto.mutable_opset_import(1)->set_version(1);
  const auto function = [&](const char* name, const onnx::GraphProto& body) {
    onnx::FunctionProto& made = *kit.proto.add_functions();
    made.set_domain("pkg.torch_lib");
    made.set_name(name);
    made.add_input("self");
    made.add_output("out");
    made.add_opset_import()->set_version(18);
    *made.mutable_node() = body.node();
    return &made;
  };
  onnx::GraphProto flat, cast, outer;
  add_node(flat, "Flatten", {"self"}, {"out"}).name("n0").set("axis", 0L);
  onnx::FunctionProto* inner = function("aten_flatten", flat);
  inner->mutable_node(0)->mutable_attribute(0)->set_ref_attr_name("start");
  onnx::AttributeProto start;  // of those who do not say it
  start.set_name("start");
  start.set_type(onnx::AttributeProto::INT);
  start.set_i(3);
  set_newer(*inner, 11, start.SerializeAsString());
  add_node(cast, "Relu", {"self"}, {"out"}).name("n0");
  set_newer(*function("aten_flatten", cast), 13, "relu");
  add_node(outer, "aten_flatten", {"self"}, {"out"}).domain("pkg.torch_lib").set("start", 0L);
  function("aten_view", outer)->mutable_node(0)->mutable_attribute(0)->set_ref_attr_name("at");
  kit.input("x", {"s0", 3, 2, 5}).output("y");
  kit.node("aten_flatten", {"x"}, {"a"}).domain("pkg.torch_lib").name("node_0");
  kit.node("aten_flatten", {"a"}, {"b"}).domain("pkg.torch_lib").name("node_1");
  set_newer(*kit.proto.mutable_graph()->mutable_node(1), 8, "relu");
  kit.node("aten_view", {"x"}, {"c"}).domain("pkg.torch_lib").name("node_2").set("at", 2L);
  kit.node("aten_view", {"x"}, {"d"}).domain("pkg.torch_lib").name("node_3");
  kit.node("Identity", {"b"}, {"y"});
  kit.output("c").output("d");
  const Graph graph = kit.import(batch(4));
  EXPECT_EQ(tensor_named(graph, "a").shape, (Shape{24, 5})) << "what the function says";
  EXPECT_EQ(tensor_named(graph, "b").shape, (Shape{24, 5})) << "the function of the other name";
  EXPECT_EQ(tensor_named(graph, "c").shape, (Shape{12, 10})) << "what the call says";
  EXPECT_EQ(tensor_named(graph, "d").shape, (Shape{24, 5})) << "what nobody on the way says";
  EXPECT_EQ(op_types(graph), (Names{"Flatten", "Relu", "Flatten", "Flatten", "Identity"}));
}

// Each call would read all of it.
TEST(OnnxFolding, ManyCallsOfAFunctionWithLargeDefaultsAreRefused) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain("own");
  kit.proto.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto& function = *kit.proto.add_functions();
  function.set_domain("own");
  function.set_name("f");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(18);
  onnx::GraphProto body;
  add_node(body, "Relu", {"a"}, {"b"}).name("n");
  *function.mutable_node() = body.node();
  onnx::AttributeProto unused;
  unused.set_name("unused");
  unused.set_type(onnx::AttributeProto::STRING);
  unused.set_s(std::string(4 << 20, 'x'));
  set_newer(function, 11, unused.SerializeAsString());
  kit.input("x0", {"N", 4});
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    kit.node("f", {"x" + n}, {"x" + std::to_string(i + 1)}).domain("own").name("call" + n);
  }
  kit.output("x100");
  EXPECT_THROW(kit.import(batch(4)), InputError);
}

TEST(OnnxFolding, FunctionsThatCallThemselvesAreRefused) {
  ModelKit kit;
  auto* function = kit.proto.add_functions();
  function->set_domain("mine");
  function->set_name("F");
  function->add_input("in");
  function->add_output("out");
  onnx::GraphProto body;
  add_node(body, "F", {"in"}, {"out"}).domain("mine");
  *function->mutable_node() = body.node();
  kit.input("x", {"batch"}).output("y");
  kit.node("F", {"x"}, {"y"}).domain("mine");
  EXPECT_NE(error_of([&] { kit.import(batch(1)); }).find("nested too deeply"), std::string::npos);
}

// [steps, batch, 6] -> [steps * batch, 6] -> Gemm -> [steps, batch, 5]: as PyTorch writes
// attention.
TEST(OnnxFolding, LinearLayersKeepTheBatchApart) {
  ModelKit kit;
  kit.input("x", {"batch", 7, 6}).output("y").weight("w", {5, 6}).weight("b", {5});
  kit.constant("merged", int64s({-1, 6})).constant("apart", int64s({7, -1, 5}));
  kit.node("Transpose", {"x"}, {"t"}).set("perm", Ints{1, 0, 2});
  kit.node("Reshape", {"t", "merged"}, {"m"});
  kit.node("Gemm", {"m", "w", "b"}, {"g"}).name("linear").set("transB", 1L);
  kit.node("Reshape", {"g", "apart"}, {"y"});
  const Graph graph = kit.import(batch(4));
  EXPECT_EQ(op_types(graph), (Names{"Transpose", "Reshape", "FusedMatMul", "Add"}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{7, 4, 5}));
  EXPECT_EQ(tensor_named(graph, "y").batch, (BatchLayout{BatchKind::Batched, 1}));
  EXPECT_TRUE(graph.find_op("linear").valid());
}

TEST(OnnxFolding, DeadOpsAndByProductsVanish) {
  ModelKit kit;
  kit.input("x", {"batch", 3}).output("y");
  kit.node("Relu", {"x"}, {"dead"});
  kit.node("Dropout", {"x"}, {"y", "mask"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), Names{"Dropout"});
  EXPECT_EQ(graph.ops()[OpId(0)].outputs.size(), 1U);
}

TEST(OnnxFolding, UnknownOpsAreEstimated) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain("com.example");
  kit.proto.mutable_opset_import(1)->set_version(1);
  kit.input("x", {"batch", 3}).output("y");
  kit.node("Magic", {"x"}, {"h"}).domain("com.example");
  kit.node("FutureOp", {"h"}, {"k"});
  kit.node("Relu", {"k"}, {"y"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), (Names{"com.example::Magic", "FutureOp", "Relu"}));
  EXPECT_TRUE(graph.ops()[OpId(0)].estimated);
  EXPECT_TRUE(graph.ops()[OpId(1)].estimated);
  EXPECT_FALSE(graph.ops()[OpId(2)].estimated);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 3}));
}

TEST(OnnxFolding, NewerOpSetThanTheLibrary) {
  ModelKit kit(21);
  kit.input("x", {"batch", 3, 4}).output("y").constant("axes", int64s({-1}));
  kit.node("ReduceMean", {"x", "axes"}, {"y"}).set("keepdims", 0L);
  EXPECT_EQ(tensor_named(kit.import(batch(2)), "y").shape, (Shape{2, 3}));
}

TEST(OnnxFolding, NamesAndDeterminism) {
  ModelKit kit;
  kit.input("x", {"batch", 3}).output("y");
  kit.node("Relu", {"x"}, {"a"}).name("same");
  kit.node("Relu", {"a"}, {"b"}).name("same");
  kit.node("Relu", {"b"}, {"y"});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(graph.name(), "model");
  EXPECT_EQ(graph.ops()[OpId(0)].name, "same");
  EXPECT_EQ(graph.ops()[OpId(1)].name, "same_1");
  EXPECT_EQ(graph.ops()[OpId(2)].name, "Relu_2");
  EXPECT_EQ(graph.digest(), kit.import(batch(2)).digest());
  EXPECT_NE(graph.digest(), kit.import(batch(3)).digest());
}

TEST(OnnxFolding, NodesInAnyOrder) {
  ModelKit kit;
  kit.input("x", {"batch", 3}).output("y");
  kit.node("Relu", {"a"}, {"y"}).name("second");
  kit.node("Tanh", {"x"}, {"a"}).name("first");
  EXPECT_EQ(op_types(kit.import(batch(2))), (Names{"Tanh", "Relu"}));
}

}  // namespace
}  // namespace strato::test
