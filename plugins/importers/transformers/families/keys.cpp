#include "plugins/importers/transformers/families/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace strato::transformers_import {
namespace {

// What every configuration may have: how texts are made and models are loaded, trained, initialised
// or reported on. Beginnings and ends of keys are apart.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "architectures",
    "attn_implementation",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "chunk_size_feed_forward",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "initializer_factor",
    "initializer_range",
    "is_decoder",
    "is_encoder_decoder",
    "keys_to_ignore_at_inference",
    "label2id",
    "language",
    "length_penalty",
    "max_length",
    "min_length",
    "model_type",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_router_logits",
    "output_scores",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "quantization_config",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "use_bfloat16",
    "use_cache",
});

// These are harmless where they say that there is no such thing.
constexpr auto kOff = std::to_array<std::string_view>(
    {"add_cross_attention", "cross_attention_hidden_size", "pruned_heads", "tie_encoder_decoder"});

bool is_off(std::string_view key, const JsonView& value) {
  const Json& json = value.json();
  const bool nothing = json.is_null() || json == false || (json.is_object() && json.empty());
  return nothing && std::ranges::find(kOff, key) != kOff.end();
}

bool is_harmless(std::string_view key) {
  return std::ranges::find(kHarmless, key) != kHarmless.end() || key.starts_with('_') ||
         key.starts_with("summary_") || key.ends_with("_token_id");
}

}  // namespace

std::optional<JsonView> Keys::value(std::string_view key) {
  read_.emplace(key);
  return config_.find(key);
}

bool Keys::has(std::string_view key) { return value(key).has_value(); }

bool Keys::is_null(std::string_view key) {
  return !has(key) && config_.json().contains(std::string(key));
}

std::int64_t Keys::count(std::string_view key, std::int64_t fallback, std::int64_t most,
                         std::int64_t least) {
  const auto given = value(key);
  return given ? given->integer(least, most) : fallback;
}

std::int64_t Keys::needed(std::string_view key, std::int64_t most) {
  if (!has(key)) fail(key, "is not there", "add it: it has no usual value");
  return count(key, 1, most);
}

double Keys::number(std::string_view key, double fallback) {
  const auto given = value(key);
  return given ? given->number(0, 1e15) : fallback;
}

double Keys::share(std::string_view key, double fallback) {
  const auto given = value(key);
  return given ? given->number(0, 1) : fallback;
}

double Keys::number_in(std::string_view key, std::string_view entry, double fallback) {
  const auto given = value(key);
  const auto found = given && given->is_object() ? given->find(entry) : std::nullopt;
  return found ? found->number(0, 1e15) : fallback;
}

bool Keys::flag(std::string_view key, bool fallback) {
  const auto given = value(key);
  return given ? given->boolean() : fallback;
}

std::string Keys::text(std::string_view key, const std::string& fallback) {
  const auto given = value(key);
  return given ? given->string() : fallback;
}

Activation Keys::activation(std::string_view key, const std::string& fallback) {
  static const std::map<std::string, Activation, std::less<>> known = {
      {"gelu", Activation::Gelu},
      {"gelu_fast", Activation::GeluByTanh},
      {"gelu_new", Activation::GeluByTanh},
      {"gelu_pytorch_tanh", Activation::GeluByTanh},
      {"quick_gelu", Activation::QuickGelu},
      {"relu", Activation::Relu},
      {"silu", Activation::Swish},
      {"swish", Activation::Swish},
      {"tanh", Activation::Tanh},
  };
  const auto found = known.find(text(key, fallback));
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, activation] : known) names.push_back(name);
  fail(key, "names an activation that is not known",
       fmt::format("known: {}", fmt::join(names, ", ")));
}

std::vector<std::int64_t> Keys::integers(std::string_view key) {
  std::vector<std::int64_t> result;
  if (const auto given = value(key))
    for (const JsonView& item : given->items()) result.push_back(item.integer());
  return result;
}

std::size_t Keys::entries(std::string_view key, std::size_t fallback) {
  const auto given = value(key);
  return given ? given->members().size() : fallback;
}

bool Keys::is_for(std::string_view task) {
  const auto given = value("architectures");
  const bool listed = given && given->is_array() && !given->json().empty();
  return listed && given->items()[0].string().ends_with(task);
}

void Keys::allow_tasks(std::initializer_list<std::string_view> tasks) {
  const auto is_for_it = [this](std::string_view task) { return is_for(task); };
  if (is_for("") && std::ranges::none_of(tasks, is_for_it))
    fail("architectures", "has a head that is not built",
         fmt::format("known: {}", fmt::join(tasks, ", ")));
}

void Keys::pass(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) read_.emplace(key);
}

void Keys::refuse_others() const {
  for (const auto& [key, given] : config_.members()) {
    const bool known = read_.contains(key) || is_harmless(key) || is_off(key, given);
    if (known || given.is_null()) continue;
    given.fail("is a key that this model family is not known to have: it may change the model",
               "remove it if it does not");
  }
}

void Keys::fail(std::string_view key, std::string problem, std::string remedy) const {
  const auto given = config_.find(key);
  if (given) given->fail(std::move(problem), std::move(remedy));
  config_.fail(fmt::format("\"{}\": {}", key, problem), std::move(remedy));
}

}  // namespace strato::transformers_import
