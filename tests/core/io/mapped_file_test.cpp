// Views of files.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <list>

#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

class OpenFilesLimit {
 public:
  explicit OpenFilesLimit(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = most;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

 private:
  rlimit before_{};
};

std::string refusal(const std::filesystem::path& file) {
  return message_of([&] { MappedFile(file, "a text"); });
}

// A model may keep its tensors in thousands of files.
TEST(MappedFiles, AreNotLimitedByTheOpenFiles) {
  const TemporaryFolder folder;
  write_file(folder / "x", "content");
  const OpenFilesLimit limit(64);
  std::list<MappedFile> files;
  for (int i = 0; i < 1000; ++i) ASSERT_NO_THROW(files.emplace_back(folder / "x", "a text")) << i;
  EXPECT_EQ(files.front().bytes(), "content");
  EXPECT_EQ(files.back().bytes(), "content");
}

TEST(MappedFiles, OutliveTheFile) {
  const TemporaryFolder folder;
  write_file(folder / "x", "content");
  const MappedFile file(folder / "x", "a text");
  std::filesystem::remove(folder / "x");
  EXPECT_EQ(file.bytes(), "content");
}

TEST(MappedFiles, AreRegularAndNotEmpty) {
  const TemporaryFolder folder;
  EXPECT_NE(refusal(folder / "none").find("none: cannot be opened: No such file"),
            std::string::npos);
  write_file(folder / "empty", "");
  EXPECT_NE(refusal(folder / "empty").find("is empty"), std::string::npos);
  EXPECT_NE(refusal(folder.path()).find("is not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder / "pipe").find("is not a regular file"), std::string::npos);
}

// Nothing stays open of those that are refused either.
TEST(MappedFiles, ThatAreRefusedTakeNoHandle) {
  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  const OpenFilesLimit limit(64);
  for (int i = 0; i < 200; ++i) {
    const std::string said = refusal(folder / "empty");
    ASSERT_NE(said.find("is empty"), std::string::npos) << i << said;
  }
}

}  // namespace
}  // namespace strato
