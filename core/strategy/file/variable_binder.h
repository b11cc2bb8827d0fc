// Binds synchronised variables by their names. Private to this folder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/strategy/file/named_strategy.h"

namespace strato {

// Binds them in `strategy`, whose groups are bound. A variable that does not fit is left out, with
// a word in `unmatched`; the others are valid.
void bind_variables(std::span<const NamedVariable> named, const Graph& graph,
                    const Grouping& grouping, const Cluster& cluster, Strategy& strategy,
                    std::vector<std::string>& unmatched);

}  // namespace strato
