#include "plugins/importers/transformers/families/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plugins/importers/transformers/families/early_decoders.h"
#include "plugins/importers/transformers/families/encoders.h"
#include "plugins/importers/transformers/families/gpt.h"
#include "plugins/importers/transformers/families/keys.h"
#include "plugins/importers/transformers/families/llama_like.h"
#include "plugins/importers/transformers/families/mixtures.h"
#include "plugins/importers/transformers/families/t5.h"

namespace strato::transformers_import {
namespace {

struct Family {
  std::string_view name;        // as "model_type" has it
  std::string_view class_name;  // "LlamaForCausalLM" begins so
  Description (*read)(Keys& keys);
};
constexpr std::array<Family, 23> kFamilies = {{
    {"llama", "Llama", read_llama},
    {"mistral", "Mistral", read_mistral},
    {"qwen2", "Qwen2", read_qwen2},
    {"qwen3", "Qwen3", read_qwen3},
    {"gpt2", "GPT2", read_gpt2},
    {"mixtral", "Mixtral", read_mixtral},
    {"qwen2_moe", "Qwen2Moe", read_qwen2_moe},
    {"qwen3_moe", "Qwen3Moe", read_qwen3_moe},
    {"deepseek_v2", "DeepseekV2", read_deepseek_v2},
    {"deepseek_v3", "DeepseekV3", read_deepseek_v3},
    {"gemma", "Gemma", read_gemma},
    {"gemma2", "Gemma2", read_gemma2},
    {"gemma3_text", "Gemma3", read_gemma3},
    {"phi3", "Phi3", read_phi3},
    {"gpt_neox", "GPTNeoX", read_gpt_neox},
    {"gptj", "GPTJ", read_gptj},
    {"opt", "OPT", read_opt},
    {"bloom", "Bloom", read_bloom},
    {"falcon", "Falcon", read_falcon},
    {"bert", "Bert", read_bert},
    {"roberta", "Roberta", read_roberta},
    {"vit", "ViT", read_vit},
    {"t5", "T5", read_t5},
}};

// "LlamaForCausalLM" is of the class "Llama", "GPT2LMHeadModel" of "GPT2".
bool is_of_class(std::string_view architecture, std::string_view class_name) {
  if (!architecture.starts_with(class_name)) return false;
  const std::string_view rest = architecture.substr(class_name.size());
  return rest.starts_with("For") || rest == "Model" || rest == "LMHeadModel";
}

const Family* by_architecture(const JsonView& architectures) {
  const auto names = architectures.items();
  if (names.empty()) return nullptr;
  const std::string name = names[0].string();
  // Of two that fit, "GPT2" and "GPT2Something", the longer name.
  const Family* best = nullptr;
  for (const Family& family : kFamilies) {
    if (!is_of_class(name, family.class_name)) continue;
    if (!best || best->class_name.size() < family.class_name.size()) best = &family;
  }
  return best;
}

[[noreturn]] void refuse(const JsonView& view, const std::string& problem) {
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) names.push_back(family.name);
  view.fail(problem, fmt::format("families that are read: {}", fmt::join(names, ", ")));
}

const Family& family_of(const JsonView& config) {
  if (!config.is_object()) config.fail("is no model configuration: it is no object", "write {…}");
  if (const auto type = config.find("model_type")) {
    const std::string name = type->string();
    const auto found = std::ranges::find(kFamilies, name, &Family::name);
    if (found != kFamilies.end()) return *found;
    refuse(*type, fmt::format("\"{}\" is no model family that is known", name.substr(0, 64)));
  }
  if (const auto architectures = config.find("architectures")) {
    const Family* found = by_architecture(*architectures);
    if (found != nullptr) return *found;
    refuse(*architectures, "name no model family that is known");
  }
  config.fail("is no model configuration: it has no model_type",
              "give a config.json of Hugging Face's");
}

// "torch_dtype" in older files, "dtype" in newer ones.
DataType computed_in(Keys& keys) {
  const std::string_view key = keys.has("dtype") ? "dtype" : "torch_dtype";
  const std::string name = keys.text(key, "float32");
  if (name == "bfloat16" || name == "torch.bfloat16") return DataType::BF16;
  if (name == "float16" || name == "torch.float16") return DataType::F16;
  if (name == "float32" || name == "torch.float32" || name == "auto") return DataType::F32;
  keys.fail(key, "is no type that models are computed in", "give bfloat16, float16 or float32");
}

}  // namespace

Description describe_config(const JsonView& config) {
  const Family& family = family_of(config);
  Keys keys(config);
  Description model = family.read(keys);
  model.family = family.name;
  model.type = computed_in(keys);
  keys.refuse_others();
  return model;
}

}  // namespace strato::transformers_import
