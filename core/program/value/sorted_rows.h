// Rows of ids in the order that programs have them in (internal to core/program).
#pragma once

#include <algorithm>
#include <vector>

#include "core/program/value/program.h"

namespace strato {

// Ascending, each once.
template <class Id>
void push_sorted_unique(std::vector<Id>& ids, Rows<Id>& rows) {
  if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  rows.push_row(ids);
}

}  // namespace strato
