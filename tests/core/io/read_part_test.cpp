// Parts of files: what is not there is nothing, and memory is taken only for what is there.
#include "core/io/read_part.h"

#include <gtest/gtest.h>

#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

TEST(ReadPart, IsWhatTheFileHasThere) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "a";
  write_file(file, "0123456789");
  EXPECT_EQ(read_part(file, 0, 4), "0123");
  EXPECT_EQ(read_part(file, 4, 100), "456789");
  EXPECT_EQ(read_part(file, 10, 1), "");
  EXPECT_EQ(read_part(file, 11, 1), "");
  EXPECT_EQ(read_part(file, 0, 0), "");
  EXPECT_EQ(read_part(file, 8, std::size_t{1} << 40), "89");
}

TEST(ReadPart, OfWhatCannotBeReadIsNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_part(folder / "none", 0, 10), "");
  EXPECT_EQ(read_part(folder.path(), 0, 10), "");
  EXPECT_EQ(read_part("/proc/self/mem", std::uint64_t{1} << 63, 10), "");
}

}  // namespace
}  // namespace strato
