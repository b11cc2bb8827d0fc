// Inside core/store only: a value as it lies in a row of the file, plain or compressed with zstd.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strato::store {

enum class Codec : std::uint8_t { Plain = 0, Zstd = 1 };

struct Packed {
  Codec codec = Codec::Plain;
  std::int64_t size = 0;  // unpacked
  std::string bytes;
};

inline constexpr std::size_t kPackAbove = 1024;  // below this, compression saves less than a page

Packed pack(std::string_view value);
// Throws InputError when it is damaged.
std::string unpack(int codec, std::int64_t size, std::string_view bytes);

}  // namespace strato::store
