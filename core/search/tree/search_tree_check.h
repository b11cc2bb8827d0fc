// Checks a search tree that was read for what every one obeys. Private to this folder.
#pragma once

#include <string>

#include "core/search/tree/search_tree.h"

namespace strato {

// "it is damaged: <what>", as an InputError.
[[noreturn]] void damaged_tree(const std::string& what);
// Throws it for the first rule that is broken: links, depths, statistics, order, steering, log.
void check_tree(const SearchTree& tree);

}  // namespace strato
