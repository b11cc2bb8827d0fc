// Bytes compressed with zstd. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strato {

std::string compressed(std::string_view bytes);
// Nothing when they are damaged, or are not `size` bytes when unfolded; memory is taken for `size`
// bytes only where they announce as many.
std::optional<std::string> decompressed(std::string_view bytes, std::uint64_t size);

}  // namespace strato
