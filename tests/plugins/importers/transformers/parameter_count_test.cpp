// Counts of parameters are those that are published, to the digit.
#include <gtest/gtest.h>

#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

struct Published {
  const char* name;  // of a file in tests/data/transformers
  std::int64_t parameters;
};

class PublishedModels : public testing::TestWithParam<Published> {};

TEST_P(PublishedModels, HaveAsManyParameters) {
  const std::filesystem::path folder =
      std::filesystem::path(kSourceFolder) / "tests/data/transformers";
  ImportOptions options;
  options.batch = 2;
  const Graph graph = import_config(folder / (std::string(GetParam().name) + ".json"), options);
  EXPECT_EQ(parameter_count(graph), GetParam().parameters);
  for (const Op& op : graph.ops()) EXPECT_FALSE(op.estimated) << op.name << " " << op.type;
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedModels,
    testing::Values(
        Published{"llama_2_7b", 6'738'415'616}, Published{"llama_2_13b", 13'015'864'320},
        Published{"llama_2_70b", 68'976'648'192}, Published{"llama_3_8b", 8'030'261'248},
        Published{"llama_3_70b", 70'553'706'496}, Published{"llama_3_1_405b", 405'853'388'800},
        Published{"llama_3_2_1b", 1'235'814'400}, Published{"tinyllama_1_1b", 1'100'048'384},
        Published{"mistral_7b_v0_1", 7'241'732'096}, Published{"mixtral_8x7b", 46'702'792'704},
        Published{"mixtral_8x22b_v0_1", 140'620'634'112}, Published{"qwen2_7b", 7'615'616'512},
        Published{"qwen2_5_0_5b", 494'032'768}, Published{"qwen2_5_72b", 72'706'203'648},
        Published{"qwen3_8b", 8'190'735'360}, Published{"qwen3_30b_a3b", 30'532'122'624},
        Published{"qwen1_5_moe_a2_7b", 14'315'784'192},
        Published{"deepseek_v2_lite", 15'706'484'224}, Published{"deepseek_v2", 235'741'434'880},
        Published{"deepseek_v3", 671'026'419'200}, Published{"gemma_2b", 2'506'172'416},
        Published{"gemma_7b", 8'537'680'896}, Published{"gemma_2_2b", 2'614'341'888},
        Published{"gemma_2_9b", 9'241'705'984}, Published{"gemma_3_1b", 999'885'952},
        Published{"phi_3_mini_4k", 3'821'079'552}, Published{"gpt2", 124'439'808},
        Published{"gpt2_medium", 354'823'168}, Published{"gpt2_large", 774'030'080},
        Published{"gpt2_xl", 1'557'611'200}, Published{"gpt_neox_20b", 20'554'567'680},
        Published{"pythia_160m", 162'322'944}, Published{"gptj_6b", 6'050'882'784},
        Published{"opt_125m", 125'239'296}, Published{"opt_350m", 331'196'416},
        Published{"opt_6_7b", 6'658'473'984}, Published{"bloom_560m", 559'214'592},
        Published{"bloom_176b", 176'247'271'424}, Published{"falcon_7b", 6'921'720'704},
        Published{"falcon_40b", 41'303'293'952}, Published{"bert_base_uncased", 109'514'298},
        Published{"bert_base_model", 109'482'240}, Published{"bert_base_classifier", 109'483'778},
        Published{"roberta_base", 124'697'433}, Published{"roberta_base_model", 124'645'632},
        Published{"vit_base_patch16_224", 86'567'656},
        Published{"vit_large_patch16_224", 304'326'632}, Published{"t5_small", 60'506'624},
        Published{"t5_base", 222'903'552}, Published{"flan_t5_small", 76'961'152}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace strato::test
