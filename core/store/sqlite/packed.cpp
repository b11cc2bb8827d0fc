#include "core/store/sqlite/packed.h"

#include "core/base/error.h"
#include "core/io/byte_io.h"

namespace strato::store {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // no value of ours comes near: damage is

[[noreturn]] void fail_damaged() {
  throw InputError("", "", "has a value that is damaged",
                   "restore a copy, or choose a new workspace");
}

}  // namespace

Packed pack(std::string_view value) {
  const auto size = static_cast<std::int64_t>(value.size());
  if (value.size() > kPackAbove) {
    std::string smaller = compressed(value);
    if (smaller.size() < value.size()) return {Codec::Zstd, size, std::move(smaller)};
  }
  return {Codec::Plain, size, std::string(value)};
}

std::string unpack(int codec, std::int64_t size, std::string_view bytes) {
  const bool plain = codec == static_cast<int>(Codec::Plain);
  if (size < 0 || size > kLargest || (!plain && codec != static_cast<int>(Codec::Zstd)))
    fail_damaged();
  const auto whole = static_cast<std::size_t>(size);
  if (plain && bytes.size() == whole) return std::string(bytes);
  std::optional<std::string> value;
  if (!plain) value = decompressed(bytes, whole);
  if (!value) fail_damaged();
  return std::move(*value);
}

}  // namespace strato::store
