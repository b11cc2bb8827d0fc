// Llama and what descends from it: RMS norms, rotary positions, queries that share keys, a gated
// feed-forward part; each family changes what it has otherwise.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

// What a missing key means in a family's class.
struct LlamaDefaults {
  std::int64_t vocabulary = 32'000, width = 4096, feed_width = 11'008, layers = 32;
  std::int64_t heads = 32, key_heads = 0;  // 0: as many as heads
  std::int64_t head_size = 0;              // 0: the width over the heads
  std::int64_t positions = 2048;
  double epsilon = 1e-6;
  bool tied = false;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
};

// Without any bias.
Description llama_like(Keys& keys, const LlamaDefaults& defaults);
// A gated feed-forward part with these names: "mlp" of "gate_proj", "up_proj" and "down_proj".
FeedForward gated_feed(const std::string& scope, std::int64_t width, Activation activation);
void add_query_key_bias(Attention& attention);
// Learned scales over a head's elements, before it is turned.
void add_query_key_norm(Attention& attention);
// Rotary positions: how many elements of `size` are turned, and how fast.
void read_rotation(Keys& keys, Description& model, double share);

Description read_llama(Keys& keys);
Description read_mistral(Keys& keys);
Description read_qwen2(Keys& keys);
Description read_qwen3(Keys& keys);
Description read_gemma(Keys& keys);
Description read_gemma2(Keys& keys);
Description read_gemma3(Keys& keys);
Description read_phi3(Keys& keys);

}  // namespace strato::transformers_import
