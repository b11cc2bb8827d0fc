// Files of whole training steps: one backward pass, and it is ours.
#include <algorithm>

#include "core/graph/train/training_graph.h"
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

constexpr const char* kRuntime = "com.microsoft";
constexpr const char* kPreview = "ai.onnx.preview.training";
constexpr int kTruth = onnx::TensorProto::BOOL, kWhole = onnx::TensorProto::INT64;

struct Imported {
  Graph graph;
  Names remarks;
};

Imported imported(const ModelKit& kit, const ImportOptions& options = batch(4)) {
  static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
  const Scratch scratch;
  const std::filesystem::path file = scratch / "model.onnx";
  std::ofstream(file, std::ios::binary) << kit.bytes();
  const auto importer = registry.importer_for(file);
  Graph graph = importer->import(file, options);
  return {std::move(graph), importer->remarks()};
}

bool mentions(const Names& texts, const std::string& part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

Names updated(const Graph& graph) {
  Names names;
  for (const Op& op : graph.ops())
    if (op.phase == Phase::Update) names.push_back(graph.tensor(op.inputs[0]).name);
  std::ranges::sort(names);
  return names;
}

void backward(NodeKit node) { node.domain(kRuntime); }

// Two layers; their parameters are inputs, as ORTModule hands them over.
ModelKit two_layers() {
  ModelKit kit;
  kit.input("x", {"batch", 8}).input("w1", {8, 6}).input("b1", {6}).input("w2", {6, 5});
  kit.node("MatMul", {"x", "w1"}, {"h1"});
  kit.node("Add", {"h1", "b1"}, {"h2"});
  kit.node("Relu", {"h2"}, {"h3"});
  kit.node("MatMul", {"h3", "w2"}, {"y"});
  return kit;
}

void add_gradients(ModelKit& kit, const std::string& of_result) {
  kit.node("Transpose", {"h3"}, {"h3_t"});
  kit.node("MatMul", {"h3_t", of_result}, {"w2_grad"});
  backward(kit.node("FusedMatMul", {of_result, "w2"}, {"h3_grad"}).set("transB", 1));
  backward(kit.node("ReluGrad", {"h3_grad", "h3"}, {"h2_grad"}));
  kit.constant("axes", int64s({0}));
  kit.node("ReduceSum", {"h2_grad", "axes"}, {"b1_grad"}).set("keepdims", 0);
  kit.node("Gemm", {"x", "h2_grad"}, {"w1_grad"}).set("transA", 1);
}

TEST(OnnxTraining, WhatIsYieldedIsTrained) {
  ModelKit kit = two_layers();
  backward(kit.node("YieldOp", {"y"}, {"y_grad"}));
  add_gradients(kit, "y_grad");
  kit.output("w1_grad").output("b1_grad").output("w2_grad");
  const auto [graph, remarks] = imported(kit);
  EXPECT_EQ(op_types(graph), (Names{"MatMul", "Add", "Relu", "MatMul"}));
  EXPECT_EQ(parameters(graph), 3);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("YieldOp's input \"y\""), std::string::npos) << remarks[0];
  EXPECT_NE(remarks[0].find("6 ops (1 ReluGrad, 1 YieldOp)"), std::string::npos) << remarks[0];
  // The same as of the file of the forward pass.
  ModelKit plain = two_layers();
  plain.output("y");
  EXPECT_EQ(graph.digest(), imported(plain).graph.digest());
  EXPECT_TRUE(imported(plain).remarks.empty());
  EXPECT_EQ(updated(make_training_graph(graph, Optimizer::Sgd)), (Names{"b1", "w1", "w2"}));
}

TEST(OnnxTraining, WhatIsYieldedAsideIsNotTrained) {
  ModelKit kit = two_layers();
  kit.node("Exp", {"h3"}, {"aside"});
  backward(kit.node("YieldOp", {"y", "aside"}, {"y_grad"})
               .set("non_differentiable_outputs", std::vector<std::int64_t>{1}));
  add_gradients(kit, "y_grad");
  kit.output("w1_grad").output("b1_grad").output("w2_grad");
  EXPECT_EQ(op_types(imported(kit).graph), (Names{"MatMul", "Add", "Relu", "MatMul"}));
}

ModelKit with_loss() {
  ModelKit kit = two_layers();
  kit.input("labels", {"batch"}, kWhole);
  kit.node("SoftmaxCrossEntropyLoss", {"y", "labels"}, {"loss", "log_prob"});
  return kit;
}

void add_loss_gradient(ModelKit& kit) {
  kit.constant("loss_grad", floats({}, {1}));
  backward(
      kit.node("SoftmaxCrossEntropyLossGrad", {"loss_grad", "log_prob", "labels"}, {"y_grad"}));
  add_gradients(kit, "y_grad");
}

// The training model of ONNX Runtime's own API: gradients go into buffers.
TEST(OnnxTraining, TheLossIsTrainedAndAccumulatorsGo) {
  ModelKit kit = with_loss();
  add_loss_gradient(kit);
  kit.input("reset", {1}, kTruth).output("loss");
  for (const std::string name : {"w1", "b1"}) {
    const std::string buffer = name + "_grad.accumulation.buffer";
    kit.input(buffer, name == "b1" ? std::vector<Dim>{6} : std::vector<Dim>{8, 6});
    backward(kit.node("InPlaceAccumulatorV2", {buffer, name + "_grad", "reset"}, {name + "_out"}));
    kit.output(name + "_out");
  }
  kit.graph().mutable_node()->erase(kit.graph().mutable_node()->begin() + 7);  // no w2_grad
  const auto [graph, remarks] = imported(kit);
  EXPECT_EQ(op_types(graph), (Names{"MatMul", "Add", "Relu", "MatMul", "SoftmaxCrossEntropyLoss"}));
  EXPECT_TRUE(mentions(remarks, "2 InPlaceAccumulatorV2")) << remarks[0];
  EXPECT_TRUE(mentions(remarks, "its result \"loss\"")) << remarks[0];
  for (const Tensor& tensor : graph.tensors())
    EXPECT_EQ(tensor.name.find("accumulation"), std::string::npos);
  // What has no gradient in the file is a parameter that stays as it is.
  EXPECT_TRUE(tensor_named(graph, "w2").frozen);
  EXPECT_TRUE(mentions(remarks, "1 of its 3 parameters have no gradient in the file"));
  const Graph training = make_training_graph(graph, Optimizer::Adam);
  EXPECT_EQ(updated(training), (Names{"b1", "w1"}));
  const Names types = op_types(training);
  EXPECT_EQ(std::ranges::count(types, "SoftmaxCrossEntropyLossGrad"), 1);
  EXPECT_EQ(std::ranges::count(types, "MeanSquaredLoss"), 0);
}

TEST(OnnxTraining, UpdatesTellWhatIsTrained) {
  ModelKit kit = with_loss();
  add_loss_gradient(kit);
  for (const char* number : {"rate", "count"}) kit.constant(number, floats({1}, {1}));
  for (auto& node : *kit.graph().mutable_node())  // names that tell nothing
    for (auto* names : {node.mutable_input(), node.mutable_output()})
      for (std::string& name : *names)
        if (name.ends_with("_grad") && name != "loss_grad") name = "d" + name;
  kit.weight("m1", {8, 6}, false).weight("m2", {8, 6}, false).output("loss").output("w1_new");
  backward(kit.node("AdamOptimizer", {"rate", "count", "w1", "dw1_grad", "m1", "m2"},
                    {"count_new", "m1_new", "m2_new", "w1_new"}));
  const auto [graph, remarks] = imported(kit);
  EXPECT_TRUE(mentions(remarks, "1 AdamOptimizer")) << remarks[0];
  EXPECT_EQ(updated(make_training_graph(graph, Optimizer::Adam)), Names{"w1"});
  for (const Tensor& tensor : graph.tensors()) EXPECT_FALSE(tensor.name.starts_with("m1"));
}

// A mean squared error has no gradient op of its own: ONNX Runtime only says so in words.
TEST(OnnxTraining, OpsThatAreSaidToBeBackward) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).input("w", {8, 5}).input("wanted", {"batch", 5}).output("loss");
  kit.output("w_grad").constant("two", floats({1}, {2}));
  kit.node("MatMul", {"x", "w"}, {"y"});
  kit.node("Sub", {"y", "wanted"}, {"error"});
  kit.node("Mul", {"error", "error"}, {"squares"});
  kit.node("ReduceMean", {"squares"}, {"loss"}).set("keepdims", 0);
  kit.node("Mul", {"error", "two"}, {"y_grad"});
  kit.node("Gemm", {"x", "y_grad"}, {"w_grad"}).set("transA", 1);
  for (int i = 4; i < 6; ++i) kit.graph().mutable_node(i)->set_doc_string("Backward pass");
  const auto [graph, remarks] = imported(kit);
  EXPECT_EQ(op_types(graph), (Names{"MatMul", "Sub", "Mul", "ReduceMean"}));
  EXPECT_TRUE(mentions(remarks, "2 ops, are left out")) << remarks[0];
}

TEST(OnnxTraining, GradientsOfThePreview) {
  ModelKit kit;
  kit.proto.add_opset_import()->set_domain(kPreview);
  kit.proto.mutable_opset_import(1)->set_version(1);
  kit.input("x", {"batch", 8}).input("w", {8, 5}).input("u", {5, 5}).output("y").output("w_new");
  kit.input("rate", {}).input("count", {}, kWhole).input("sum", {8, 5});
  kit.node("MatMul", {"x", "w"}, {"h"});
  kit.node("MatMul", {"h", "u"}, {"y"});
  kit.node("Gradient", {"w", "x"}, {"dw"}).domain(kPreview);
  auto* xs = kit.graph().mutable_node(2)->add_attribute();
  xs->set_name("xs");
  xs->set_type(onnx::AttributeProto::STRINGS);
  xs->add_strings("w");
  kit.node("Adagrad", {"rate", "count", "w", "dw", "sum"}, {"w_new", "sum_new"}).domain(kPreview);
  const auto [graph, remarks] = imported(kit);
  EXPECT_EQ(op_types(graph), (Names{"MatMul", "MatMul"}));
  EXPECT_TRUE(mentions(remarks, "1 Adagrad, 1 Gradient")) << remarks[0];
  EXPECT_EQ(updated(make_training_graph(graph, Optimizer::Sgd)), Names{"w"});
}

// An op of ONNX whose name only looks like one of these, and a function of the model's own.
TEST(OnnxTraining, OtherFilesAreLeftAlone) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y");
  auto* function = kit.proto.add_functions();
  function->set_domain("mine");
  function->set_name("WithoutGrad");
  function->add_input("a");
  function->add_output("b");
  auto* relu = function->add_node();
  relu->set_op_type("Relu");
  relu->add_input("a");
  relu->add_output("b");
  kit.proto.add_opset_import()->set_domain("mine");
  kit.proto.mutable_opset_import(1)->set_version(1);
  kit.node("WithoutGrad", {"x"}, {"y"}).domain("mine");
  const auto [graph, remarks] = imported(kit);
  EXPECT_EQ(op_types(graph), Names{"Relu"});
  EXPECT_TRUE(remarks.empty());
}

TEST(OnnxTraining, FilesWithoutAForwardPassAreToldInWords) {
  ModelKit optimizer;
  optimizer.input("rate", {1}).input("step", {1}, kWhole).output("done");
  for (const char* list : {"params", "gradients", "m", "v"}) {
    auto* info = optimizer.graph().add_input();
    info->set_name(list);
    info->mutable_type()->mutable_sequence_type();
  }
  backward(optimizer.node("AdamWOptimizer", {"rate", "step", "params", "gradients", "m", "v"},
                          {"done"}));
  EXPECT_EQ(error_of([&] { optimizer.import(batch(2)); }),
            "graph: holds an optimizer's update and no model (1 AdamWOptimizer); plan the model "
            "that it trains, and choose --optimizer");
  ModelKit gradient;
  gradient.input("dy", {"batch", 5}).input("y", {"batch", 5}).output("dx");
  backward(gradient.node("ReluGrad", {"dy", "y"}, {"dx"}));
  EXPECT_NE(error_of([&] { gradient.import(batch(2)); }).find("holds a backward pass and no"),
            std::string::npos);
}

TEST(OnnxTraining, AnEvaluatedLossIsTold) {
  ModelKit kit = with_loss();
  kit.output("loss");
  const auto [graph, remarks] = imported(kit);
  EXPECT_TRUE(mentions(remarks, "evaluates a loss of its own, \"loss\""));
  EXPECT_EQ(updated(make_training_graph(graph, Optimizer::Sgd)), (Names{"b1", "w1", "w2"}));
}

TEST(OnnxTraining, JoinedTensorsWithTheirLengths) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).output("y").output("parts");
  kit.node("Relu", {"x"}, {"r"});
  kit.node("ConcatTraining", {"x", "r"}, {"y", "lengths"}).domain(kRuntime).set("axis", -1);
  kit.node("Split", {"y", "lengths"}, {"parts", "rest"}).set("axis", 1);
  const Graph graph = imported(kit).graph;
  EXPECT_EQ(op_types(graph), (Names{"Relu", "Concat", "Split"}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{4, 16}));
  EXPECT_EQ(tensor_named(graph, "parts").shape, (Shape{4, 8}));
}

TEST(OnnxTraining, FusedDropoutIsWrittenOut) {
  ModelKit kit;
  kit.input("x", {"batch", 8}).input("r", {"batch", 8}).output("z").weight("b", {8});
  kit.constant("ratio", floats({}, {0.1F}));
  kit.node("BiasDropout", {"x", "b", "r", "ratio"}, {"y", "mask"}).domain(kRuntime);
  kit.node("BitmaskDropout", {"y", "ratio"}, {"z", "bits"}).domain(kRuntime);
  const Graph graph = imported(kit).graph;
  EXPECT_EQ(op_types(graph), (Names{"Add", "Dropout", "Add", "Dropout"}));
  for (const Op& op : graph.ops()) EXPECT_FALSE(op.estimated) << op.name;
  EXPECT_EQ(parameters(graph), 1);
}

TEST(OnnxTraining, TrainingFormsOfEmbeddingsNormsAndLosses) {
  ModelKit kit;
  kit.input("ids", {"batch"}, kWhole).input("labels", {"batch"}, kWhole).output("loss");
  kit.weight("table", {30, 8}).weight("scale", {8}).weight("shift", {8}).weight("mean", {8});
  kit.weight("var", {8}).constant("ignored", int64(-1)).constant("none", int64(0));
  auto* operation = (kit.node("ATen", {"table", "ids", "ignored", "none", "none"}, {"e"})
                         .domain("org.pytorch.aten"),
                     kit.graph().mutable_node(0)->add_attribute());
  operation->set_name("operator");
  operation->set_type(onnx::AttributeProto::STRING);
  operation->set_s("embedding");
  kit.node("BatchNormInternal", {"e", "scale", "shift", "mean", "var"},
           {"n", "m2", "v2", "saved", "kept"})
      .domain(kRuntime);
  kit.node("SoftmaxCrossEntropyLossInternal", {"n", "labels", "", "ignored"}, {"loss", "logs"})
      .domain(kRuntime);
  const Graph graph = imported(kit).graph;
  EXPECT_EQ(op_types(graph), (Names{"Gather", "BatchNormalization", "SoftmaxCrossEntropyLoss"}));
  EXPECT_EQ(graph.ops()[OpId(1)].integer("training_mode", 0), 1);
  EXPECT_EQ(graph.ops()[OpId(2)].integer("ignore_index", 0), -1);
}

}  // namespace
}  // namespace strato::test
