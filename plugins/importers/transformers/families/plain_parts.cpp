#include "plugins/importers/transformers/families/plain_parts.h"

#include <fmt/format.h>

namespace strato::transformers_import {

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

Description plain_decoder(Keys& keys, std::int64_t vocabulary, std::int64_t width) {
  keys.allow_tasks({"ForCausalLM", "LMHeadModel", "Model"});
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

}  // namespace strato::transformers_import
