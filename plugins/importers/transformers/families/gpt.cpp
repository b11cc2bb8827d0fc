#include "plugins/importers/transformers/families/gpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/importers/transformers/families/plain_parts.h"

namespace strato::transformers_import {
namespace {

// GPT-2 and GPT-J share names of keys.
Description read_gpt(Keys& keys, std::int64_t vocabulary, std::int64_t positions,
                     std::int64_t width, std::int64_t layers, std::int64_t heads, double dropout) {
  Description model = plain_decoder(keys, vocabulary, keys.count("n_embd", width));
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
  Description model = plain_decoder(keys, 50'432, keys.count("hidden_size", 6144));
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

}  // namespace strato::transformers_import
