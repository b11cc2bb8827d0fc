#include "plugins/importers/transformers/families/early_decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strato::transformers_import {
namespace {

void name_fused(Attention& attention, const std::string& scope, const std::string& product,
                bool bias) {
  attention.scope = scope;
  attention.query = {scope + "." + product + ".q", bias};
  attention.key = {scope + "." + product + ".k", bias};
  attention.value = {scope + "." + product + ".v", bias};
}

FeedForward plain_feed(const std::string& scope, const std::string& up, const std::string& down,
                       std::int64_t width, bool bias) {
  FeedForward feed;
  feed.scope = scope;
  feed.width = width;
  feed.up = {up, bias};
  feed.down = {down, bias};
  return feed;
}

// A decoder whose layers are "transformer.h.0." and so on, as wide as its table of words.
Description decoder(Keys& keys, std::int64_t vocabulary, std::int64_t width) {
  Description model;
  model.norm = Norm::Layer;
  model.width = model.embedding.width = width;
  model.embedding.rows = keys.count("vocab_size", vocabulary, kMostRows);
  model.head.size = model.embedding.rows;
  model.head.scores = "lm_head";
  model.stack.layer_prefix = "transformer.h.";
  model.stack.final_norm = "transformer.ln_f";
  return model;
}

// GPT-2 and GPT-J share names of keys.
Description read_gpt(Keys& keys, std::int64_t vocabulary, std::int64_t positions,
                     std::int64_t width, std::int64_t layers, std::int64_t heads, double dropout) {
  Description model = decoder(keys, vocabulary, keys.count("n_embd", width));
  model.embedding.table = "transformer.wte";
  model.usual_sequence = keys.count("n_positions", positions, kMostRows);
  model.epsilon = keys.number("layer_norm_epsilon", 1e-5);
  model.dropout = keys.share("resid_pdrop", dropout);
  model.embedding.dropout = keys.share("embd_pdrop", dropout);
  Stack& stack = model.stack;
  stack.layers = keys.count("n_layer", layers, kMostLayers);
  stack.attention_norm = "ln_1";
  stack.attention =
      even_heads(keys, "n_embd", model.width, "n_head", keys.count("n_head", heads, kMostHeads));
  stack.attention.dropout = keys.share("attn_pdrop", dropout);
  keys.pass({"n_ctx", "rotary", "scale_attn_weights"});
  return model;
}

}  // namespace

Attention even_heads(const Keys& keys, std::string_view width_key, std::int64_t width,
                     std::string_view heads_key, std::int64_t heads, std::int64_t key_heads) {
  Attention attention;
  attention.heads = heads;
  attention.key_heads = key_heads != 0 ? key_heads : heads;
  if (width % heads != 0)
    keys.fail(width_key, fmt::format("{} is no multiple of {} heads", width, heads),
              fmt::format("give a multiple of {}", heads_key));
  if (heads % attention.key_heads != 0)
    keys.fail(
        heads_key,
        fmt::format("{} heads cannot share {} heads of keys evenly", heads, attention.key_heads),
        "give a multiple");
  attention.size = attention.value_size = width / heads;
  return attention;
}

Description read_gpt2(Keys& keys) {
  Description model = read_gpt(keys, 50'257, 1024, 768, 12, 12, 0.1);
  model.positions = Positions::Table;
  model.position_table = "transformer.wpe";
  model.position_rows = model.usual_sequence;
  Stack& stack = model.stack;
  name_fused(stack.attention, "attn", "c_attn", true);
  stack.attention.output = {"attn.c_proj", true};
  stack.feed_norm = "ln_2";
  stack.feed =
      plain_feed("mlp", "mlp.c_fc", "mlp.c_proj", keys.count("n_inner", 4 * model.width), true);
  stack.feed.activation = keys.activation("activation_function", "gelu_new");
  model.head.tied = keys.flag("tie_word_embeddings", true);
  keys.pass({"reorder_and_upcast_attn", "scale_attn_by_inverse_layer_idx"});
  return model;
}

Description read_gptj(Keys& keys) {
  Description model = read_gpt(keys, 50'400, 2048, 4096, 28, 16, 0);
  Stack& stack = model.stack;
  stack.order = Order::Parallel;
  Attention& attention = stack.attention;
  attention.scope = "attn";
  attention.query.name = "attn.q_proj";
  attention.key.name = "attn.k_proj";
  attention.value.name = "attn.v_proj";
  attention.output.name = "attn.out_proj";
  attention.interleaved = true;
  model.positions = Positions::Rotary;
  attention.turned =
      keys.is_null("rotary_dim") ? attention.size : keys.count("rotary_dim", 64, attention.size);
  if (attention.turned % 2 != 0 || attention.turned > attention.size)
    keys.fail("rotary_dim", fmt::format("{} elements of a head cannot be turned", attention.turned),
              "give an even number, at most what a head has");
  stack.feed =
      plain_feed("mlp", "mlp.fc_in", "mlp.fc_out", keys.count("n_inner", 4 * model.width), true);
  stack.feed.activation = keys.activation("activation_function", "gelu_new");
  model.head.tied = keys.flag("tie_word_embeddings", false);
  model.head.bias_name = "lm_head.bias";
  return model;
}

Description read_gpt_neox(Keys& keys) {
  Description model = decoder(keys, 50'432, keys.count("hidden_size", 6144));
  model.embedding.table = "gpt_neox.embed_in";
  model.usual_sequence = keys.count("max_position_embeddings", 2048, kMostRows);
  model.epsilon = keys.number("layer_norm_eps", 1e-5);
  model.dropout = model.embedding.dropout = keys.share("hidden_dropout", 0);
  Stack& stack = model.stack;
  stack.layer_prefix = "gpt_neox.layers.";
  stack.final_norm = "gpt_neox.final_layer_norm";
  stack.layers = keys.count("num_hidden_layers", 44, kMostLayers);
  const bool parallel = keys.flag("use_parallel_residual", true);
  stack.order = parallel ? Order::Parallel : Order::NormFirst;
  stack.attention_norm = "input_layernorm";
  stack.feed_norm = "post_attention_layernorm";
  Attention& attention = stack.attention =
      even_heads(keys, "hidden_size", model.width, "num_attention_heads",
                 keys.count("num_attention_heads", 64, kMostHeads));
  const bool bias = keys.flag("attention_bias", true);
  name_fused(attention, "attention", "query_key_value", bias);
  attention.output = {"attention.dense", bias};
  attention.dropout = keys.share("attention_dropout", 0);
  model.positions = Positions::Rotary;
  model.theta =
      keys.number("rotary_emb_base", keys.number_in("rope_parameters", "rope_theta", 10'000));
  const double share = std::min(
      1.0,
      keys.number("rotary_pct", keys.number_in("rope_parameters", "partial_rotary_factor", 0.25)));
  attention.turned = static_cast<std::int64_t>(share * static_cast<double>(attention.size));
  if (attention.turned % 2 != 0)
    keys.fail("rotary_pct", fmt::format("{} elements of a head cannot be turned", attention.turned),
              "give a share that makes an even number");
  stack.feed = plain_feed("mlp", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h",
                          keys.count("intermediate_size", 24'576), true);
  stack.feed.activation = keys.activation("hidden_act", "gelu");
  model.head.scores = "embed_out";
  model.head.tied = keys.flag("tie_word_embeddings", false);
  keys.pass({"attention_probs_dropout_prob", "classifier_dropout", "hidden_dropout_prob",
             "partial_rotary_factor"});
  return model;
}

Description read_opt(Keys& keys) {
  const std::int64_t width = keys.count("hidden_size", 768);
  Description model = decoder(keys, 50'272, width);
  model.embedding.table = "model.decoder.embed_tokens";
  model.embedding.width = keys.count("word_embed_proj_dim", width);
  if (model.embedding.width != width) {
    model.embedding.project_in = "model.decoder.project_in";
    model.embedding.project_out = "model.decoder.project_out";
  }
  constexpr std::int64_t kUnusedRows = 2;
  model.positions = Positions::Table;
  model.position_table = "model.decoder.embed_positions";
  model.usual_sequence = keys.count("max_position_embeddings", 2048, kMostRows);
  model.first_row = kUnusedRows;
  model.position_rows = model.usual_sequence + kUnusedRows;
  model.dropout = keys.share("dropout", 0.1);
  Stack& stack = model.stack;
  stack.layer_prefix = "model.decoder.layers.";
  stack.layers = keys.count("num_hidden_layers", 12, kMostLayers);
  const bool first = keys.flag("do_layer_norm_before", true);
  stack.order = first ? Order::NormFirst : Order::NormLast;
  const bool no_norm = !first || keys.flag("_remove_final_layer_norm", false);
  stack.final_norm = no_norm ? "" : "model.decoder.final_layer_norm";
  stack.attention_norm = "self_attn_layer_norm";
  stack.feed_norm = "final_layer_norm";
  const bool bias = keys.flag("enable_bias", true);
  stack.attention = even_heads(keys, "hidden_size", width, "num_attention_heads",
                               keys.count("num_attention_heads", 12, kMostHeads));
  stack.attention.scope = "self_attn";
  stack.attention.query = {"self_attn.q_proj", bias};
  stack.attention.key = {"self_attn.k_proj", bias};
  stack.attention.value = {"self_attn.v_proj", bias};
  stack.attention.output = {"self_attn.out_proj", bias};
  stack.attention.dropout = keys.share("attention_dropout", 0);
  stack.feed = plain_feed("mlp", "fc1", "fc2", keys.count("ffn_dim", 3072), bias);
  stack.feed.activation = keys.activation("activation_function", "relu");
  model.head.tied = keys.flag("tie_word_embeddings", true);
  if (!keys.flag("layer_norm_elementwise_affine", true))
    keys.fail("layer_norm_elementwise_affine", "layer norms without parameters are not built",
              "give a model that has them");
  keys.pass({"activation_dropout", "init_std", "layerdrop"});
  return model;
}

Description read_bloom(Keys& keys) {
  const char* width_key = keys.has("n_embed") ? "n_embed" : "hidden_size";
  keys.pass({"hidden_size"});
  Description model = decoder(keys, 250'880, keys.count(width_key, 64));
  model.embedding.table = "transformer.word_embeddings";
  model.embedding.norm = "transformer.word_embeddings_layernorm";
  model.epsilon = keys.number("layer_norm_epsilon", 1e-5);
  model.dropout = keys.share("hidden_dropout", 0);
  model.usual_sequence = keys.count("seq_length", 2048, kMostRows);
  model.positions = Positions::Slopes;
  Stack& stack = model.stack;
  stack.layers = keys.count(keys.has("n_layer") ? "n_layer" : "num_hidden_layers", 2, kMostLayers);
  const char* heads_key = keys.has("n_head") ? "n_head" : "num_attention_heads";
  stack.attention =
      even_heads(keys, width_key, model.width, heads_key, keys.count(heads_key, 8, kMostHeads));
  name_fused(stack.attention, "self_attention", "query_key_value", true);
  stack.attention.output = {"self_attention.dense", true};
  stack.attention.dropout = keys.share("attention_dropout", 0);
  stack.attention_norm = "input_layernorm";
  stack.feed_norm = "post_attention_layernorm";
  stack.feed = plain_feed("mlp", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", 4 * model.width, true);
  stack.feed.activation = Activation::GeluByTanh;
  model.head.tied = keys.flag("tie_word_embeddings", true);
  keys.pass({"apply_residual_connection_post_layernorm", "attention_softmax_in_fp32",
             "bias_dropout_fusion", "masked_softmax_fusion", "n_inner", "num_hidden_layers",
             "num_attention_heads", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv",
             "slow_but_exact"});
  return model;
}

Description read_falcon(Keys& keys) {
  Description model = decoder(keys, 65'024, keys.count("hidden_size", 4544));
  model.embedding.table = "transformer.word_embeddings";
  model.epsilon = keys.number("layer_norm_epsilon", 1e-5);
  model.dropout = keys.share("hidden_dropout", 0);
  model.usual_sequence = keys.count("max_position_embeddings", 2048, kMostRows);
  Stack& stack = model.stack;
  stack.layers = keys.count("num_hidden_layers", 32, kMostLayers);
  const std::int64_t heads = keys.count("num_attention_heads", 71, kMostHeads);
  const bool newer = keys.flag("new_decoder_architecture", false);
  const bool one_key = keys.flag("multi_query", true) && !newer;
  const std::int64_t key_heads = keys.count("num_kv_heads", heads, kMostHeads);
  Attention& attention = stack.attention = even_heads(
      keys, "hidden_size", model.width, "num_attention_heads", heads, one_key ? 1 : key_heads);
  const bool bias = keys.flag("bias", false);
  name_fused(attention, "self_attention", "query_key_value", bias);
  attention.output = {"self_attention.dense", bias};
  attention.dropout = keys.share("attention_dropout", 0);
  const bool slopes = keys.flag("alibi", false);
  model.positions = slopes ? Positions::Slopes : Positions::Rotary;
  model.theta = keys.number("rope_theta", keys.number_in("rope_parameters", "rope_theta", 10'000));
  attention.turned = slopes ? 0 : attention.size;
  if (attention.turned % 2 != 0)
    keys.fail("hidden_size", fmt::format("heads of {} elements cannot be turned", attention.size),
              "give heads with an even number of elements");
  const bool parallel = keys.flag("parallel_attn", true);
  const bool two_norms = keys.count("num_ln_in_parallel_attn", newer ? 2 : 1, 2) == 2;
  stack.order = parallel ? Order::Parallel : Order::NormFirst;
  stack.attention_norm = parallel && two_norms ? "ln_attn" : "input_layernorm";
  if (parallel && two_norms) stack.feed_norm = "ln_mlp";
  if (!parallel) stack.feed_norm = "post_attention_layernorm";
  stack.feed = plain_feed("mlp", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h",
                          keys.count("ffn_hidden_size", 4 * model.width), bias);
  stack.feed.activation = keys.activation("activation", "gelu");
  model.head.tied = keys.flag("tie_word_embeddings", true);
  keys.pass({"apply_residual_connection_post_layernorm", "ff_factor"});
  return model;
}

}  // namespace strato::transformers_import
