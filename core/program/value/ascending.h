// For verifiers. Private to this folder.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

namespace strato {

template <class T>
bool ascending(std::span<const T> values) {  // strictly
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

}  // namespace strato
