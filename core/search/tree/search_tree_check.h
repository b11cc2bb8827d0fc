// The rules that every search tree obeys, checked when one is read, and when a search goes on from
// it. What breaks one is an InputError.
#pragma once

#include <string>

#include "core/search/tree/search_tree.h"

namespace strato {

[[noreturn]] void damaged_tree(const std::string& what);       // "it is damaged: <what>"
[[noreturn]] void tree_does_not_fit(const std::string& what);  // "it does not fit this search: ..."
void check_decision(const Decision& decision);                 // a known mode, devices ascending
// Refuses broken links, depths, statistics, order, steering and log.
void check_tree(const SearchTree& tree);
// Refuses a state from which a tree search cannot go on: of another planner, or with numbers and
// strategies that do not belong to the tree. The rest of its local searches is up to them.
void check_state(const SearchTree& tree);

}  // namespace strato
