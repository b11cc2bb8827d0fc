// Search trees as the program wrote them before they were containers: versions 1 and 2. They are
// read, and never written. All throw InputError for what is damaged.
#pragma once

#include <optional>
#include <string_view>

#include "core/search/tree/search_tree.h"

namespace strato {

// Nothing where the bytes do not begin as such a tree does.
std::optional<SearchTree> read_legacy_tree(std::string_view bytes);
// Reads the text in which they say where the search stands. Sets the state or the record of a tree
// that has all else; an empty text says nothing.
void read_legacy_state(std::string_view text, SearchTree& tree);

}  // namespace strato
