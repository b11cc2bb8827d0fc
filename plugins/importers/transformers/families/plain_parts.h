// What decoders and encoders from before Llama have in common: layer norms, biases, feed-forward
// parts without a gate.
#pragma once

#include <string>
#include <string_view>

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

// Heads of one size that together are as wide as the model; `key_heads` of 0: as many as heads.
// Throws InputError where they cannot be, with the keys' names as places.
Attention even_heads(const Keys& keys, std::string_view width_key, std::int64_t width,
                     std::string_view heads_key, std::int64_t heads, std::int64_t key_heads = 0);

// Checkpoints have one product for queries, keys and values: here they are three,
// "attn.c_attn.q" and so on, so that each can be divided by heads; the count of parameters is the
// same.
void name_fused(Attention& attention, const std::string& scope, const std::string& product,
                bool bias);

FeedForward plain_feed(const std::string& scope, const std::string& up, const std::string& down,
                       std::int64_t width, bool bias);

// A decoder whose layers are "transformer.h.0." and so on, as wide as its table of words, of which
// the key "vocab_size" tells the rows.
Description plain_decoder(Keys& keys, std::int64_t vocabulary, std::int64_t width);

}  // namespace strato::transformers_import
