// What Megatron-LM's --pipeline-model-parallel-layout says: blocks apart by '|', E the embedding, t
// a layer, L the loss; t*3 and (t*2|)*34 are repeated, commas mean nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/framework/layout/training_layout.h"

namespace strato::frameworks {

// "Et*2|(t*2|)*34,t*3|tL". The same text of the same blocks.
std::string stage_string(const std::vector<Block>& blocks);

// Throws InputError (of this place) for what is no such text, for blocks with nothing in them, and
// where the embedding is not first or the loss not last.
std::vector<Block> parse_stage_string(std::string_view text, const std::string& file,
                                      const std::string& place);

}  // namespace strato::frameworks
