// Finds the items of a list by their names, which stay in the list: an open table of indices. The
// list says what it calls an item: `name_of(index)`. Safe to read from any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace strato {

class NameTable {
 public:
  NameTable() : NameTable(0) {}
  explicit NameTable(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  // Adds an item, unless another one has its name already: false.
  template <class NameOf>
  bool add(std::int32_t index, const NameOf& name_of) {
    Slot& slot = slots_[place_of(name_of(index), name_of)];
    if (slot.index >= 0) return false;
    slot = {index, short_hash(name_of(index))};
    return true;
  }

  // -1: none has this name.
  template <class NameOf>
  std::int32_t find(std::string_view name, const NameOf& name_of) const {
    return slots_[place_of(name, name_of)].index;
  }

 private:
  struct Slot {
    std::int32_t index = -1;
    std::uint32_t hash = 0;
  };
  static std::uint32_t short_hash(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }
  // Of the item with this name, or the free slot where it belongs: at most half are taken.
  template <class NameOf>
  std::size_t place_of(std::string_view name, const NameOf& name_of) const {
    const std::uint32_t hash = short_hash(name);
    std::size_t place = hash & (slots_.size() - 1);
    for (; slots_[place].index >= 0; place = (place + 1) & (slots_.size() - 1))
      if (slots_[place].hash == hash && name_of(slots_[place].index) == name) break;
    return place;
  }

  std::vector<Slot> slots_;  // a power of two
};

}  // namespace strato
