// What was compressed comes back, and nothing else does.
#include <gtest/gtest.h>

#include "core/io/byte_io.h"

namespace strato {
namespace {

TEST(Compression, BytesComeBack) {
  for (const std::string& bytes : {std::string(), std::string("a\0b", 3), std::string(9999, 'x')})
    EXPECT_EQ(decompressed(compressed(bytes), bytes.size()), bytes);
}

TEST(Compression, OtherSizesAndDamageAreNothing) {
  const std::string bytes = compressed(std::string(9999, 'x'));
  EXPECT_FALSE(decompressed(bytes, 9998));
  EXPECT_FALSE(decompressed(bytes, std::uint64_t{1} << 60));
  EXPECT_FALSE(decompressed(bytes.substr(0, bytes.size() - 1), 9999));
  EXPECT_FALSE(decompressed("no zstd", 7));
  EXPECT_FALSE(decompressed("", 0));
}

}  // namespace
}  // namespace strato
