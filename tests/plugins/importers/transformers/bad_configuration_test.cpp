// What is refused, and what the refusal says.
#include <gtest/gtest.h>

#include "tests/message_of.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato::test {
namespace {

// Without the file's name.
std::string refusal(const std::function<void()>& action) {
  const std::string message = message_of(action);
  const std::size_t at = message.find("small.json: ");
  return at == std::string::npos ? message : message.substr(at + 12);
}
std::string refusal_of(const std::string& text) {
  return refusal([&] { import_text(text, small_batch()); });
}
std::string refusal_of(const std::string& family, const Json& changes) {
  return refusal([&] { import_small(family, changes); });
}

bool begins(const std::string& text, const std::string& with) { return text.starts_with(with); }

TEST(BadConfigurations, SayThatTheyAreNone) {
  EXPECT_TRUE(begins(refusal_of("{}"), "is no model configuration: it has no model_type; "));
  EXPECT_TRUE(begins(refusal_of("[1]"), "is no model configuration"));
  EXPECT_NE(refusal_of("{"), "no error");
  EXPECT_NE(refusal_of(""), "no error");
  EXPECT_TRUE(begins(refusal_of(R"({"format": "stratoscope-cluster", "version": 1})"),
                     "is no model configuration"));
}

TEST(BadConfigurations, NameFamiliesThatAreNotKnown) {
  const std::string unknown = refusal_of(R"({"model_type": "mamba"})");
  EXPECT_TRUE(begins(unknown, "model_type: \"mamba\" is no model family that is known; "));
  EXPECT_NE(unknown.find("llama, mistral, qwen2"), std::string::npos);
  EXPECT_TRUE(begins(refusal_of(R"({"architectures": ["MambaForCausalLM"]})"), "architectures: "));
  EXPECT_TRUE(begins(refusal_of(R"({"architectures": []})"), "architectures: "));
  EXPECT_NE(refusal_of(R"({"architectures": [7]})"), "no error");
  EXPECT_NE(refusal_of(R"({"model_type": 7})"), "no error");
}

TEST(BadConfigurations, AreKnownByTheirClassesToo) {
  Json config = small_configs().at("qwen2_moe");
  config.erase("model_type");
  config["architectures"] = {"Qwen2MoeForCausalLM"};
  EXPECT_EQ(parameter_count(import_text(config.dump(), small_batch())),
            parameter_count(import_small("qwen2_moe")));
}

TEST(BadConfigurations, NameTheKeyOfAWrongNumber) {
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_size", -4}}), "hidden_size: is -4; "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_size", "wide"}}), "hidden_size: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_size", 1e18}}), "hidden_size: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_size", 18}}), "hidden_size: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"num_hidden_layers", 10'001}}), "num_hidden_layers: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"num_key_value_heads", 3}}), "num_key_value_heads: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_size", 12}}), "\"head_dim\": 3 "));
  EXPECT_TRUE(begins(refusal_of("gpt2", {{"n_head", 5}}), "n_embd: "));
  EXPECT_TRUE(begins(refusal_of("gpt2", {{"resid_pdrop", 2}}), "resid_pdrop: "));
  EXPECT_TRUE(begins(refusal_of("gptj", {{"rotary_dim", 3}}), "rotary_dim: "));
  EXPECT_TRUE(begins(refusal_of("gpt_neox", {{"rotary_pct", 0.75}}), "rotary_pct: "));
  EXPECT_TRUE(begins(refusal_of("mixtral", {{"num_experts_per_tok", 5}}), "num_experts_per_tok: "));
  EXPECT_TRUE(begins(refusal_of("vit", {{"patch_size", 3}}), "image_size: "));
  EXPECT_TRUE(begins(refusal_of("bloom", {{"n_head", 5}}), "n_embed: "));
}

TEST(BadConfigurations, NameAWordThatIsNotKnown) {
  EXPECT_TRUE(begins(refusal_of("llama", {{"hidden_act", "softsign"}}), "hidden_act: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"torch_dtype", "int8"}}), "torch_dtype: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"dtype", "float8"}}), "dtype: "));
  EXPECT_TRUE(begins(refusal_of("t5", {{"feed_forward_proj", "wide"}}), "feed_forward_proj: "));
  EXPECT_TRUE(begins(refusal_of("bert", {{"position_embedding_type", "relative_key"}}),
                     "position_embedding_type: "));
}

TEST(BadConfigurations, NameAKeyThatMayChangeTheModel) {
  EXPECT_TRUE(begins(refusal_of("llama", {{"mixture_of_depths", true}}), "mixture_of_depths: "));
  EXPECT_TRUE(begins(refusal_of("llama", {{"num_experts", 4}}), "num_experts: "));
  EXPECT_EQ(refusal_of("llama", {{"mixture_of_depths", nullptr}}), "no error");
  EXPECT_TRUE(begins(refusal_of("gpt2", {{"add_cross_attention", true}}), "add_cross_attention: "));
  EXPECT_EQ(refusal_of("gpt2", {{"add_cross_attention", false}}), "no error");
  EXPECT_EQ(refusal_of("llama", {{"transformers_version", "5.0"}, {"sep_token_id", 3}}),
            "no error");
}

TEST(BadConfigurations, NameAHeadThatIsNotBuilt) {
  const auto refused = [](const std::string& family, const char* architecture) {
    return begins(refusal_of(family, {{"architectures", {architecture}}}), "architectures: ");
  };
  EXPECT_TRUE(refused("llama", "LlamaForSequenceClassification"));
  EXPECT_TRUE(refused("gpt2", "GPT2ForTokenClassification"));
  EXPECT_TRUE(refused("bert", "BertForQuestionAnswering"));
  EXPECT_TRUE(refused("vit", "ViTForMaskedImageModeling"));
  EXPECT_TRUE(refused("t5", "T5EncoderModel"));
  EXPECT_FALSE(refused("t5", "T5Model"));
}

TEST(BadConfigurations, AreAskedForWhatIsOpen) {
  ImportOptions options;
  const std::string text = small_configs().at("llama").dump();
  EXPECT_THROW(import_text(text, options), UnboundDimension);
  options.dimensions["batch"] = 3;
  EXPECT_EQ(import_text(text, options).batch(), 3);
  options = small_batch();
  options.dimensions["seq"] = 4;
  EXPECT_TRUE(begins(refusal([&] { import_text(text, options); }),
                     "seq: is no dimension of this model; there are: sequence, flash"));
  options = small_batch();
  options.dimensions["sequence"] = 0;
  EXPECT_TRUE(begins(refusal([&] { import_text(text, options); }), "sequence: is 0; "));
  options.dimensions["sequence"] = 100;  // longer than it was trained on, which positions allow
  EXPECT_EQ(refusal([&] { import_text(text, options); }), "no error");
  EXPECT_TRUE(begins(refusal([&] { import_text(small_configs().at("gpt2").dump(), options); }),
                     "sequence: is 100; give 1 to 8"));
  EXPECT_TRUE(begins(refusal([&] { import_text(small_configs().at("roberta").dump(), options); }),
                     "sequence: is 100; give 1 to 10"));
  options = small_batch();
  options.batch = 0;
  EXPECT_NE(refusal([&] { import_text(text, options); }), "no error");
}

// Whatever a key's value is, it is read or refused.
TEST(BadConfigurations, AreReadOrRefusedWhateverAValueIs) {
  const Json values = Json::parse(
      R"([null, true, -1, 0, 1, 3, 7, 1048576, 1000000000000, 1e300, 0.1, "", "x", [], {}, [1, 2]])");
  int read = 0, refused = 0;
  for (const auto& [family, config] : small_configs()) {
    for (const auto& [key, value] : config.items()) {
      for (const Json& other : values) {
        const std::string answer = refusal_of(family, {{key, other}});
        ++(answer == "no error" ? read : refused);
      }
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 1500);
}

// Widths as large as they may be.
TEST(BadConfigurations, OfHugeModelsAreRefusedInTime) {
  const Json huge = {{"hidden_size", 1 << 24},
                     {"intermediate_size", 1 << 24},
                     {"vocab_size", std::int64_t{1} << 31},
                     {"num_hidden_layers", 500},
                     {"num_attention_heads", 1 << 16},
                     {"num_key_value_heads", 1}};
  EXPECT_NE(refusal_of("llama", huge), "no error");
  EXPECT_NE(refusal_of("deepseek_v3", huge), "no error");
}

}  // namespace
}  // namespace strato::test
