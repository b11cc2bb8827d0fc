// Content digests (128-bit XXH3): the identity of every value, the key of caches and of the store.
// Digests are not cryptographic.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

struct XXH3_state_s;

namespace strato {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(const Digest&, const Digest&) = default;
  std::string hex() const;                        // 32 lower-case digits
  static Digest from_hex(std::string_view text);  // throws InputError when it is not 32 hex digits
};

class Hasher {
 public:
  Hasher();

  Hasher& bytes(const void* data, std::size_t size);
  Hasher& text(std::string_view value);  // length first, so that "ab","c" differs from "a","bc"
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> Hasher& number(T value) {
    return bytes(&value, sizeof value);
  }
  template <class T>
  requires std::is_arithmetic_v<T> Hasher& numbers(std::span<const T> values) {
    number(values.size());
    return bytes(values.data(), values.size_bytes());
  }
  Hasher& digest(const Digest& value) { return number(value.high).number(value.low); }

  Digest finish() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

Digest digest_of(std::string_view bytes);

}  // namespace strato

template <>
struct std::hash<strato::Digest> {
  std::size_t operator()(const strato::Digest& digest) const noexcept { return digest.low; }
};
