// Strong index types: an op id is not a tensor id. An Id is an index into the array that owns the
// things it names; the default value names nothing. Trivial values, free to copy between threads.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/at.h"

namespace strato {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::int32_t>(index)) {}

  constexpr bool valid() const { return value_ >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr std::int32_t value() const { return value_; }  // -1 for "nothing"

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::int32_t value_ = -1;
};

// A vector that is indexed by one kind of id only.
template <class Key, class T>
class IdVector : public std::vector<T> {
 public:
  using Base = std::vector<T>;
  using Base::Base;
  explicit IdVector(Base values) : Base(std::move(values)) {}

  decltype(auto) operator[](Key id) { return Base::operator[](id.index()); }
  decltype(auto) operator[](Key id) const { return Base::operator[](id.index()); }
  Key next_id() const { return Key(this->size()); }
  NumbersAs<Key> ids() const { return {static_cast<std::int32_t>(this->size())}; }  // ascending
};

}  // namespace strato

template <class Tag>
struct std::hash<strato::Id<Tag>> {
  std::size_t operator()(strato::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>()(id.value());
  }
};
