#include "core/store/packed.h"

#include <zstd.h>

#include "core/base/error.h"

namespace strato::store {
namespace {

constexpr int kLevel = 3;
constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // no value of ours comes near: damage is

[[noreturn]] void fail_damaged() {
  throw InputError("", "", "has a value that is damaged",
                   "restore a copy, or choose a new workspace");
}

}  // namespace

Packed pack(std::string_view value) {
  Packed packed{Codec::Plain, static_cast<std::int64_t>(value.size()), {}};
  if (value.size() > kPackAbove) {
    packed.bytes.resize(ZSTD_compressBound(value.size()));
    const std::size_t size =
        ZSTD_compress(packed.bytes.data(), packed.bytes.size(), value.data(), value.size(), kLevel);
    if (!ZSTD_isError(size) && size < value.size()) {
      packed.bytes.resize(size);
      packed.codec = Codec::Zstd;
      return packed;
    }
  }
  packed.bytes = value;
  return packed;
}

std::string unpack(int codec, std::int64_t size, std::string_view bytes) {
  if (size < 0 || size > kLargest) fail_damaged();
  if (codec == static_cast<int>(Codec::Plain)) {
    if (bytes.size() != static_cast<std::size_t>(size)) fail_damaged();
    return std::string(bytes);
  }
  if (codec != static_cast<int>(Codec::Zstd)) fail_damaged();
  std::string value(static_cast<std::size_t>(size), '\0');
  const std::size_t read = ZSTD_decompress(value.data(), value.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(read) || read != value.size()) fail_damaged();
  return value;
}

}  // namespace strato::store
