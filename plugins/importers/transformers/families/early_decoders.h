// Decoders with layer norms and biases, from before Llama. Their checkpoints have one product for
// queries, keys and values: here they are three, "attn.c_attn.q" and so on, so that each can be
// divided by heads; the count of parameters is the same.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

// Heads of one size that together are as wide as the model; `key_heads` of 0: as many as heads.
// Throws InputError where they cannot be, with the keys' names as places.
Attention even_heads(const Keys& keys, std::string_view width_key, std::int64_t width,
                     std::string_view heads_key, std::int64_t heads, std::int64_t key_heads = 0);

Description read_gpt2(Keys& keys);
Description read_gpt_neox(Keys& keys);
Description read_gptj(Keys& keys);
Description read_opt(Keys& keys);
Description read_bloom(Keys& keys);
Description read_falcon(Keys& keys);

}  // namespace strato::transformers_import
