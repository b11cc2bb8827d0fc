// Ids in the order in which selections and edits keep them.
#pragma once

#include <algorithm>
#include <vector>

namespace strato {

template <class Id>
std::vector<Id> ascending(std::vector<Id> ids) {  // each once
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace strato
