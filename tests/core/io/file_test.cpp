// Files are whole or not there.
#include "core/io/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "tests/message_of.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("strato-file-test-" + std::to_string(::getpid()) + "-" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  fs::path folder_;
};

TEST_F(Files, AreWrittenInParts) {
  write_file_in_parts(folder_ / "x", [](const PutPart& put) {
    for (const char* part : {"one ", "", "two ", "three"}) put(part);
  });
  EXPECT_EQ(read_file(folder_ / "x"), "one two three");
  EXPECT_THROW(write_file_in_parts(folder_ / "x",
                                   [](const PutPart& put) {
                                     put("half of");
                                     throw std::runtime_error("no more");
                                   }),
               std::runtime_error);
  EXPECT_EQ(read_file(folder_ / "x"), "one two three");
  EXPECT_EQ(entries(), 1u);
  EXPECT_NO_THROW(write_file_in_parts("/dev/null", [](const PutPart& put) { put("away"); }));
}

TEST_F(Files, RoundTripOfAnyBytes) {
  const std::string content("a\0b\r\n\xff", 6);
  write_file(folder_ / "x", content);
  EXPECT_EQ(read_file(folder_ / "x"), content);
  write_file(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
  EXPECT_EQ(entries(), 1u);  // nothing temporary is left
}

TEST_F(Files, LargeContent) {
  const std::string content(5'000'000, 'z');
  write_file(folder_ / "x", content);
  EXPECT_EQ(read_file(folder_ / "x"), content);
}

TEST_F(Files, OfAnySizeAreReadWhole) {
  for (const std::size_t size : {1u, 65'535u, 65'536u, 65'537u, 131'072u, 3'000'001u}) {
    std::string content(size, 'a');
    for (std::size_t i = 0; i < size; i += 251) content[i] = static_cast<char>(i / 251);
    write_file(folder_ / "x", content);
    EXPECT_TRUE(read_file(folder_ / "x") == content) << size;
  }
  EXPECT_FALSE(read_file("/proc/self/status").empty()) << "whose size is said to be nothing";
}

TEST_F(Files, TooLargeOnesAreRefused) {
  write_file(folder_ / "x", std::string(1000, 'x'));
  EXPECT_EQ(read_file(folder_ / "x", 1000).size(), 1000u);
  const auto refusal = [](const fs::path& file, std::uintmax_t most) {
    return message_of([&] { read_file(file, most); });
  };
  EXPECT_NE(refusal(folder_ / "x", 999).find("has more than the 0.000999 MB"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero", 1 << 20).find("has more than the 1.049 MB"), std::string::npos);
  fs::resize_file(folder_ / "x", std::uintmax_t{1} << 40);  // no machine could hold it
  EXPECT_NE(message_of([&] { read_file(folder_ / "x"); }).find("has more than"), std::string::npos);
}

TEST_F(Files, MissingFileIsNamed) {
  const std::string text = message_of([&] { read_file(folder_ / "none.json"); });
  EXPECT_EQ(text.rfind((folder_ / "none.json").string() + ": cannot be opened", 0), 0u) << text;
}

TEST_F(Files, AFolderIsNotAFile) {
  EXPECT_NE(message_of([&] { read_file(folder_); }).find("is a folder"), std::string::npos);
  EXPECT_NE(message_of([&] { write_file(folder_, "x"); }).find("cannot be replaced"),
            std::string::npos);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, MissingFolderIsAnError) {
  EXPECT_NE(message_of([&] { write_file(folder_ / "no" / "x", "x"); }).find("cannot be written"),
            std::string::npos);
}

TEST_F(Files, ReadOnlyFolderIsAnErrorAndKeepsTheOldFile) {
  if (::geteuid() == 0) {  // root may write everywhere but into the kernel's own folders
    EXPECT_NE(message_of([] { write_file("/proc/strato", "x"); }).find("cannot be written"),
              std::string::npos);
    return;
  }
  write_file(folder_ / "x", "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(message_of([&] { write_file(folder_ / "x", "new"); }).find("cannot be written"),
            std::string::npos);
  EXPECT_EQ(read_file(folder_ / "x"), "old");
}

TEST_F(Files, ALinkIsReplacedAndItsTargetKept) {
  write_file(folder_ / "target", "old");
  fs::create_symlink(folder_ / "target", folder_ / "x");
  write_file(folder_ / "x", "content");
  EXPECT_EQ(read_file(folder_ / "target"), "old");
  EXPECT_EQ(read_file(folder_ / "x"), "content");
}

TEST_F(Files, ADeviceOrPipeIsWrittenAndNeverReplaced) {
  fs::create_symlink("/dev/null", folder_ / "null");
  write_file(folder_ / "null", "gone");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
  fs::create_symlink("/dev/full", folder_ / "full");
  EXPECT_NE(message_of([&] { write_file(folder_ / "full", "x"); }).find("cannot be written"),
            std::string::npos);
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(pipe); });
  write_file(pipe, "content");
  reader.join();
  EXPECT_EQ(got, "content");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(entries(), 3u);
}

// A limit on file sizes stands for a full disk: write() fails half way.
TEST_F(Files, AFullDiskIsAnErrorAndKeepsTheOldFile) {
  write_file(folder_ / "x", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 16;
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text =
      message_of([&] { write_file(folder_ / "x", std::string(1 << 20, 'n')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(text.find("cannot be written"), std::string::npos) << text;
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AReaderNeverSeesAHalfWrittenFile) {
  const std::string one(1 << 20, '1'), two(1 << 20, '2');
  const fs::path file = folder_ / "x";
  write_file(file, one);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) write_file(file, i % 2 == 0 ? two : one);
    stop = true;
  });
  while (!stop) {
    const std::string content = read_file(file);
    ASSERT_EQ(content.size(), one.size());
    ASSERT_EQ(content.front(), content.back());
  }
  writer.join();
}

}  // namespace
}  // namespace strato
