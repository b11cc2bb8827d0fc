// The models that come with the program.
#include <algorithm>

#include "core/graph/train/training_graph.h"
#include "tests/paths.h"
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

struct Sample {
  const char* name;
  std::int64_t trained;  // elements of parameters that an optimizer updates
};

bool reads_samples(const Graph& graph, const Op& op) {
  return std::ranges::any_of(op.inputs, [&](TensorId input) {
    return graph.tensor(input).batch.kind != BatchKind::Whole;
  });
}

class OnnxSamples : public testing::TestWithParam<Sample> {};

TEST_P(OnnxSamples, ImportsWithoutUnknownOps) {
  const std::filesystem::path folder =
      std::filesystem::path(kSourceFolder) / "sample_graphs/models";
  const Graph graph = import_file(folder / (std::string(GetParam().name) + ".onnx"), batch(32));
  EXPECT_EQ(graph.name(), GetParam().name);
  EXPECT_EQ(graph.batch(), 32);
  for (const Op& op : graph.ops()) {
    EXPECT_FALSE(op.estimated) << op.name << " " << op.type;
    // What is made of parameters alone (the distances of Transformer-XL) is whole.
    if (!reads_samples(graph, op)) continue;
    EXPECT_NE(op.split, Splittability::None) << op.name << " " << op.type;
  }
  const Graph training = make_training_graph(graph, Optimizer::Sgd);
  std::int64_t trained = 0;
  for (std::size_t i = 0; i < training.tensor_count(); ++i) {
    if (training.update_of(TensorId(i)).valid()) trained += training.tensor(TensorId(i)).elements();
  }
  EXPECT_EQ(trained, GetParam().trained);
}

INSTANTIATE_TEST_SUITE_P(
    All, OnnxSamples,
    testing::Values(Sample{"lenet", 61'706}, Sample{"alexnet", 61'100'840},
                    Sample{"vgg19", 143'667'240}, Sample{"resnet101", 44'549'160},
                    Sample{"inception_v3", 23'834'568}, Sample{"transformer", 106'766'080},
                    Sample{"bert_small", 57'648'130}, Sample{"bert_large", 1'234'032'642},
                    Sample{"vgg16", 138'357'544}, Sample{"densenet121", 7'978'856},
                    Sample{"amoebanet", 31'694'440}, Sample{"wavenet_4x9", 4'299'648},
                    Sample{"transformer_xl_2l", 36'610'000}, Sample{"bert_3l", 10'283'010},
                    Sample{"rnnlm_2l", 108'095'248}, Sample{"gnmt_8l", 276'632'576},
                    Sample{"ncf", 122'192'146}, Sample{"lm1b", 834'549'760}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace strato::test
