// Signatures of the models that come with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/cost/value/profile.h"
#include "core/graph/train/training_graph.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/paths.h"

namespace strato {
namespace {

Graph training_graph(const std::string& model, std::int64_t batch) {
  const auto file =
      std::filesystem::path(kSourceFolder) / "sample_graphs/models" / (model + ".onnx");
  const PluginRegistry plugins({std::filesystem::path(kBuildFolder) / "plugins"});
  ImportOptions options;
  options.batch = batch;
  return make_training_graph(plugins.importer_for(file)->import(file, options), Optimizer::Adam);
}

std::vector<std::string> signatures_of(const Graph& graph) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    result.push_back(op_signature(graph, OpId(i)));
  }
  std::sort(result.begin(), result.end());
  return result;
}

class SampleModel : public testing::TestWithParam<const char*> {};

TEST_P(SampleModel, HasTheSameSignaturesAtAnyBatchSize) {
  EXPECT_EQ(signatures_of(training_graph(GetParam(), 8)),
            signatures_of(training_graph(GetParam(), 24)));
}

TEST_P(SampleModel, RepeatsItsSignatures) {
  std::vector<std::string> all = signatures_of(training_graph(GetParam(), 8));
  const std::size_t ops = all.size();
  all.erase(std::unique(all.begin(), all.end()), all.end());
  RecordProperty("ops", static_cast<int>(ops));
  RecordProperty("signatures", static_cast<int>(all.size()));
  EXPECT_LE(all.size(), ops);
  for (const std::string& text : all) {
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; }))
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SampleModel,
                         testing::Values("lenet", "alexnet", "vgg19", "resnet101", "inception_v3",
                                         "transformer", "bert_small", "bert_large"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SampleModels, BertsShareWhatIsEqual) {
  const std::vector<std::string> small = signatures_of(training_graph("bert_small", 8));
  const std::vector<std::string> large = signatures_of(training_graph("bert_large", 16));
  std::vector<std::string> shared;
  std::set_intersection(small.begin(), small.end(), large.begin(), large.end(),
                        std::back_inserter(shared));
  EXPECT_FALSE(shared.empty());
}

}  // namespace
}  // namespace strato
