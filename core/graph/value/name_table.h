// Open tables that find the items of a list by their names, which stay in the list. The list says
// what it calls an item: `name_of(index)`. An item is at the place of its name's hash, or behind it
// with nothing free in between. At most half of the places are taken.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/at.h"

namespace strato {

// Of a table of `size` places, a power of two.
inline std::size_t place_of_hash(std::size_t hash, std::size_t size) { return hash & (size - 1); }
inline std::size_t place_behind(std::size_t place, std::size_t size) {
  return (place + 1) & (size - 1);
}

// The table as it is filled: it remembers hashes, so that names are hardly ever compared.
class NameTable {
 public:
  explicit NameTable(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  // Adds an item, unless another one has its name already: false.
  template <class NameOf>
  bool add(std::int32_t index, const NameOf& name_of) {
    const std::string_view name = name_of(index);
    const std::size_t whole = std::hash<std::string_view>()(name);
    const auto hash = static_cast<std::uint32_t>(whole);
    std::size_t place = place_of_hash(whole, slots_.size());
    for (; slots_[place].index >= 0; place = place_behind(place, slots_.size()))
      if (slots_[place].hash == hash && name_of(slots_[place].index) == name) return false;
    slots_[place] = {index, hash};
    return true;
  }

  // By place; invalid: it is free.
  template <class Id>
  std::vector<Id> ids() const {
    std::vector<Id> result(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].index >= 0) result[i] = Id(at(slots_[i].index));
    return result;
  }

 private:
  struct Slot {
    std::int32_t index = -1;  // -1: it is free
    std::uint32_t hash = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace strato
