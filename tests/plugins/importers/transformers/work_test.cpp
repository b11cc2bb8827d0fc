// The work of a forward pass is what people count by hand: two FLOPs a parameter and token, and
// attention.
#include <gtest/gtest.h>

#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

constexpr double kNear = 0.01;

double forward_flops(const Graph& graph) {
  double flops = 0;
  for (const Op& op : graph.ops()) flops += op.work.flops;
  return flops;
}

double product_flops(const Graph& graph) {
  double flops = 0;
  for (const Op& op : graph.ops()) flops += op.type == "MatMul" ? op.work.flops : 0;
  return flops;
}

double flops_a_token(const std::string& name, std::int64_t batch, std::int64_t sequence) {
  ImportOptions options;
  options.batch = batch;
  options.dimensions["sequence"] = sequence;
  const Graph graph = import_config(
      std::filesystem::path(kSourceFolder) / "tests/data/transformers" / (name + ".json"), options);
  return forward_flops(graph) / static_cast<double>(batch * sequence);
}

// Queries and keys, weights and values: each token looks at half of the sequence on average.
double attention_a_token(double layers, double width, double sequence) {
  return layers * 4 * width * (sequence + 1) / 2;
}

TEST(ConfiguredWork, OfDenseModelsIsTwoFlopsAParameterAndToken) {
  const double llama = 2 * (6'738'415'616.0 - 32'000.0 * 4096);
  for (const std::int64_t sequence : {512, 4096}) {
    const double expected = llama + attention_a_token(32, 4096, static_cast<double>(sequence));
    EXPECT_NEAR(flops_a_token("llama_2_7b", 3, sequence), expected, kNear * expected);
  }
  // The tied table scores words, too: it counts, but those of positions do not.
  const double gpt = 2 * (124'439'808.0 - 1024.0 * 768) + attention_a_token(12, 768, 1024);
  EXPECT_NEAR(flops_a_token("gpt2", 2, 1024), gpt, kNear * gpt);
}

TEST(ConfiguredWork, OfExpertsIsThatOfTheChosen) {
  const double expert = 3.0 * 4096 * 14'336, layers = 32;
  const double active = 46'702'792'704.0 - 32'000.0 * 4096 - layers * (8 - 2) * expert;
  const double expected = 2 * active + attention_a_token(layers, 4096, 2048);
  EXPECT_NEAR(flops_a_token("mixtral_8x7b", 2, 2048), expected, kNear * expected);
}

// 37 billion of DeepSeek-V3's parameters are active (its report, section 1), 0.9 billion of them
// look words up.
TEST(ConfiguredWork, OfDeepseekIsThatOfItsReport) {
  const double active = 37e9 - 129'280.0 * 7168;
  const double attention = 61 * 128.0 * (2 * 192 + 2 * 128) * 4096 / 2;
  EXPECT_NEAR(flops_a_token("deepseek_v3", 1, 4096), 2 * active + attention,
              0.03 * (2 * active + attention));
}

// Of LoRA (Hu et al. 2021, section 4.1): r * (in + out) parameters for each linear layer are
// trained; the rest is there once, in the type that it is computed in.
TEST(ConfiguredWork, OfAdaptersIsTheirOwnBesideTheModel) {
  constexpr std::int64_t kRank = 16, kLayers = 32, kWidth = 4096, kKeys = 1024, kWide = 14'336;
  ImportOptions options;
  options.batch = 1;
  options.dimensions = {{"sequence", 128}, {"lora_rank", kRank}};
  const std::filesystem::path file =
      std::filesystem::path(kSourceFolder) / "sample_graphs/models/llama3_8b.json";
  const Graph graph = import_config(file, options);
  std::int64_t trained = 0, frozen = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role != TensorRole::Parameter) continue;
    (tensor.frozen ? frozen : trained) += tensor.elements();
    EXPECT_EQ(tensor.type, tensor.frozen ? DataType::BF16 : DataType::F32) << tensor.name;
  }
  const std::int64_t attention = 2 * (kWidth + kWidth) + 2 * (kWidth + kKeys);
  EXPECT_EQ(trained, kLayers * kRank * (attention + 3 * (kWidth + kWide)));
  EXPECT_EQ(frozen, 8'030'261'248);
  options.dimensions.erase("lora_rank");
  const double alone = product_flops(import_config(file, options));
  EXPECT_DOUBLE_EQ(product_flops(graph) - alone, 2.0 * 128 * static_cast<double>(trained));
}

}  // namespace
}  // namespace strato::test
