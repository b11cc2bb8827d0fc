// Nodes, edges and vertices are numbered in std::int32_t; vectors want std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strato {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

// The numbers from 0 to `count` - 1, to go through in a loop.
template <class Number>
struct NumbersAs {
  struct Iterator {
    std::int32_t number;
    Number operator*() const { return Number(at(number)); }
    Iterator& operator++() { return ++number, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  std::int32_t count;
  Iterator begin() const { return {0}; }
  Iterator end() const { return {count}; }
};
using Numbers = NumbersAs<std::int32_t>;

}  // namespace strato
