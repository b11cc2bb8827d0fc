// Search trees as bytes, for the store.
#pragma once

#include <string>
#include <string_view>

#include "core/search/tree/search_tree.h"

namespace strato {

// Compact binary form for the store, with a checksum; parse throws InputError when it is damaged.
// Trees of version 1 (no steering, no log) are read, too.
std::string serialise(const SearchTree& tree);
SearchTree parse_search_tree(std::string_view bytes);

}  // namespace strato
