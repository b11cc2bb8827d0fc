// The rules that every search tree obeys, checked when one is read, and when a search
// goes on from it.
#pragma once

#include <string>

#include "core/search/tree/search_tree.h"

namespace strato {

// "it is damaged: <what>", as an InputError.
[[noreturn]] void damaged_tree(const std::string& what);
// "it does not fit this search: <what>", as an InputError.
[[noreturn]] void tree_does_not_fit(const std::string& what);
// Throws the first of them for the first rule that is broken: links, depths, statistics, order,
// steering, log.
void check_tree(const SearchTree& tree);
// Throws the same where a tree search cannot go on from the tree's state: it is of another planner,
// or its numbers and strategies do not belong to the tree. The rest of its local searches is up to
// them.
void check_state(const SearchTree& tree);

}  // namespace strato
