// Search trees as bytes, for the store.
#pragma once

#include <string>
#include <string_view>

#include "core/search/tree/search_tree.h"

namespace strato {

// A container (core/io/container.h) whose lists of numbers are packed. parse_search_tree() reads
// the forms of older versions, too (legacy_tree.h), and throws InputError for what is damaged.
std::string serialise(const SearchTree& tree);
SearchTree parse_search_tree(std::string_view bytes);

}  // namespace strato
