#include "plugins/importers/transformers/families/mixtures.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/importers/transformers/families/llama_like.h"

namespace strato::transformers_import {
namespace {

void check_chosen(const Keys& keys, const Experts& experts) {
  if (experts.chosen <= experts.count) return;
  keys.fail("num_experts_per_tok",
            fmt::format("a token cannot go to {} of {} experts", experts.chosen, experts.count),
            "give no more than there are experts");
}

Experts experts_of(Keys& keys, std::string_view count_key, std::int64_t count,
                   std::int64_t chosen) {
  Experts experts;
  experts.router = "mlp.gate";
  experts.count = keys.count(count_key, count, kMostExperts);
  experts.chosen = keys.count("num_experts_per_tok", chosen, kMostExperts);
  check_chosen(keys, experts);
  return experts;
}

// Qwen's layers that have experts: each `step`th one, but for those that are named.
std::vector<bool> qwen_layers(Keys& keys, std::int64_t layers) {
  const std::int64_t step = keys.count("decoder_sparse_step", 1);
  std::vector<bool> has_experts;
  for (std::int64_t i = 0; i < layers; ++i) has_experts.push_back((i + 1) % step == 0);
  for (const std::int64_t layer : keys.integers("mlp_only_layers"))
    if (layer >= 0 && layer < layers) has_experts[static_cast<std::size_t>(layer)] = false;
  return has_experts;
}

void read_qwen_experts(Keys& keys, Description& model, Experts experts, std::int64_t width) {
  const Activation activation = model.stack.feed.activation;
  experts.each = gated_feed("mlp.experts", keys.count("moe_intermediate_size", width), activation);
  experts.sum_to_one = keys.flag("norm_topk_prob", false);
  model.stack.has_experts = qwen_layers(keys, model.stack.layers);
  model.stack.experts = std::move(experts);
  keys.pass({"layer_types", "max_window_layers", "sliding_window", "use_sliding_window"});
}

// ---- DeepSeek

struct DeepseekDefaults {
  LlamaDefaults decoder;
  std::int64_t experts = 64, chosen = 6, shared = 2, expert_width = 1407, dense = 0;
  bool sum_to_one = false;
  double scale = 1;
};

Latent latent_of(Keys& keys) {
  Latent latent;
  latent.query_rank = keys.is_null("q_lora_rank") ? 0 : keys.count("q_lora_rank", 1536);
  latent.key_rank = keys.count("kv_lora_rank", 512);
  latent.plain = keys.count("qk_nope_head_dim", 128);
  latent.turned = keys.count("qk_rope_head_dim", 64);
  if (latent.turned % 2 != 0)
    keys.fail("qk_rope_head_dim",
              fmt::format("{} elements of a head cannot be turned", latent.turned),
              "give an even number");
  return latent;
}

// "attention_bias" is of the products that make the short vectors, and of the last one.
void read_latent_attention(Keys& keys, Attention& attention) {
  attention.latent = latent_of(keys);
  attention.key_heads = attention.heads;
  attention.size = attention.latent->plain + attention.latent->turned;
  attention.turned = attention.latent->turned;
  attention.value_size = keys.count("v_head_dim", 128);
  const bool bias = keys.flag("attention_bias", false);
  attention.query.bias = attention.key.bias = attention.output.bias = bias;
  attention.interleaved = true;
}

std::vector<bool> deepseek_layers(Keys& keys, std::int64_t layers, std::int64_t dense) {
  const std::int64_t first = keys.count("first_k_dense_replace", dense, kMostLayers, 0);
  const std::int64_t step = keys.count("moe_layer_freq", 1);
  std::vector<bool> has_experts;
  for (std::int64_t i = 0; i < layers; ++i) has_experts.push_back(i >= first && i % step == 0);
  return has_experts;
}

Description read_deepseek(Keys& keys, const DeepseekDefaults& usual) {
  Description model = llama_like(keys, usual.decoder);
  Stack& stack = model.stack;
  read_latent_attention(keys, stack.attention);
  keys.pass({"aux_loss_alpha", "ep_size", "head_dim", "mlp_bias", "n_group",
             "num_nextn_predict_layers", "num_key_value_heads", "rope_interleave", "seq_aux",
             "topk_group", "topk_method"});
  if (keys.is_null("n_routed_experts")) return model;
  Experts experts = experts_of(keys, "n_routed_experts", usual.experts, usual.chosen);
  const std::int64_t width = keys.count("moe_intermediate_size", usual.expert_width);
  const Activation activation = stack.feed.activation;
  experts.each = gated_feed("mlp.experts", width, activation);
  const std::int64_t shared =
      keys.is_null("n_shared_experts") ? 0 : keys.count("n_shared_experts", usual.shared, 4096, 0);
  if (shared > 0) experts.shared = gated_feed("mlp.shared_experts", shared * width, activation);
  experts.sum_to_one = keys.flag("norm_topk_prob", usual.sum_to_one);
  experts.scale = keys.number("routed_scaling_factor", usual.scale);
  stack.has_experts = deepseek_layers(keys, stack.layers, usual.dense);
  stack.experts = std::move(experts);
  return model;
}

}  // namespace

Description read_mixtral(Keys& keys) {
  LlamaDefaults usual;
  usual.feed_width = 14'336;
  usual.key_heads = 8;
  usual.positions = 131'072;
  usual.epsilon = 1e-5;
  Description model = llama_like(keys, usual);
  Experts experts = experts_of(keys, "num_local_experts", 8, 2);
  experts.router = "block_sparse_moe.gate";
  experts.each = model.stack.feed;
  experts.each.scope = "block_sparse_moe.experts";
  experts.each.gate.name = "block_sparse_moe.experts.w1";
  experts.each.up.name = "block_sparse_moe.experts.w3";
  experts.each.down.name = "block_sparse_moe.experts.w2";
  experts.sum_to_one = true;
  model.stack.experts = std::move(experts);
  keys.pass({"sliding_window"});
  return model;
}

Description read_qwen2_moe(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 151'936;
  usual.width = 2048;
  usual.feed_width = 5632;
  usual.layers = 24;
  usual.heads = usual.key_heads = 16;
  usual.positions = 32'768;
  Description model = llama_like(keys, usual);
  if (keys.flag("qkv_bias", true)) add_query_key_bias(model.stack.attention);
  Experts experts = experts_of(keys, "num_experts", 60, 4);
  experts.shared =
      gated_feed("mlp.shared_expert", keys.count("shared_expert_intermediate_size", 5632),
                 model.stack.feed.activation);
  experts.shared_gate = "mlp.shared_expert_gate";
  read_qwen_experts(keys, model, std::move(experts), 1408);
  return model;
}

Description read_qwen3_moe(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 151'936;
  usual.width = 2048;
  usual.feed_width = 6144;
  usual.layers = 24;
  usual.key_heads = 4;
  usual.positions = 32'768;
  Description model = llama_like(keys, usual);
  Attention& attention = model.stack.attention;
  if (keys.flag("attention_bias", false)) {
    add_query_key_bias(attention);
    attention.output.bias = true;
  }
  add_query_key_norm(attention);
  read_qwen_experts(keys, model, experts_of(keys, "num_experts", 128, 8), 768);
  return model;
}

Description read_deepseek_v2(Keys& keys) {
  DeepseekDefaults usual;
  usual.decoder.head_size = 64;
  Description model = read_deepseek(keys, usual);
  keys.pass({"scoring_func"});  // there is but "softmax"
  return model;
}

Description read_deepseek_v3(Keys& keys) {
  DeepseekDefaults usual;
  usual.decoder.vocabulary = 129'280;
  usual.decoder.width = 7168;
  usual.decoder.feed_width = 18'432;
  usual.decoder.layers = 61;
  usual.decoder.heads = 128;
  usual.decoder.head_size = 64;
  usual.decoder.positions = 4096;
  usual.experts = 256;
  usual.chosen = 8;
  usual.shared = 1;
  usual.expert_width = 2048;
  usual.dense = 3;
  usual.sum_to_one = true;
  usual.scale = 2.5;
  Description model = read_deepseek(keys, usual);
  if (model.stack.experts) {
    model.stack.experts->scores = Scores::Sigmoid;
    model.stack.experts->correction = "mlp.gate.e_score_correction_bias";
  }
  keys.pass({"scoring_func"});  // there is but "sigmoid"
  return model;
}

}  // namespace strato::transformers_import
