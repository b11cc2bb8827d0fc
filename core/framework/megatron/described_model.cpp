#include "core/framework/megatron/described_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/number_from.h"
#include "core/io/json.h"

namespace strato::frameworks {
namespace {

struct Vocabulary {
  std::string_view tokenizer;  // a part of its name, in lower case
  std::int64_t words;
};
// Of tokenizers that scripts name and do not count the words of.
constexpr std::array kVocabularies = {
    Vocabulary{"llama3", 128'256},  Vocabulary{"llama-3", 128'256}, Vocabulary{"llama2", 32'000},
    Vocabulary{"llama-2", 32'000},  Vocabulary{"mixtral", 32'000},  Vocabulary{"mistral", 32'000},
    Vocabulary{"gpt2", 50'257},     Vocabulary{"qwen3", 151'936},   Vocabulary{"qwen2", 151'936},
    Vocabulary{"deepseek", 129'280}};
constexpr std::int64_t kAssumedVocabulary = 32'000;

struct Refusal {
  std::string_view name, remedy;
};
constexpr std::array kOtherModels = {
    Refusal{"--multi-latent-attention", "open the model's config.json instead, then give this"},
    Refusal{"--spec", "open the model's config.json instead, then give this"},
    Refusal{"--use-checkpoint-args", "write the arguments of the model out"},
    Refusal{"--squared-relu", "there is no such activation here: leave it out"},
    Refusal{"--moe-shared-expert-intermediate-size",
            "open the model's config.json instead, then give this"}};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class ModelDescriber {
 public:
  explicit ModelDescriber(GivenArguments& given) : given_(given) {}

  DescribedModel describe() && {
    for (const Refusal& other : kOtherModels)
      if (const std::string name(other.name); given_.has(name))
        given_.refuse(name, "describes a model that cannot be made of arguments here",
                      std::string(other.remedy));
    read_sizes();
    read_words();
    if (rms_)
      like_llama();
    else
      rope_ ? like_neox() : like_gpt();
    read_type();
    DescribedModel model;
    model.name = fmt::format("{}-{}", family_, size_text());
    config_["_name_or_path"] = model.name;
    model.config = config_.dump(2);
    model.remarks = std::move(remarks_);
    return model;
  }

 private:
  std::int64_t needed(const std::string& name, const char* what) {
    if (const auto value = given_.number(name)) return *value;
    given_.refuse(name, "is not there", fmt::format("give {}", what));
  }
  double real(const std::string& name, double usual) {
    const auto text = given_.text(name);
    if (!text) return usual;
    const auto value = number_from<double>(*text, 0, 1e12);
    if (!value) given_.refuse(name, fmt::format("is \"{}\"", shortened(*text)), "give a number");
    return *value;
  }

  void read_sizes() {
    layers_ = needed("--num-layers", "the layers of the model");
    hidden_ = needed("--hidden-size", "the elements of a token between layers");
    heads_ = needed("--num-attention-heads", "the heads of a layer");
    gated_ = given_.flag("--swiglu");
    const std::string norm = given_.one_of("--normalization", {"LayerNorm", "RMSNorm"});
    rms_ = norm == "RMSNorm";
    const std::string positions =
        given_.one_of("--position-embedding-type", {"learned_absolute", "rope", "none"});
    if (positions == "none")
      given_.refuse("--position-embedding-type", "is none: there is no such model here",
                    "give rope or learned_absolute");
    rope_ = given_.flag("--use-rotary-position-embeddings") || positions == "rope";
    const auto feed = given_.number("--ffn-hidden-size");
    // As Megatron-LM's own validation has it.
    feed_ = feed ? *feed : gated_ ? hidden_ * 8 / 3 / 64 * 64 : hidden_ * 4;
    const auto size = given_.number("--kv-channels");
    head_ = size ? *size : hidden_ / heads_;
    if (!size && hidden_ % heads_ != 0)
      given_.refuse("--num-attention-heads",
                    fmt::format("is {}, which does not divide --hidden-size {}", heads_, hidden_),
                    "give a number that does, or --kv-channels");
    const auto groups = given_.number("--num-query-groups");
    key_heads_ = given_.flag("--group-query-attention") ? groups.value_or(1) : heads_;
    tied_ = !given_.flag("--untie-embeddings-and-output-weights");
    biased_ = !given_.flag("--disable-bias-linear");
    sequence_ = given_.number("--seq-length").value_or(0);
    positions_ = given_.number("--max-position-embeddings").value_or(sequence_);
    if (positions_ == 0)
      given_.refuse("--seq-length", "is not there", "give the tokens of a sample");
  }

  void read_words() {
    for (const char* name : {"--padded-vocab-size", "--vocab-size"})
      if (const auto words = given_.number(name); words && words_ == 0) words_ = *words;
    std::string told;
    for (const char* name : {"--tokenizer-type", "--tokenizer-model", "--tokenizer-name-or-path"})
      if (given_.has(name) && !given_.values(name).empty())
        told += lower(given_.values(name).front()) + " ";
    const auto known = std::ranges::find_if(kVocabularies, [&](const Vocabulary& vocabulary) {
      return told.find(vocabulary.tokenizer) != std::string::npos;
    });
    if (words_ > 0) return;
    words_ = known == kVocabularies.end() ? kAssumedVocabulary : known->words;
    remarks_.push_back(
        known == kVocabularies.end()
            ? fmt::format("nothing says how many words there are: {} are assumed (--vocab-size)",
                          words_)
            : fmt::format("{} words, as the tokenizer named has", words_));
  }

  void like_llama() {
    if (!gated_)
      given_.refuse("--normalization", "is RMSNorm without --swiglu: there is no such model here",
                    "add --swiglu, or leave it out");
    if (!rope_)
      given_.refuse("--position-embedding-type",
                    "is learned_absolute beside RMSNorm: there is no such model here", "give rope");
    const auto experts = given_.number("--num-experts");
    const bool normed = given_.flag("--qk-layernorm"), biased_keys = given_.flag("--add-qkv-bias");
    const char* task = "LlamaForCausalLM";
    family_ = "llama";
    if (experts) {
      family_ = normed ? "qwen3_moe" : "mixtral";
      task = normed ? "Qwen3MoeForCausalLM" : "MixtralForCausalLM";
    } else if (normed || biased_keys) {
      family_ = normed ? "qwen3" : "qwen2";
      task = normed ? "Qwen3ForCausalLM" : "Qwen2ForCausalLM";
    }
    config_ = {{"architectures", {task}},
               {"model_type", family_},
               {"hidden_act", "silu"},
               {"hidden_size", hidden_},
               {"intermediate_size", feed_},
               {"max_position_embeddings", positions_},
               {"num_attention_heads", heads_},
               {"num_hidden_layers", layers_},
               {"num_key_value_heads", key_heads_},
               {"rms_norm_eps", real("--norm-epsilon", 1e-5)},
               {"rope_theta", real("--rotary-base", 10'000)},
               {"tie_word_embeddings", tied_},
               {"vocab_size", words_}};
    if (head_ * heads_ != hidden_ || normed) config_["head_dim"] = head_;
    if (biased_ && family_ == "llama") {
      config_["attention_bias"] = config_["mlp_bias"] = true;
    } else if (biased_) {
      remarks_.emplace_back("biases of products are left out: models of this family have none");
    }
    if (experts) read_experts(*experts, normed);
    const std::int64_t each = 3 * hidden_ * feed_of_expert_;
    count(hidden_ * head_ * (2 * heads_ + 2 * key_heads_) +
          (experts ? *experts * each : 3 * hidden_ * feed_));
  }

  void read_experts(std::int64_t experts, bool normed) {
    const std::int64_t chosen = given_.number("--moe-router-topk").value_or(2);
    feed_of_expert_ = given_.number("--moe-ffn-hidden-size").value_or(static_cast<int>(feed_));
    if (given_.has("--moe-layer-freq")) {
      const auto& values = given_.values("--moe-layer-freq");
      if (values != std::vector<std::string>{"1"})
        remarks_.emplace_back("--moe-layer-freq: all layers have experts here");
    }
    config_["num_experts_per_tok"] = chosen;
    if (normed) {
      config_["num_experts"] = experts;
      config_["moe_intermediate_size"] = feed_of_expert_;
      config_["norm_topk_prob"] = true;
    } else {
      config_["num_local_experts"] = experts;
      config_["intermediate_size"] = feed_of_expert_;
    }
  }

  void refuse_for_plain(const char* family) {
    for (const char* name : {"--num-experts", "--group-query-attention", "--qk-layernorm"})
      if (given_.has(name))
        given_.refuse(name, fmt::format("is there beside LayerNorm: {} has none", family),
                      "add --normalization RMSNorm and --swiglu, or leave it out");
    if (gated_)
      given_.refuse("--swiglu", fmt::format("is there beside LayerNorm: {} has no gates", family),
                    "add --normalization RMSNorm, or leave it out");
    if (head_ * heads_ != hidden_)
      given_.refuse("--kv-channels",
                    fmt::format("is {}: {} has {}", head_, family, hidden_ / heads_),
                    "leave it out");
    count(4 * hidden_ * hidden_ + 2 * hidden_ * feed_);
  }

  void like_gpt() {
    family_ = "gpt2";
    refuse_for_plain("GPT-2");
    config_ = {{"architectures", {"GPT2LMHeadModel"}},
               {"model_type", family_},
               {"activation_function", "gelu_new"},
               {"layer_norm_epsilon", real("--norm-epsilon", 1e-5)},
               {"n_embd", hidden_},
               {"n_head", heads_},
               {"n_inner", feed_},
               {"n_layer", layers_},
               {"n_positions", std::max(positions_, sequence_)},
               {"tie_word_embeddings", tied_},
               {"vocab_size", words_}};
    read_dropout("attn_pdrop", "resid_pdrop");
    config_["embd_pdrop"] = config_["resid_pdrop"];
  }

  void like_neox() {
    family_ = "gpt_neox";
    refuse_for_plain("GPT-NeoX");
    config_ = {{"architectures", {"GPTNeoXForCausalLM"}},
               {"model_type", family_},
               {"hidden_act", "gelu"},
               {"hidden_size", hidden_},
               {"intermediate_size", feed_},
               {"layer_norm_eps", real("--norm-epsilon", 1e-5)},
               {"max_position_embeddings", positions_},
               {"num_attention_heads", heads_},
               {"num_hidden_layers", layers_},
               {"rotary_emb_base", real("--rotary-base", 10'000)},
               {"rotary_pct", real("--rotary-percent", 1)},
               {"tie_word_embeddings", tied_},
               {"use_parallel_residual", false},
               {"vocab_size", words_}};
    read_dropout("attention_dropout", "hidden_dropout");
  }

  void read_dropout(const char* attention, const char* hidden) {
    config_[attention] = std::min(1.0, real("--attention-dropout", 0.1));
    config_[hidden] = std::min(1.0, real("--hidden-dropout", 0.1));
  }

  void read_type() {
    const bool short_type = given_.flag("--bf16"), half = given_.flag("--fp16");
    config_["torch_dtype"] = short_type ? "bfloat16" : half ? "float16" : "float32";
  }

  void count(std::int64_t of_a_layer) {
    parameters_ = layers_ * of_a_layer + (tied_ ? 1 : 2) * words_ * hidden_;
  }
  std::string size_text() const {
    const auto parameters = static_cast<double>(parameters_);
    return parameters >= 1e9 ? fmt::format("{:.3g}B", parameters / 1e9)
                             : fmt::format("{:.3g}M", parameters / 1e6);
  }

  GivenArguments& given_;
  std::int64_t layers_ = 0, hidden_ = 0, heads_ = 0, feed_ = 0, head_ = 0, key_heads_ = 0;
  std::int64_t words_ = 0, sequence_ = 0, positions_ = 0, feed_of_expert_ = 0, parameters_ = 0;
  bool gated_ = false, rms_ = false, rope_ = false, tied_ = true, biased_ = true;
  std::string family_;
  Json config_;
  std::vector<std::string> remarks_;
};

}  // namespace

bool describes_layers(GivenArguments& given) {
  return given.has("--num-layers") && given.has("--hidden-size");
}

DescribedModel described_model(GivenArguments& given) { return ModelDescriber(given).describe(); }

std::optional<DescribedModel> llama_of_size(const std::string& size) {
  struct Llama {
    std::string_view size;
    std::int64_t layers, hidden, feed, heads;
  };
  // "The Llama 3 herd of models" (2024), table 3.
  static constexpr std::array kLlamas = {Llama{"8b", 32, 4096, 14'336, 32},
                                         Llama{"70b", 80, 8192, 28'672, 64},
                                         Llama{"405b", 126, 16'384, 53'248, 128}};
  const auto llama = std::ranges::find(kLlamas, lower(size), &Llama::size);
  if (llama == kLlamas.end()) return std::nullopt;
  DescribedModel model;
  model.name = "llama3-" + std::string(llama->size);
  const Json config = {{"_name_or_path", model.name},
                       {"architectures", {"LlamaForCausalLM"}},
                       {"model_type", "llama"},
                       {"hidden_act", "silu"},
                       {"hidden_size", llama->hidden},
                       {"intermediate_size", llama->feed},
                       {"max_position_embeddings", 8192},
                       {"num_attention_heads", llama->heads},
                       {"num_hidden_layers", llama->layers},
                       {"num_key_value_heads", 8},
                       {"rms_norm_eps", 1e-5},
                       {"rope_theta", 500'000.0},
                       {"tie_word_embeddings", false},
                       {"torch_dtype", "bfloat16"},
                       {"vocab_size", 128'256}};
  model.config = config.dump(2);
  return model;
}

}  // namespace strato::frameworks
