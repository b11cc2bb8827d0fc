// Archives of tensors: they come back as they were, other programs read them, and nothing else is
// read.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/data/safetensors.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

constexpr ContainerKind kWeights{"stratoscope-weights", 2, "the weights", "train again"};

TensorArchive archive() {
  TensorArchive archive;
  archive.notes = {{"planner", "tag"}, {"steps", 7}};
  archive.add_floats("first", {2, 2}, std::vector<float>{1, 2, 3, 4.5});
  archive.add_floats("none", {0}, {});
  archive.entries.push_back({{"bytes", DataType::U8, {3}}, "abc"});
  return archive;
}

std::string error_of(const std::string& bytes) {
  return message_of([&] { read_archive(bytes, kWeights, "f"); });
}

TEST(TensorArchive, TensorsAndNotesComeBack) {
  const std::string bytes = write_archive(kWeights, archive());
  EXPECT_TRUE(is_archive(bytes));
  const ReadArchive read = read_archive(bytes, kWeights, "f");
  EXPECT_EQ(read.version, 2u);
  EXPECT_EQ(read.notes.at("steps").integer(), 7);
  EXPECT_EQ(read.floats("first"), (std::vector<float>{1, 2, 3, 4.5}));
  EXPECT_TRUE(read.floats("none").empty());
  EXPECT_EQ(read.entries[2].elements, "abc");
  EXPECT_EQ(read.entries[0].tensor.shape, (Shape{2, 2}));
  EXPECT_EQ(message_of([&] { read.floats("x"); }), "f: x: is not there; give another file");
  EXPECT_EQ(message_of([&] { read.floats("bytes"); }),
            "f: bytes: is no tensor of float32; give another file");
}

TEST(TensorArchive, IsASafetensorsFile) {
  const std::string bytes = write_archive(kWeights, archive());
  TemporaryFolder folder;
  write_file(folder.path() / "a.safetensors", bytes);
  const auto file = open_safetensors(folder.path() / "a.safetensors");
  ASSERT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->tensors()[0].name, "first");
  std::string third;
  file->read(2, [&](std::string_view elements) { third += elements; });
  EXPECT_EQ(third, "abc");
  EXPECT_NE(bytes.find(R"("stratoscope":"stratoscope-weights")"), std::string::npos);
}

TEST(TensorArchive, EveryFlippedBitAndTruncationIsNoticed) {
  const std::string bytes = write_archive(kWeights, archive());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_NE(error_of(bytes.substr(0, at)), "no error") << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_NE(error_of(flipped), "no error") << at << " " << bit;
    }
  }
  EXPECT_NE(error_of(bytes + "x"), "no error");
}

TEST(TensorArchive, OtherKindsNewerVersionsAndForeignFilesAreRefused) {
  ContainerKind other = kWeights, newer = kWeights;
  other.name = "stratoscope-other";
  newer.version = 3;
  EXPECT_EQ(error_of(write_archive(other, archive())),
            "f: holds a stratoscope-other, not the weights; train again");
  EXPECT_EQ(error_of(write_archive(newer, archive())),
            "f: was written by a newer version of the program; update the program");
  const std::string head = R"({"__metadata__":{"format":"pt"}})";
  const std::string foreign = static_cast<char>(head.size()) + std::string(7, '\0') + head;
  EXPECT_EQ(error_of(foreign), "f: does not hold the weights; train again");
}

TEST(TensorArchive, ValuesThatAreNotFiniteAreRefused) {
  TensorArchive archive;
  archive.add_floats("a", {1}, std::vector<float>{1.0f / 0.0f});
  const ReadArchive read = read_archive(write_archive(kWeights, archive), kWeights, "f");
  EXPECT_EQ(message_of([&] { read.floats("a"); }),
            "f: a: has a value that is not finite; give another file");
}

}  // namespace
}  // namespace strato
