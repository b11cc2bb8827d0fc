// Configurations of small models, two layers each, one for every family; and their import through
// the plugin.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/paths.h"

namespace strato::test {

// A folder that goes away with the object.
class ConfigFolder {
 public:
  ConfigFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "strato-config-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~ConfigFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Graph import_config(const std::filesystem::path& file, const ImportOptions& options) {
  static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
  return registry.importer_for("config.json")->import(file, options);
}

// Four samples of six tokens, so that neither extent is taken for another.
inline ImportOptions small_batch() {
  ImportOptions options;
  options.batch = 4;
  options.dimensions["sequence"] = 6;
  return options;
}
inline ImportOptions pixels_batch() {
  ImportOptions options;
  options.batch = 4;
  return options;
}

inline Graph import_text(const std::string& text, const ImportOptions& options) {
  static const ConfigFolder folder;
  const std::filesystem::path file = folder / "small.json";
  std::ofstream(file) << text;
  return import_config(file, options);
}

// By "model_type".
inline const std::map<std::string, Json>& small_configs() {
  static const std::map<std::string, Json> all = [] {
    const Json llama = {{"vocab_size", 32},
                        {"hidden_size", 16},
                        {"intermediate_size", 24},
                        {"num_hidden_layers", 2},
                        {"num_attention_heads", 4},
                        {"num_key_value_heads", 2},
                        {"max_position_embeddings", 64}};
    const Json gpt = {
        {"vocab_size", 32}, {"n_embd", 16}, {"n_layer", 2}, {"n_head", 4}, {"n_positions", 8}};
    const Json bert = {{"vocab_size", 32},         {"hidden_size", 16},
                       {"intermediate_size", 24},  {"num_hidden_layers", 2},
                       {"num_attention_heads", 4}, {"max_position_embeddings", 12}};
    const Json latent = {
        {"kv_lora_rank", 8},        {"qk_nope_head_dim", 4},      {"qk_rope_head_dim", 2},
        {"v_head_dim", 6},          {"moe_intermediate_size", 6}, {"n_routed_experts", 4},
        {"num_experts_per_tok", 2}, {"first_k_dense_replace", 1}, {"num_key_value_heads", 4}};
    std::map<std::string, Json> configs;
    const auto add = [&configs](const std::string& name, Json base, const Json& own) {
      base.update(own);
      base["model_type"] = name;
      configs[name] = std::move(base);
    };
    for (const char* plain : {"llama", "mistral", "qwen2", "qwen3", "phi3"})
      add(plain, llama, Json::object());
    for (const char* gemma : {"gemma", "gemma2", "gemma3_text"})
      add(gemma, llama, {{"head_dim", 8}});
    add("gpt2", gpt, Json::object());
    add("gptj", gpt, {{"rotary_dim", 2}});
    add("mixtral", llama, {{"num_local_experts", 4}});
    const Json experts = {
        {"num_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 6}};
    add("qwen2_moe", llama, experts);
    add("qwen3_moe", llama, experts);
    configs["qwen2_moe"]["shared_expert_intermediate_size"] = 10;
    configs["qwen3_moe"]["mlp_only_layers"] = {0};
    add("deepseek_v2", llama, latent);
    configs["deepseek_v2"]["q_lora_rank"] = nullptr;
    add("deepseek_v3", llama, latent);
    configs["deepseek_v3"]["q_lora_rank"] = 10;
    add("gpt_neox", bert, {{"rotary_pct", 0.5}});
    add("opt", bert, {{"ffn_dim", 24}, {"word_embed_proj_dim", 12}});
    configs["opt"].erase("intermediate_size");
    add("bloom", Json::object(),
        {{"vocab_size", 32}, {"n_embed", 18}, {"n_layer", 2}, {"n_head", 6}});
    add("falcon", bert, {{"hidden_size", 16}});
    configs["falcon"].erase("intermediate_size");
    add("bert", bert, {{"architectures", {"BertForMaskedLM"}}});
    add("roberta", bert, {{"architectures", {"RobertaForSequenceClassification"}}});
    add("vit", bert, {{"image_size", 8}, {"patch_size", 4}, {"num_labels", 5}});
    for (const char* words : {"vocab_size", "max_position_embeddings"}) configs["vit"].erase(words);
    add("t5", Json::object(),
        {{"vocab_size", 32},
         {"d_model", 16},
         {"d_kv", 5},
         {"d_ff", 24},
         {"num_layers", 2},
         {"num_heads", 4},
         {"relative_attention_num_buckets", 8}});
    return configs;
  }();
  return all;
}

inline std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto& [name, config] : small_configs()) names.push_back(name);
  return names;
}

inline Graph import_small(const std::string& family, const Json& changes = Json::object()) {
  Json config = small_configs().at(family);
  config.update(changes);
  ImportOptions options = family == "vit" ? pixels_batch() : small_batch();
  if (family == "t5") options.dimensions["target_sequence"] = 7;
  return import_text(config.dump(), options);
}

inline std::int64_t parameter_count(const Graph& graph) {
  std::int64_t count = 0;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.role == TensorRole::Parameter) count += tensor.elements();
  return count;
}

inline int ops_of_type(const Graph& graph, const std::string& type) {
  int count = 0;
  for (const Op& op : graph.ops()) count += op.type == type ? 1 : 0;
  return count;
}

inline TensorId id_called(const Graph& graph, const std::string& name) {
  for (const TensorId id : graph.tensors().ids())
    if (graph.tensor(id).name == name) return id;
  throw std::logic_error("no tensor " + name);
}
inline const Tensor& tensor_called(const Graph& graph, const std::string& name) {
  return graph.tensor(id_called(graph, name));
}

}  // namespace strato::test
