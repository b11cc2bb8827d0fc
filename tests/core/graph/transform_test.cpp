#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/graph/build/copy_graph.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

using Integers = std::vector<std::int64_t>;

std::vector<std::string> input_names(const Graph& graph, const Op& op) {
  std::vector<std::string> names;
  for (const TensorId id : op.inputs) names.push_back(graph.tensor(id).name);
  return names;
}

// What holds for every training graph.
void check_training_graph(const Graph& graph) {
  std::map<TensorId, int> updates;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    if (op.phase == Phase::Backward) {
      ASSERT_TRUE(op.forward.valid()) << op.name;
      ASSERT_LT(op.forward, OpId(i)) << op.name;
      const Op& forward = graph.op(op.forward);
      const auto wrt = op.integers("wrt");
      for (std::size_t k = 0; k < wrt.size(); ++k) {
        EXPECT_EQ(graph.tensor(op.outputs[k]).shape,
                  graph.tensor(forward.inputs[static_cast<std::size_t>(wrt[k])]).shape)
            << op.name;
      }
      for (const TensorId id : op.outputs) {
        EXPECT_EQ(graph.tensor(id).role, TensorRole::Gradient);
        EXPECT_FALSE(graph.consumers(id).empty()) << op.name << " is not needed";
      }
    }
    if (op.phase != Phase::Update) continue;
    ++updates[op.inputs[0]];
    EXPECT_TRUE(op.outputs.empty());
    EXPECT_EQ(op.split, Splittability::None);
    EXPECT_EQ(graph.update_of(op.inputs[0]), OpId(i));
    for (const TensorId id : op.inputs) {
      EXPECT_EQ(graph.tensor(id).shape, graph.tensor(op.inputs[0]).shape) << op.name;
    }
    const Op& reader = graph.op(op.forward);
    EXPECT_NE(std::find(reader.inputs.begin(), reader.inputs.end(), op.inputs[0]),
              reader.inputs.end());
  }
  for (const auto& [parameter, times] : updates)
    EXPECT_EQ(times, 1) << graph.tensor(parameter).name;
}

Graph mlp() {
  ModelKit kit(8);
  const TensorId x = kit.input("x", {8, 20});
  const TensorId hidden =
      kit.op("Relu", {kit.op("Gemm", {x, kit.weight("w1", {20, 30}), kit.weight("b1", {30})})});
  kit.op("Gemm", {hidden, kit.weight("w2", {30, 10}), kit.weight("b2", {10})});
  return kit.build();
}

TEST(TrainingGraph, OfAPerceptron) {
  const Graph graph = make_training_graph(mlp(), Optimizer::Adam);
  check_training_graph(graph);
  EXPECT_TRUE(graph.is_training());
  EXPECT_EQ(count(graph, "GemmGradInput"), 1);  // none for the data
  EXPECT_EQ(count(graph, "GemmGradWeight"), 2);
  EXPECT_EQ(count(graph, "GemmGradBias"), 2);
  EXPECT_EQ(count(graph, "ApplyAdam"), 4);
  EXPECT_EQ(graph.op_count(), 3u + 2 + 1 + 2 + 2 + 1 + 4);  // forward, loss, gradients, updates

  for (const Op& op : graph.ops()) {
    if (op.type == "GemmGradWeight" || op.type == "GemmGradBias" ||
        op.type == "SoftmaxCrossEntropy") {
      EXPECT_EQ(op.split, Splittability::Sum) << op.name;
    } else if (op.phase != Phase::Update) {
      EXPECT_EQ(op.split, Splittability::Concat) << op.name;
    }
  }
  const Op& relu = only(graph, "ReluGrad");
  EXPECT_EQ(graph.tensor(relu.inputs[0]).role, TensorRole::Gradient);
  EXPECT_EQ(graph.tensor(relu.inputs[1]).name, "Relu1:0");
  const Op& update = graph.op(graph.find_op("w1/update"));
  EXPECT_EQ(graph.tensor(update.inputs[2]).name, "w1/adam_m");
  EXPECT_EQ(graph.tensor(update.inputs[3]).role, TensorRole::OptimizerState);
  EXPECT_EQ(update.work.fixed_bytes.value, 20 * 30 * 4 * (4 + 3));  // four read, three written
  const Tensor& label = tensor_named(graph, "Gemm2:0/label");
  EXPECT_EQ(label.type, DataType::I64);
  EXPECT_EQ(label.shape, (Shape{8}));
  EXPECT_EQ(label.batch, batched_on(0));
}

TEST(TrainingGraph, OptimizersKeepTheirState) {
  const std::pair<Optimizer, std::size_t> states[] = {
      {Optimizer::Sgd, 0}, {Optimizer::Momentum, 1}, {Optimizer::Adam, 2}};
  for (const auto& [optimizer, count] : states) {
    const Graph graph = make_training_graph(mlp(), optimizer);
    const Op& update = graph.op(graph.find_op("w1/update"));
    EXPECT_EQ(update.inputs.size(), 2u + count);
    EXPECT_EQ(optimizer_from(name_of(optimizer)), optimizer);
  }
  EXPECT_THROW(optimizer_from("adamw"), InputError);
}

TEST(TrainingGraph, OfAResidualConvolutionBlock) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 8, 6, 6});
  const auto normalized = [&](TensorId from, const std::string& name) {
    const TensorId c = kit.op("Conv", {from, kit.weight(name + ".w", {8, 8, 3, 3})},
                              {{"pads", Integers{1, 1, 1, 1}}});
    return kit.op("BatchNormalization",
                  {c, kit.weight(name + ".scale", {8}), kit.weight(name + ".shift", {8}),
                   kit.weight(name + ".mean", {8}), kit.weight(name + ".variance", {8})});
  };
  const TensorId stem = kit.op("Relu", {normalized(x, "stem")});
  const TensorId joined = kit.op("Relu", {kit.op("Add", {normalized(stem, "block"), stem})});
  const TensorId pooled = kit.op("Flatten", {kit.op("GlobalAveragePool", {joined})});
  kit.op("Gemm", {pooled, kit.weight("fc", {8, 5})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Momentum);
  check_training_graph(graph);
  EXPECT_EQ(count(graph, "ConvGradInput"), 1);
  EXPECT_EQ(count(graph, "ConvGradWeight"), 2);
  EXPECT_EQ(count(graph, "AddGrad"), 0);  // the gradient passes through
  EXPECT_EQ(count(graph, "AddN"), 1);     // the stem has two readers
  EXPECT_EQ(count(graph, "ApplyMomentum"), 2 * 3 + 1);
  EXPECT_FALSE(graph.find_op("stem.mean/update").valid());
  const Op& flatten = only(graph, "FlattenGrad");
  EXPECT_TRUE(flatten.view);
  EXPECT_EQ(flatten.inputs.size(), 1u);
  for (const Op& op : graph.ops()) {
    if (op.type != "BatchNormalizationGrad") continue;
    ASSERT_EQ(op.outputs.size(), 3u);
    EXPECT_EQ(graph.tensor(op.outputs[0]).batch, batched_on(0));
    EXPECT_EQ(graph.tensor(op.outputs[1]).batch, partial_sum());
    EXPECT_EQ(op.split, Splittability::Concat);
  }
  const Op& conv = only(graph, "ConvGradInput");
  const Op& forward = graph.op(conv.forward);
  EXPECT_EQ(conv.work.flops, forward.work.flops);
  EXPECT_EQ(conv.inputs[1], forward.inputs[1]);
}

TEST(TrainingGraph, OfABroadcastBiasAndAScale) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6});
  const TensorId product = kit.op("MatMul", {x, kit.weight("w", {6, 5})});
  const TensorId biased = kit.op("Add", {product, kit.weight("b", {5})});
  kit.op("Mul", {biased, kit.weight("scale", {5})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  check_training_graph(graph);
  const Op& bias = only(graph, "AddGrad");
  EXPECT_EQ(bias.inputs.size(), 1u);
  EXPECT_EQ(bias.split, Splittability::Sum);
  EXPECT_EQ(graph.tensor(bias.outputs[0]).shape, (Shape{5}));
  const std::vector<std::string> reads = input_names(graph, only(graph, "MulGradB"));
  EXPECT_EQ(reads[1], "Add1:0");
  EXPECT_EQ(input_names(graph, only(graph, "MulGradA"))[1], "scale");
  EXPECT_EQ(count(graph, "MatMulGradA"), 0);
  EXPECT_EQ(only(graph, "MatMulGradB").split, Splittability::Sum);
}

TEST(TrainingGraph, OfTiedEmbeddings) {
  ModelKit kit(4);
  const TensorId table = kit.weight("table", {50, 8});
  const TensorId ids = kit.input("ids", {4, 6}, DataType::I64);
  const TensorId hidden = kit.op("Tanh", {kit.op("Gather", {table, ids})});
  kit.op("MatMul", {hidden, kit.transpose(table, {1, 0})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Adam);
  check_training_graph(graph);
  const Op& gather = only(graph, "GatherGrad");
  EXPECT_EQ(graph.tensor(gather.outputs[0]).shape, (Shape{50, 8}));
  EXPECT_EQ(gather.split, Splittability::Sum);
  ASSERT_EQ(gather.inputs.size(), 2u);
  EXPECT_EQ(gather.inputs[1], ids);
  const Op& transposed = only(graph, "TransposeGrad");  // sums pass through: it is linear
  EXPECT_EQ(transposed.split, Splittability::Sum);
  EXPECT_EQ(only(graph, "AddN").split, Splittability::Sum);
  EXPECT_EQ(count(graph, "ApplyAdam"), 1);
  EXPECT_EQ(tensor_named(graph, "MatMul3:0/label").shape, (Shape{4, 6}));
}

TEST(TrainingGraph, OfARecurrentNetwork) {
  ModelKit kit(4);
  const TensorId x = kit.transpose(kit.input("x", {4, 9, 8}), {1, 0, 2});
  const TensorId y = kit.op(
      "LSTM",
      {x, kit.weight("w", {1, 20, 8}), kit.weight("r", {1, 20, 5}), kit.weight("b", {1, 40})}, {},
      3);
  const TensorId flat = kit.op("Squeeze", {y, kit.constant("axes", {1})});
  kit.op("MatMul", {flat, kit.weight("decoder", {5, 12})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  check_training_graph(graph);
  const Op &lstm = only(graph, "LSTM"), &grad = only(graph, "LSTMGrad");
  ASSERT_EQ(lstm.outputs.size(), 4u);
  const Tensor& reserve = graph.tensor(lstm.outputs[3]);
  EXPECT_EQ(reserve.shape, (Shape{9, 1, 4, 25}));
  EXPECT_EQ(reserve.batch, batched_on(2));
  EXPECT_EQ(grad.outputs.size(), 3u);  // weights, recurrence, bias; not the data
  EXPECT_EQ(grad.split, Splittability::Sum);
  EXPECT_EQ(grad.work.flops, 2 * lstm.work.flops);
  EXPECT_EQ(count(graph, "SoftmaxCrossEntropy"), 1);  // not for the unread last state
  const Tensor& label = tensor_named(graph, "MatMul3:0/label");
  EXPECT_EQ(label.shape, (Shape{9, 4}));
  EXPECT_EQ(label.batch, batched_on(1));
}

TEST(TrainingGraph, UsesTheModelsOwnLoss) {
  ModelKit kit(4);
  const TensorId scores = kit.op("MatMul", {kit.input("x", {4, 6}), kit.weight("w", {6, 5})});
  kit.op("SoftmaxCrossEntropyLoss", {scores, kit.input("label", {4}, DataType::I64)}, {}, 2);
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  check_training_graph(graph);
  EXPECT_EQ(count(graph, "SoftmaxCrossEntropy"), 0);
  EXPECT_EQ(only(graph, "SoftmaxCrossEntropyLoss").phase, Phase::Loss);
  EXPECT_EQ(only(graph, "SoftmaxCrossEntropyLoss").split, Splittability::Sum);
  EXPECT_EQ(only(graph, "SoftmaxCrossEntropyLossGrad").split, Splittability::Concat);
  EXPECT_EQ(only(graph, "MatMulGradB").split, Splittability::Sum);
}

TEST(TrainingGraph, DropoutKeepsAMaskOfBytes) {
  ModelKit kit(4);
  const TensorId h = kit.op("MatMul", {kit.input("x", {4, 6}), kit.weight("w", {6, 5})});
  kit.op("Dropout", {h});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  check_training_graph(graph);
  const Op &dropout = only(graph, "Dropout"), &grad = only(graph, "DropoutGrad");
  ASSERT_EQ(dropout.outputs.size(), 2u);
  EXPECT_EQ(graph.tensor(dropout.outputs[1]).bytes().value, 20);
  EXPECT_EQ(graph.tensor(dropout.outputs[1]).batch, batched_on(0));
  EXPECT_EQ(grad.inputs[1], dropout.outputs[1]);
}

TEST(TrainingGraph, RegressionAndImagesGetTheirLosses) {
  ModelKit regression(4);
  regression.op("MatMul", {regression.input("x", {4, 6}), regression.weight("w", {6, 1})});
  const Graph squared = make_training_graph(regression.build(), Optimizer::Sgd);
  EXPECT_EQ(count(squared, "MeanSquaredLoss"), 1);
  check_training_graph(squared);

  ModelKit segmentation(4);
  segmentation.op("Conv",
                  {segmentation.input("x", {4, 3, 8, 8}), segmentation.weight("w", {21, 3, 1, 1})});
  const Graph pixels = make_training_graph(segmentation.build(), Optimizer::Sgd);
  EXPECT_EQ(tensor_named(pixels, "Conv0:0/label").shape, (Shape{4, 8, 8}));
}

// A vocabulary is reduced in blocks of words, so that it can be divided; one that no number of
// blocks divides in a single one, so that positions can be. Few classes are not.
TEST(TrainingGraph, ManyClassesAreReducedInBlocks) {
  const auto trained = [](std::int64_t classes) {
    ModelKit kit(2);
    kit.op("MatMul", {kit.input("x", {2, 3, 4}), kit.weight("w", {4, classes})});
    return make_training_graph(kit.build(), Optimizer::Sgd);
  };
  const Graph graph = trained(8192);
  const Op &reduce = only(graph, "BlockLogSumExp"), &loss = only(graph, "BlockCrossEntropy");
  EXPECT_EQ(reduce.integer("blocks", 0), 64);
  EXPECT_EQ(graph.tensor(reduce.outputs[0]).shape, (Shape{2, 3, 64}));
  EXPECT_EQ(graph.tensor(reduce.outputs[1]).batch, batched_on(0));
  EXPECT_EQ(graph.tensor(loss.outputs[0]).batch, partial_sum());
  EXPECT_EQ(loss.phase, Phase::Loss);
  const Op& slope = only(graph, "BlockLogSumExpGrad");
  EXPECT_EQ(slope.phase, Phase::Backward);
  EXPECT_EQ(graph.tensor(slope.outputs[0]).shape, (Shape{2, 3, 8192}));
  EXPECT_EQ(graph.tensor(slope.outputs[0]).batch, batched_on(0));
  EXPECT_EQ(loss_tensors(graph), std::vector<TensorId>{loss.outputs[0]});
  EXPECT_EQ(only(trained(50257), "BlockLogSumExp").integer("blocks", 0), 1);
  EXPECT_EQ(count(trained(1000), "SoftmaxCrossEntropy"), 1);
}

TEST(TrainingGraph, UnknownOpsGetAGenericGradient) {
  ModelKit kit(4);
  const TensorId h = kit.op("Gemm", {kit.input("x", {4, 6}), kit.weight("v", {6, 6})});
  kit.op("Mystery", {h, kit.weight("w", {6})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  check_training_graph(graph);
  const Op& grad = only(graph, "MysteryGrad");
  EXPECT_TRUE(grad.estimated);
  EXPECT_EQ(grad.outputs.size(), 2u);
  EXPECT_EQ(graph.tensor(grad.outputs[1]).batch, partial_sum());
}

TEST(TrainingGraph, RefusesAGraphWithoutResult) {
  ModelKit kit(4);
  kit.shaped("ArgMax", {kit.input("x", {4, 6})}, {{4, 1}}, {{"axis", std::int64_t{1}}},
             DataType::I64);
  EXPECT_THROW(make_training_graph(kit.build(), Optimizer::Sgd), InputError);
}

TEST(Simplify, RemovesPassThroughAndDanglingOps) {
  ModelKit kit(4);
  const TensorId x = kit.input("x", {4, 6});
  const TensorId same = kit.op("Identity", {kit.op("Dropout", {x})});
  kit.op("Relu", {same});
  kit.op("Tanh", {x});  // nothing reads it: a result
  kit.shaped("ArgMax", {x}, {{4, 1}}, {{"axis", std::int64_t{1}}},
             DataType::I64);  // none: integers
  const Graph graph = kit.build();
  EXPECT_EQ(graph.op_count(), 5u);
  const Graph trained = simplify(graph, false);
  EXPECT_EQ(trained.op_count(), 3u);
  const Graph inferred = simplify(graph, true);
  ASSERT_EQ(inferred.op_count(), 2u);
  EXPECT_EQ(inferred.tensor(inferred.op(OpId(0)).inputs[0]).name, "x");
}

TEST(Simplify, KeepsTrainingGraphsWhole) {
  const Graph graph = make_training_graph(mlp(), Optimizer::Adam);
  const Graph simple = simplify(graph, false);
  EXPECT_EQ(simple.op_count(), graph.op_count());
  check_training_graph(simple);
}

}  // namespace
}  // namespace strato
