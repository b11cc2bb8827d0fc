#include "core/io/byte_io.h"

#include <fmt/format.h>
#include <zstd.h>

#include "core/base/error.h"

namespace strato {

void ByteReader::damaged(const char* how) const {
  throw InputError(file_, fmt::format("byte {}", at_),
                   fmt::format("{} is damaged: {}", words_.thing, how), words_.remedy);
}

std::string compressed(std::string_view bytes) {
  constexpr int kLevel = 3;
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), kLevel);
  CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  result.resize(size);
  return result;
}

std::optional<std::string> decompressed(std::string_view bytes, std::uint64_t size) {
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) return std::nullopt;
  std::string result(size, '\0');
  const std::size_t read =
      ZSTD_decompress(result.data(), result.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(read) || read != size) return std::nullopt;
  return result;
}

}  // namespace strato
