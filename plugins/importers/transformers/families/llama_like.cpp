#include "plugins/importers/transformers/families/llama_like.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strato::transformers_import {
namespace {

void read_heads(Keys& keys, const LlamaDefaults& usual, Description& model) {
  Attention& attention = model.stack.attention;
  attention.heads = keys.count("num_attention_heads", usual.heads, kMostHeads);
  const std::int64_t shared = usual.key_heads != 0 && !keys.is_null("num_key_value_heads")
                                  ? usual.key_heads
                                  : attention.heads;
  attention.key_heads = keys.count("num_key_value_heads", shared, kMostHeads);
  if (attention.heads % attention.key_heads != 0)
    keys.fail("num_key_value_heads",
              fmt::format("{} heads cannot share {} heads of keys evenly", attention.heads,
                          attention.key_heads),
              "give a number that divides num_attention_heads");
  const bool by_width = usual.head_size == 0 || keys.is_null("head_dim");
  attention.size =
      keys.count("head_dim", by_width ? model.width / attention.heads : usual.head_size);
  if (by_width && !keys.has("head_dim") && model.width % attention.heads != 0)
    keys.fail("hidden_size",
              fmt::format("{} is no multiple of {} heads", model.width, attention.heads),
              "give a multiple of num_attention_heads");
  attention.value_size = attention.size;
}

void name_llama_parts(Description& model) {
  model.embedding.table = "model.embed_tokens";
  model.stack.layer_prefix = "model.layers.";
  model.stack.attention_norm = "input_layernorm";
  model.stack.feed_norm = "post_attention_layernorm";
  model.stack.final_norm = "model.norm";
  Attention& attention = model.stack.attention;
  attention.scope = "self_attn";
  attention.query.name = "self_attn.q_proj";
  attention.key.name = "self_attn.k_proj";
  attention.value.name = "self_attn.v_proj";
  attention.output.name = "self_attn.o_proj";
  model.head.scores = "lm_head";
}

// The norms behind attention and behind the feed-forward part.
void add_end_norms(Stack& stack) {
  stack.attention_end_norm = "post_attention_layernorm";
  stack.feed_norm = "pre_feedforward_layernorm";
  stack.feed_end_norm = "post_feedforward_layernorm";
}

void add_all_biases(Attention& attention) {
  add_query_key_bias(attention);
  attention.output.bias = true;
}

Description read_later_gemma(Keys& keys, LlamaDefaults usual) {
  usual.heads = 8;
  usual.key_heads = 4;
  usual.head_size = 256;
  usual.width = 2304;
  usual.feed_width = 9216;
  usual.layers = 26;
  usual.tied = true;
  usual.activation_key = "hidden_activation";
  usual.activation = "gelu_pytorch_tanh";
  Description model = llama_like(keys, usual);
  model.embedding.scale = std::sqrt(static_cast<double>(model.width));
  add_end_norms(model.stack);
  if (keys.flag("attention_bias", false)) add_all_biases(model.stack.attention);
  model.stack.attention.scale =
      1 / std::sqrt(static_cast<double>(keys.count("query_pre_attn_scalar", 256)));
  model.head.cap = keys.number("final_logit_softcapping", 0);
  model.stack.attention.cap = keys.number("attn_logit_softcapping", 0);
  keys.pass({"attention_dropout", "cache_implementation", "hidden_act", "layer_types",
             "rope_local_base_freq", "sliding_window", "sliding_window_pattern",
             "use_bidirectional_attention"});
  return model;
}

}  // namespace

FeedForward gated_feed(const std::string& scope, std::int64_t width, Activation activation) {
  FeedForward feed;
  feed.scope = scope;
  feed.width = width;
  feed.gate.name = scope + ".gate_proj";
  feed.up.name = scope + ".up_proj";
  feed.down.name = scope + ".down_proj";
  feed.activation = activation;
  return feed;
}

void add_query_key_bias(Attention& attention) {
  attention.query.bias = attention.key.bias = attention.value.bias = true;
}

void add_query_key_norm(Attention& attention) {
  attention.query_norm = "self_attn.q_norm";
  attention.key_norm = "self_attn.k_norm";
}

void read_rotation(Keys& keys, Description& model, double share) {
  Attention& attention = model.stack.attention;
  model.positions = Positions::Rotary;
  model.theta = keys.number("rope_theta", keys.number_in("rope_parameters", "rope_theta", 10'000));
  const double turned = std::floor(share * static_cast<double>(attention.size));
  attention.turned = std::min(static_cast<std::int64_t>(turned), attention.size);
  if (attention.turned % 2 != 0 || attention.turned == 0)
    keys.fail("head_dim", fmt::format("{} elements of a head cannot be turned", attention.turned),
              "give heads with an even number of elements");
}

Description llama_like(Keys& keys, const LlamaDefaults& usual) {
  keys.allow_tasks({"ForCausalLM", "Model"});
  Description model;
  model.width = keys.count("hidden_size", usual.width);
  model.embedding.rows = keys.count("vocab_size", usual.vocabulary, kMostRows);
  model.embedding.width = model.width;
  model.stack.layers = keys.count("num_hidden_layers", usual.layers, kMostLayers);
  model.usual_sequence = keys.count("max_position_embeddings", usual.positions, kMostRows);
  model.epsilon = keys.number("rms_norm_eps", usual.epsilon);
  read_heads(keys, usual, model);
  name_llama_parts(model);
  read_rotation(keys, model, 1);
  model.stack.attention.dropout = keys.share("attention_dropout", 0);
  model.stack.feed = gated_feed("mlp", keys.count("intermediate_size", usual.feed_width),
                                keys.activation(usual.activation_key, usual.activation));
  model.head.size = model.embedding.rows;
  model.head.tied = keys.flag("tie_word_embeddings", usual.tied);
  return model;
}

Description read_llama(Keys& keys) {
  Description model = llama_like(keys, {});
  if (keys.flag("attention_bias", false)) add_all_biases(model.stack.attention);
  const bool bias = keys.flag("mlp_bias", false);
  FeedForward& feed = model.stack.feed;
  feed.gate.bias = feed.up.bias = feed.down.bias = bias;
  return model;
}

Description read_mistral(Keys& keys) {
  LlamaDefaults usual;
  usual.feed_width = 14'336;
  usual.key_heads = 8;
  usual.positions = 131'072;
  Description model = llama_like(keys, usual);
  keys.pass({"layer_types", "sliding_window"});
  return model;
}

Description read_qwen2(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 151'936;
  usual.feed_width = 22'016;
  usual.key_heads = 32;
  usual.positions = 32'768;
  Description model = llama_like(keys, usual);
  add_query_key_bias(model.stack.attention);
  keys.pass(
      {"layer_types", "max_window_layers", "sliding_window", "use_mrope", "use_sliding_window"});
  return model;
}

Description read_qwen3(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 151'936;
  usual.feed_width = 22'016;
  usual.key_heads = 32;
  usual.head_size = 128;
  usual.positions = 32'768;
  Description model = llama_like(keys, usual);
  if (keys.flag("attention_bias", false)) add_all_biases(model.stack.attention);
  add_query_key_norm(model.stack.attention);
  keys.pass({"layer_types", "max_window_layers", "sliding_window", "use_sliding_window"});
  return model;
}

Description read_gemma(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 256'000;
  usual.width = 3072;
  usual.feed_width = 24'576;
  usual.layers = 28;
  usual.heads = usual.key_heads = 16;
  usual.head_size = 256;
  usual.positions = 8192;
  usual.tied = true;
  usual.activation_key = "hidden_activation";
  usual.activation = "gelu_pytorch_tanh";
  Description model = llama_like(keys, usual);
  model.embedding.scale = std::sqrt(static_cast<double>(model.width));
  if (keys.flag("attention_bias", false)) add_all_biases(model.stack.attention);
  keys.pass({"hidden_act", "use_bidirectional_attention"});
  return model;
}

Description read_gemma2(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 256'000;
  usual.positions = 8192;
  Description model = read_later_gemma(keys, usual);
  const auto unsaid = [&](const char* key) { return !keys.has(key) && !keys.is_null(key); };
  if (unsaid("final_logit_softcapping")) model.head.cap = 30;
  if (unsaid("attn_logit_softcapping")) model.stack.attention.cap = 50;
  return model;
}

Description read_gemma3(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 262'208;
  usual.positions = 131'072;
  Description model = read_later_gemma(keys, usual);
  add_query_key_norm(model.stack.attention);
  return model;
}

// One product in the checkpoint for queries, keys and values, and one for the gate and what it
// multiplies: products of their own here, so that each can be divided by heads or columns.
Description read_phi3(Keys& keys) {
  LlamaDefaults usual;
  usual.vocabulary = 32'064;
  usual.width = 3072;
  usual.feed_width = 8192;
  usual.positions = 4096;
  usual.epsilon = 1e-5;
  Description model = llama_like(keys, usual);
  Attention& attention = model.stack.attention;
  attention.query.name = "self_attn.qkv_proj.q";
  attention.key.name = "self_attn.qkv_proj.k";
  attention.value.name = "self_attn.qkv_proj.v";
  model.stack.feed.gate.name = "mlp.gate_up_proj.gate";
  model.stack.feed.up.name = "mlp.gate_up_proj.up";
  model.dropout = keys.share("resid_pdrop", 0);
  model.embedding.dropout = keys.share("embd_pdrop", 0);
  keys.pass({"attention_bias", "original_max_position_embeddings", "sliding_window"});
  read_rotation(keys, model,
                keys.number("partial_rotary_factor",
                            keys.number_in("rope_parameters", "partial_rotary_factor", 1)));
  return model;
}

}  // namespace strato::transformers_import
