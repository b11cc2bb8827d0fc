// ATen's ops as ops of the catalogue. Shapes are the file's; those that the catalogue infers must
// agree with them.
#include "core/graph/ops/catalogue.h"
#include "tests/plugins/importers/exported_program/program_kit.h"

namespace strato::test {
namespace {

using Types = std::vector<std::string>;

// Of a call on "x", with what else it needs as a parameter "w" or an input "z".
struct OpCase {
  const char* op;
  std::vector<Json> arguments;
  Dims x, y;
  Types types;
  Dims w = {}, z = {};
};

Graph graph_of(const OpCase& of) {
  ProgramKit kit;
  if (!of.w.empty()) kit.parameter("w", "w", of.w);
  if (!of.z.empty()) kit.input("z", of.z);
  kit.input("x", of.x).output("y");
  kit.call(of.op, of.arguments, {{"y", of.y}});
  return kit.import(batch(6));
}

class AtenOps : public ::testing::TestWithParam<OpCase> {};

TEST_P(AtenOps, AreOpsOfTheCatalogue) {
  const Graph graph = graph_of(GetParam());
  EXPECT_EQ(op_types(graph), GetParam().types);
  for (const Op& op : graph.ops()) {
    EXPECT_FALSE(op.estimated) << op.type;
    const TensorTypes inferred = infer_output_shapes(op, graph.tensors());
    ASSERT_FALSE(op.outputs.empty());
    const bool told = !inferred.empty() && op.type != "Slice" && op.type != "Gather";
    if (!told) continue;
    EXPECT_EQ(inferred[0].shape, graph.tensor(op.outputs[0]).shape) << op.type;
  }
}

TEST_P(AtenOps, FollowTheBatch) {
  const Graph graph = graph_of(GetParam());
  EXPECT_EQ(tensor_named(graph, "y").batch.kind, BatchKind::Batched);
}

Json x() { return tensor("self", "x"); }

INSTANTIATE_TEST_SUITE_P(
    Elementwise, AtenOps,
    ::testing::Values(
        OpCase{"aten.add.Tensor",
               {x(), tensor("other", "z"), whole("alpha", 2)},
               {"s0", 5},
               {"s0", 5},
               {"Mul", "Add"},
               {},
               {"s0", 5}},
        OpCase{"aten.sub.Scalar", {x(), real("other", 0.5)}, {"s0", 5}, {"s0", 5}, {"Sub"}},
        OpCase{"aten.mul_.Tensor", {x(), tensor("other", "w")}, {"s0", 5}, {"s0", 5}, {"Mul"}, {5}},
        OpCase{
            "aten.pow.Tensor_Scalar", {x(), whole("exponent", 2)}, {"s0", 5}, {"s0", 5}, {"Mul"}},
        OpCase{"aten.rsqrt.default", {x()}, {"s0", 5}, {"s0", 5}, {"Sqrt", "Reciprocal"}},
        OpCase{"aten.gelu.default",
               {x(), words("approximate", "tanh")},
               {"s0", 5},
               {"s0", 5},
               {"Gelu"}},
        OpCase{"aten.silu.default", {x()}, {"s0", 5}, {"s0", 5}, {"Silu"}},
        OpCase{"aten.clamp.default", {x(), whole("min", 0)}, {"s0", 5}, {"s0", 5}, {"Clip"}},
        OpCase{"aten.softmax.int", {x(), whole("dim", -1)}, {"s0", 5}, {"s0", 5}, {"Softmax"}},
        OpCase{"aten.dropout.default",
               {tensor("input", "x"), real("p", 0.1), flag("train", true)},
               {"s0", 5},
               {"s0", 5},
               {"Dropout"}},
        OpCase{
            "aten.ne.Scalar", {x(), whole("other", 0)}, {"s0", 5}, {"s0", 5}, {"Equal", "Not"}}));

INSTANTIATE_TEST_SUITE_P(
    Layers, AtenOps,
    ::testing::Values(
        OpCase{"aten.linear.default",
               {tensor("input", "x"), tensor("weight", "w")},
               {"s0", 5},
               {"s0", 3},
               {"Gemm"},
               {3, 5}},
        OpCase{"aten.linear.default",
               {tensor("input", "x"), tensor("weight", "w")},
               {"s0", 7, 5},
               {"s0", 7, 3},
               {"FusedMatMul"},
               {3, 5}},
        OpCase{"aten.matmul.default",
               {x(), tensor("other", "z")},
               {"s0", 7, 5},
               {"s0", 7, 4},
               {"MatMul"},
               {},
               {"s0", 5, 4}},
        OpCase{"aten.convolution.default",
               {tensor("input", "x"), tensor("weight", "w"), wholes("stride", {2, 2}),
                wholes("padding", {1, 1}), wholes("dilation", {1, 1}), flag("transposed", false),
                wholes("output_padding", {0, 0}), whole("groups", 1)},
               {"s0", 3, 8, 8},
               {"s0", 4, 4, 4},
               {"Conv"},
               {4, 3, 3, 3}},
        OpCase{"aten.conv2d.padding",
               {tensor("input", "x"), tensor("weight", "w"), words("padding", "same")},
               {"s0", 3, 8, 8},
               {"s0", 4, 8, 8},
               {"Conv"},
               {4, 3, 3, 3}},
        OpCase{"aten.layer_norm.default",
               {tensor("input", "x"), wholes("normalized_shape", {5}), tensor("weight", "w")},
               {"s0", 7, 5},
               {"s0", 7, 5},
               {"LayerNormalization"},
               {5}},
        OpCase{"aten.scaled_dot_product_attention.default",
               {tensor("query", "x"), tensor("key", "z"), tensor("value", "z"),
                flag("is_causal", true)},
               {"s0", 4, 9, 16},
               {"s0", 4, 9, 16},
               {"Attention"},
               {},
               {"s0", 4, 9, 16}},
        OpCase{"aten.max_pool2d.default",
               {x(), wholes("kernel_size", {2, 2})},
               {"s0", 3, 8, 8},
               {"s0", 3, 4, 4},
               {"MaxPool"}},
        OpCase{"aten.adaptive_avg_pool2d.default",
               {x(), wholes("output_size", {1, 1})},
               {"s0", 3, 8, 8},
               {"s0", 3, 1, 1},
               {"GlobalAveragePool"}}));

INSTANTIATE_TEST_SUITE_P(
    Layout, AtenOps,
    ::testing::Values(
        OpCase{"aten.view.default",
               {x(), wholes("size", {-1, 10})},
               {"s0", 2, 5},
               {"s0", 10},
               {"Reshape"}},
        OpCase{"aten.permute.default",
               {x(), wholes("dims", {0, 2, 1})},
               {"s0", 2, 5},
               {"s0", 5, 2},
               {"Transpose"}},
        OpCase{"aten.transpose.int",
               {x(), whole("dim0", 1), whole("dim1", -1)},
               {"s0", 2, 5},
               {"s0", 5, 2},
               {"Transpose"}},
        OpCase{"aten.cat.default",
               {tensors("tensors", {"x", "z"}), whole("dim", -1)},
               {"s0", 5},
               {"s0", 8},
               {"Concat"},
               {},
               {"s0", 3}},
        OpCase{"aten.stack.default",
               {tensors("tensors", {"x", "x"}), whole("dim", 1)},
               {"s0", 5},
               {"s0", 2, 5},
               {"Unsqueeze", "Unsqueeze", "Concat"}},
        OpCase{"aten.expand.default",
               {x(), wholes("size", {-1, 4, 5})},
               {"s0", 1, 5},
               {"s0", 4, 5},
               {"Expand"}},
        OpCase{"aten.slice.Tensor",
               {x(), whole("dim", 1), whole("start", 1), whole("end", 4)},
               {"s0", 5},
               {"s0", 3},
               {"Slice"}},
        OpCase{"aten.select.int",
               {x(), whole("dim", 1), whole("index", 0)},
               {"s0", 5, 3},
               {"s0", 3},
               {"Gather"}},
        OpCase{"aten.pad.default", {x(), wholes("pad", {1, 2})}, {"s0", 5}, {"s0", 8}, {"Pad"}},
        OpCase{"aten.mean.dim",
               {x(), wholes("dim", {-1}), flag("keepdim", true)},
               {"s0", 5, 3},
               {"s0", 5, 1},
               {"ReduceMean"}}));

TEST(AtenOp, PartsHaveTheirSizes) {
  ProgramKit kit;
  kit.input("x", {"s0", 5}).output("a").output("b").declare("a", {"s0", 3}).declare("b", {"s0", 2});
  kit.call_making("aten.split.Tensor",
                  {tensor("self", "x"), whole("split_size", 3), whole("dim", 1)},
                  Json::array({Json{{"as_tensors", Json::array({named("a"), named("b")})}}}));
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), Types{"Split"});
  EXPECT_EQ(graph.op(OpId(0)).outputs.size(), 2U);
}

// A weight that is read transposed is one parameter, as it is stored.
TEST(AtenOp, TransposedWeightsAreReadAsTheyAreStored) {
  ProgramKit kit;
  kit.parameter("w", "w", {4, 8}).parameter("b", "b", {4}).input("x", {"s0", 8}).output("y");
  kit.call("aten.permute.default", {tensor("self", "w"), wholes("dims", {1, 0})}, {{"t", {8, 4}}});
  kit.call("aten.addmm.default", {tensor("self", "b"), tensor("mat1", "x"), tensor("mat2", "t")},
           {{"y", {"s0", 4}}});
  const Graph graph = kit.import(batch(2));
  ASSERT_EQ(op_types(graph), Types{"Gemm"});
  EXPECT_EQ(graph.op(OpId(0)).integer("transB", 0), 1);
}

TEST(AtenOp, LookupsAndLosses) {
  ProgramKit kit;
  kit.parameter("w", "table", {100, 8}).input("x", {"s0", 7}, kLong).input("z", {"s0"}, kLong);
  kit.output("loss");
  kit.call("aten.embedding.default", {tensor("weight", "w"), tensor("indices", "x")},
           {{"e", {"s0", 7, 8}}});
  kit.call("aten.mean.dim", {tensor("self", "e"), wholes("dim", {1})}, {{"m", {"s0", 8}}});
  kit.call("aten.cross_entropy_loss.default", {tensor("self", "m"), tensor("target", "z")},
           {{"loss", {}}});
  const Graph graph = kit.import(batch(2));
  EXPECT_EQ(op_types(graph), (Types{"Gather", "ReduceMean", "SoftmaxCrossEntropyLoss"}));
  EXPECT_EQ(graph.op(OpId(2)).family, OpFamily::Loss);
}

TEST(AtenOp, AxesThatAreNotThereAreRefused) {
  ProgramKit kit;
  kit.input("x", {"s0", 8}).output("y");
  kit.call("aten.softmax.int", {tensor("self", "x"), whole("dim", 7)}, {{"y", {"s0", 8}}});
  expect_error([&] { kit.import(batch(2)); }, "works along axis 7 of a tensor of 2");
}

}  // namespace
}  // namespace strato::test
