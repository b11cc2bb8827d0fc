#include "core/graph/train/training_choice.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_file.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"
#include "tests/message_of.h"

namespace strato {
namespace {

// x (as the file has it) * w1, scaled by a constant, * w2, with a Cast of its own in between.
Graph model() {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 16});
  const TensorId first = kit.op("MatMul", {x, kit.weight("body.w1", {16, 32})});
  const TensorId factor = kit.tensor("factor", TensorRole::Constant, {1});
  const float quarter = 0.25F;
  kit.builder.tensor(factor).data =
      std::make_shared<const std::string>(reinterpret_cast<const char*>(&quarter), sizeof quarter);
  const TensorId scaled = kit.op("Mul", {first, factor});
  const TensorId cast = kit.op("Cast", {scaled}, {{"to", std::int64_t{1}}});
  kit.op("MatMul", {cast, kit.weight("head.w2", {32, 4})});
  return std::move(kit.builder).build();
}

std::size_t ops_of_type(const Graph& graph, std::string_view type) {
  std::size_t count = 0;
  for (const Op& op : graph.ops()) count += op.type == type ? 1 : 0;
  return count;
}

TEST(TrainingChoice, MixedPrecisionKeepsWhatIsTrainedIn32Bits) {
  for (const DataType type : {DataType::BF16, DataType::F16}) {
    const Graph graph = in_mixed_precision(model(), type);
    EXPECT_EQ(ops_of_type(graph, "Cast"), 3U);  // of x, w1, w2; the model's own has nothing to do
    for (const Op& op : graph.ops()) {
      if (op.type == "Cast") {
        EXPECT_EQ(op.integer("to", 0), onnx_number(type));
        EXPECT_EQ(graph.tensor(op.inputs[0]).type, DataType::F32) << op.name;
      } else {
        for (const TensorId id : op.inputs) EXPECT_EQ(graph.tensor(id).type, type) << op.name;
      }
      for (const TensorId id : op.outputs) EXPECT_EQ(graph.tensor(id).type, type) << op.name;
    }
    const std::string& data = *tensor_named(graph, "factor").data;
    ASSERT_EQ(data.size(), 2U);
    EXPECT_EQ(static_cast<std::uint8_t>(data[1]), type == DataType::F16 ? 0x34 : 0x3e);

    const Graph training = make_training_graph(simplify(graph, false), Optimizer::Adam);
    for (const Tensor& tensor : training.tensors()) {
      const bool is_state = tensor.role == TensorRole::OptimizerState;
      if (is_state || tensor.role == TensorRole::Parameter) {
        EXPECT_EQ(tensor.type, DataType::F32) << tensor.name;
      }
    }
    for (const Op& op : training.ops()) {
      if (op.phase != Phase::Update) continue;
      EXPECT_EQ(training.tensor(op.inputs[1]).type, DataType::F32);
    }
  }
}

TEST(TrainingChoice, FactorsOfSizesStayAsTheyAre) {
  ModelKit kit(2);
  const TensorId x = kit.op("Conv", {kit.input("x", {2, 3, 8, 8}), kit.weight("w", {4, 3, 1, 1})});
  const TensorId factors = kit.tensor("factors", TensorRole::Constant, {4});
  const std::vector<float> values = {1, 1, 2, 2};
  kit.builder.tensor(factors).data = std::make_shared<const std::string>(
      reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  kit.op("Resize", {x, TensorId(), factors});
  const Graph graph = in_mixed_precision(std::move(kit.builder).build(), DataType::BF16);
  EXPECT_EQ(tensor_named(graph, "factors").type, DataType::F32);
  EXPECT_EQ(tensor_named(graph, "factors").data->size(), 16U);
  const Op& resize = graph.op(OpId(graph.op_count() - 1));
  EXPECT_EQ(infer_output_shapes(resize, graph.tensors()).front().shape, (Shape{2, 4, 16, 16}));
}

TEST(TrainingChoice, ThereAndBackIsTheSame) {
  const Graph start = in_mixed_precision(model(), DataType::F32);
  EXPECT_EQ(ops_of_type(start, "Cast"), 0U);
  const Graph half = with_precision(model(), DataType::F16);  // as a file of half precision has it
  const Graph back = in_mixed_precision(half, DataType::F32);
  EXPECT_EQ(tensor_named(back, "body.w1").type, DataType::F32);
  const Graph mixed = in_mixed_precision(start, DataType::BF16);
  EXPECT_EQ(in_mixed_precision(mixed, DataType::BF16).digest(), mixed.digest());
}

TEST(TrainingChoice, WhatIsFrozenHasNeitherGradientNorStateNorMaster) {
  const Graph forward = with_frozen(model(), {}, {"body.*"});
  EXPECT_TRUE(tensor_named(forward, "body.w1").frozen);
  EXPECT_FALSE(tensor_named(forward, "head.w2").frozen);
  EXPECT_NE(forward.digest(), model().digest());
  EXPECT_EQ(parse_graph(serialise(forward), "stored").digest(), forward.digest());
  EXPECT_EQ(with_frozen(model(), {"head*"}, {}).digest(), forward.digest());

  const Graph training = make_training_graph(forward, Optimizer::Adam);
  std::vector<std::string> updated;
  for (const Op& op : training.ops()) {
    if (op.phase == Phase::Update) updated.push_back(training.tensor(op.inputs[0]).name);
    EXPECT_NE(op.type, "MatMulGradInput") << "nothing before the frozen product is trained";
  }
  EXPECT_EQ(updated, std::vector<std::string>{"head.w2"});
  EXPECT_EQ(tensor_named(in_mixed_precision(forward, DataType::BF16), "body.w1").type,
            DataType::BF16);
}

TEST(TrainingChoice, WhatCannotBeIsSaid) {
  EXPECT_EQ(message_of([] { with_frozen(model(), {"lora*"}, {}); }),
            "model: parameters: none is named \"lora*\"; they are body.w1, head.w2");
  EXPECT_NE(message_of([] { with_frozen(model(), {}, {"*"}); }).find("all of them are frozen"),
            std::string::npos);
  EXPECT_NE(message_of([] { in_mixed_precision(model(), DataType::I8); }).find("precision"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
