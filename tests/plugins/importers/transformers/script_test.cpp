// Scripts of training frameworks that describe their model, imported as the model.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/message_of.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

Graph import_script(const std::string& text, const ImportOptions& options) {
  static const ConfigFolder folder;
  const std::filesystem::path file = folder / "run.sh";
  std::ofstream(file) << text;
  return import_config(file, options);
}

constexpr const char* kSmall =
    "pretrain_gpt.py --num-layers 2 --hidden-size 32 --ffn-hidden-size 48 "
    "--num-attention-heads 4 --group-query-attention --num-query-groups 2 --seq-length 6 "
    "--normalization RMSNorm --swiglu --position-embedding-type rope --disable-bias-linear "
    "--untie-embeddings-and-output-weights --vocab-size 64 --global-batch-size 4 ";

TEST(Scripts, AreTheModelThatAConfigurationSays) {
  const Graph script = import_script(kSmall, {});
  const Graph config = import_text(
      R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 6, "rms_norm_eps": 1e-5})",
      small_batch());
  EXPECT_EQ(script.batch(), 4);  // as the script has it
  EXPECT_EQ(script.ops().size(), config.ops().size());
  EXPECT_EQ(parameter_count(script), parameter_count(config));
  ImportOptions other;
  other.batch = 8;
  EXPECT_EQ(import_script(kSmall, other).batch(), 8);
}

// Without a batch of the whole step it follows from the machines that the script starts.
TEST(Scripts, SayOnWhichMachinesTheyRun) {
  std::string text = kSmall;
  text.erase(text.find("--global-batch-size"));
  const ConfigFolder folder;
  std::ofstream(folder / "run.sh") << "torchrun --nnodes 2 --nproc_per_node 4 " + text +
                                          "--micro-batch-size 3 --tensor-model-parallel-size 2";
  static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
  const auto importer = registry.importer_for("run.sh");
  EXPECT_EQ(importer->import(folder / "run.sh", {}).batch(), 12);
  ASSERT_FALSE(importer->remarks().empty());
  EXPECT_NE(importer->remarks().back().find("h100-2x4"), std::string::npos);
}

TEST(Scripts, OfNoModelSaySo) {
  const std::string said = message_of([] {
    import_script("pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1", {});
  });
  EXPECT_NE(said.find("run.sh: describes no model; give the model's config.json"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace strato::test
