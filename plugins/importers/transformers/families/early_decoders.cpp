#include "plugins/importers/transformers/families/early_decoders.h"

#include <fmt/format.h>

#include "plugins/importers/transformers/families/plain_parts.h"

namespace strato::transformers_import {

Description read_opt(Keys& keys) {
  const std::int64_t width = keys.count("hidden_size", 768);
  Description model = plain_decoder(keys, 50'272, width);
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
  Description model = plain_decoder(keys, 250'880, keys.count(width_key, 64));
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
  Description model = plain_decoder(keys, 65'024, keys.count("hidden_size", 4544));
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
