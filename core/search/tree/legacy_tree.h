// Search trees as the program wrote them before they were containers: versions 1 and 2. They are
// read, and never written.
#pragma once

#include <string_view>

#include "core/search/tree/search_tree.h"

namespace strato {

bool is_legacy_tree(std::string_view bytes);
// Throws InputError when they are damaged.
SearchTree read_legacy_tree(std::string_view bytes);

}  // namespace strato
