// Split axes of every op of the models that come with the program: the listed slices of the inputs
// must give exactly the slice of the output, by the catalogue's shape rules.
#include "core/graph/axes/split_axes.h"

#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/train/training_graph.h"
#include "tests/paths.h"
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

class SplitAxesOfSamples : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::filesystem::path folder =
        std::filesystem::path(kSourceFolder) / "sample_graphs/models";
    graph_ = std::make_unique<Graph>(make_training_graph(
        import_file(folder / (std::string(GetParam()) + ".onnx"), batch(8)), Optimizer::Adam));
  }

  static Shape sliced(Shape shape, int axis, std::int64_t whole) {
    if (axis >= 0) shape[static_cast<std::size_t>(axis)] = whole / 2;
    return shape;
  }

  // Every slice is one of an axis as long as the output's.
  void check_extents(const Op& op, const SplitAxis& split, std::int64_t size) const {
    ASSERT_EQ(split.inputs.size(), op.inputs.size());
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (split.inputs[i] < 0) continue;
      const Tensor& input = graph_->tensor(op.inputs[i]);
      ASSERT_LT(split.inputs[i], static_cast<int>(input.shape.size()));
      EXPECT_EQ(input.shape[static_cast<std::size_t>(split.inputs[i])], size) << op.name;
      EXPECT_FALSE(input.batch.kind == BatchKind::Batched && input.batch.axis == split.inputs[i]);
    }
  }

  std::optional<Shape> shape_of(const Op& op, const IdVector<TensorId, Tensor>& tensors) const {
    const std::vector<TensorType> types = infer_output_shapes(op, tensors);
    if (types.empty() || op.outputs.empty() || op.type == "Expand") return std::nullopt;
    return types[0].shape;
  }

  // A forward op on slices. False: the shape rule has no answer.
  bool check_forward(const Op& op, const SplitAxis& split, std::int64_t size) const {
    const Shape& whole = graph_->tensor(op.outputs[0]).shape;
    if (shape_of(op, graph_->tensors()) != whole) return false;
    IdVector<TensorId, Tensor> tensors = graph_->tensors();
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i].valid())
        tensors[op.inputs[i]].shape =
            sliced(graph_->tensor(op.inputs[i]).shape, split.inputs[i], size);
    EXPECT_EQ(shape_of(op, tensors), sliced(whole, split.axis, size)) << op.name;
    return true;
  }

  // A gradient op that reads all the forward op's inputs or makes their gradients: the forward op
  // on the same slices makes the slice whose gradient is read.
  bool check_gradient(const Op& op, const SplitAxis& split, std::int64_t size) const {
    const Op& forward = graph_->op(op.forward);
    if (forward.outputs.size() != 1 || op.outputs.size() != 1) return false;
    if (graph_->tensor(op.inputs[0]).role != TensorRole::Gradient) return false;  // of a loss
    if (shape_of(forward, graph_->tensors()) != graph_->tensor(forward.outputs[0]).shape)
      return false;
    IdVector<TensorId, Tensor> tensors = graph_->tensors();
    std::vector<TensorId> known = {forward.inputs[static_cast<std::size_t>(op.integers("wrt")[0])]};
    tensors[known[0]].shape = sliced(tensors[known[0]].shape, split.axis, size);
    for (std::size_t i = 1; i < op.inputs.size(); ++i) {
      const Shape slice = sliced(graph_->tensor(op.inputs[i]).shape, split.inputs[i], size);
      if (op.inputs[i] == known[0]) {
        EXPECT_EQ(tensors[op.inputs[i]].shape, slice) << op.name;
      }
      tensors[op.inputs[i]].shape = slice;
      known.push_back(op.inputs[i]);
    }
    for (const TensorId input : forward.inputs)
      if (input.valid() && graph_->tensor(input).shape.size() > 0 &&
          std::find(known.begin(), known.end(), input) == known.end())
        return false;
    const TensorId gradient = op.inputs[0];
    EXPECT_EQ(shape_of(forward, tensors),
              sliced(graph_->tensor(gradient).shape, split.inputs[0], size))
        << op.name << " axis " << split.axis;
    return true;
  }

  std::unique_ptr<Graph> graph_;
};

TEST_P(SplitAxesOfSamples, SlicesOfInputsGiveTheSliceOfTheOutput) {
  int forward = 0, gradients = 0;
  for (std::size_t i = 0; i < graph_->op_count(); ++i) {
    const Op& op = graph_->op(OpId(i));
    const TensorId result = op.outputs.empty() ? op.inputs[0] : op.outputs[0];
    int before = -1;
    for (const SplitAxis& split : split_axes(*graph_, OpId(i))) {
      EXPECT_GT(split.axis, before);
      before = split.axis;
      const Tensor& tensor = graph_->tensor(result);
      ASSERT_LT(split.axis, static_cast<int>(tensor.shape.size()));
      EXPECT_FALSE(tensor.batch.kind == BatchKind::Batched && tensor.batch.axis == split.axis);
      const std::int64_t size = tensor.shape[static_cast<std::size_t>(split.axis)];
      EXPECT_GE(size, 2);
      check_extents(op, split, size);
      if (op.outputs.empty()) continue;
      if (op.attribute("wrt")) {
        gradients += check_gradient(op, split, size);
      } else {
        forward += check_forward(op, split, size);
      }
    }
  }
  EXPECT_GT(forward, 10);
  EXPECT_GT(gradients, 5);
}

// What takes the time can be split.
TEST_P(SplitAxesOfSamples, ProductsConvolutionsAndUpdatesCanBeSplit) {
  for (std::size_t i = 0; i < graph_->op_count(); ++i) {
    const Op& op = graph_->op(OpId(i));
    const bool product = op.family == OpFamily::MatMul || op.family == OpFamily::Convolution;
    if (!product && op.family != OpFamily::Update) continue;
    const TensorId result = op.outputs.empty() ? op.inputs[0] : op.outputs[0];
    if (graph_->tensor(result).elements() < 64 || op.integer("group", 1) > 1) continue;
    EXPECT_FALSE(split_axes(*graph_, OpId(i)).empty()) << op.name << " " << op.type;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SplitAxesOfSamples,
                         testing::Values("lenet", "alexnet", "vgg19", "resnet101", "inception_v3",
                                         "transformer", "bert_small", "gnmt", "rnnlm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace strato::test
