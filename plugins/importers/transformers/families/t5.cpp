#include "plugins/importers/transformers/families/t5.h"

#include <cmath>

namespace strato::transformers_import {
namespace {

Attention t5_attention(const std::string& scope, std::int64_t heads, std::int64_t size) {
  Attention attention;
  attention.scope = scope;
  attention.heads = attention.key_heads = heads;
  attention.size = attention.value_size = size;
  attention.query.name = scope + ".q";
  attention.key.name = scope + ".k";
  attention.value.name = scope + ".v";
  attention.output.name = scope + ".o";
  attention.scale = 1;
  return attention;
}

// "relu", or "gated-gelu" and the like; the gelu of gated ones is the approximate one.
FeedForward t5_feed(Keys& keys, const std::string& scope) {
  const std::string form = keys.text("feed_forward_proj", "relu");
  const bool gated = form.starts_with("gated-");
  FeedForward feed;
  feed.scope = scope;
  feed.width = keys.count("d_ff", 2048);
  if (gated) feed.gate.name = scope + ".wi_0";
  feed.up.name = scope + (gated ? ".wi_1" : ".wi");
  feed.down.name = scope + ".wo";
  if (form == "relu" || form == "gated-relu")
    feed.activation = Activation::Relu;
  else if (form == "gated-gelu" || form == "gelu_new")
    feed.activation = Activation::GeluByTanh;
  else if (form == "gated-silu")
    feed.activation = Activation::Swish;
  else
    keys.fail("feed_forward_proj", "names a form that is not known", "known: relu, gated-gelu");
  return feed;
}

Stack t5_stack(Keys& keys, bool decodes, std::int64_t heads, std::int64_t size) {
  const std::string name = decodes ? "decoder." : "encoder.";
  Stack stack;
  stack.layer_prefix = name + "block.";
  stack.causal = decodes;
  stack.attention = t5_attention("layer.0.SelfAttention", heads, size);
  stack.attention_norm = "layer.0.layer_norm";
  const std::string last = decodes ? "layer.2." : "layer.1.";
  if (decodes) {
    stack.cross = t5_attention("layer.1.EncDecAttention", heads, size);
    stack.cross_norm = "layer.1.layer_norm";
  }
  stack.feed_norm = last + "layer_norm";
  stack.feed = t5_feed(keys, last + "DenseReluDense");
  stack.final_norm = name + "final_layer_norm";
  stack.bias_table = name + "block.0.layer.0.SelfAttention.relative_attention_bias";
  return stack;
}

}  // namespace

Description read_t5(Keys& keys) {
  keys.allow_tasks({"ForConditionalGeneration", "LMHeadModel", "T5Model"});
  constexpr std::int64_t kUsualSequence = 512;
  Description model;
  model.width = model.embedding.width = keys.count("d_model", 512);
  model.embedding.rows = keys.count("vocab_size", 32'128, kMostRows);
  model.embedding.table = "shared";
  model.epsilon = keys.number("layer_norm_epsilon", 1e-6);
  model.dropout = model.embedding.dropout = keys.share("dropout_rate", 0.1);
  model.positions = Positions::Buckets;
  model.buckets = keys.count("relative_attention_num_buckets", 32, kMostHeads, 4);
  model.farthest = keys.count("relative_attention_max_distance", 128, kMostRows);
  model.usual_sequence = keys.count("n_positions", kUsualSequence, kMostRows);
  const std::int64_t layers = keys.count("num_layers", 6, kMostLayers);
  const std::int64_t heads = keys.count("num_heads", 8, kMostHeads);
  const std::int64_t size = keys.count("d_kv", 64);
  model.encoder = t5_stack(keys, false, heads, size);
  model.encoder->layers = layers;
  model.stack = t5_stack(keys, true, heads, size);
  model.stack.layers = keys.count("num_decoder_layers", layers, kMostLayers);
  model.encoder->attention.dropout = model.stack.attention.dropout = model.dropout;
  model.stack.cross->dropout = model.dropout;
  model.stack.feed.activation = model.encoder->feed.activation;
  model.head.scores = "lm_head";
  model.head.size = model.embedding.rows;
  model.head.tied = keys.flag("tie_word_embeddings", true);
  if (model.head.tied) model.head.scale = 1 / std::sqrt(static_cast<double>(model.width));
  keys.pass(
      {"classifier_dropout", "dense_act_fn", "is_gated_act", "relative_attention_max_distance"});
  return model;
}

}  // namespace strato::transformers_import
