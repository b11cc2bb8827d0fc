// Exports of several files: all of them or nothing, and nothing that was there is touched.
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/plugin/use/export.h"
#include "core/search/evaluate/outcome.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"
#include "tests/plugins/exporters/export_kit.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

class Files : public Exporter {
 public:
  explicit Files(std::vector<ExportedFile> files) : files_(std::move(files)) {}
  bool makes_folder() const override { return true; }
  std::vector<ExportedFile> write_folder(const ExportInput&) override { return files_; }

 private:
  std::vector<ExportedFile> files_;
};

class Refusing : public Exporter {
 public:
  bool makes_folder() const override { return true; }
  std::vector<ExportedFile> write_folder(const ExportInput&) override {
    throw InputError("", "", "no", "never");
  }
};

class ExportFolder : public testing::Test {
 protected:
  Exported write(Exporter& exporter, const fs::path& path) {
    return write_export(exporter, input_, path);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
  Problem problem_;
  Strategy strategy_;
  Outcome outcome_;
  ExportInput input_{problem_, strategy_, outcome_};
};

TEST_F(ExportFolder, IsWrittenWithItsFolders) {
  Files exporter({{"a.txt", "one"}, {"deep/er/b.txt", "three"}});
  const Exported exported = write(exporter, folder_ / "out/");
  EXPECT_EQ(exported.files, 2u);
  EXPECT_EQ(exported.bytes, 8u);
  EXPECT_EQ(read_file(folder_ / "out" / "deep" / "er" / "b.txt"), "three");
  EXPECT_EQ(entries(), 1u);  // no temporary folder is left
  EXPECT_NE(fs::status(folder_ / "out").permissions() & fs::perms::others_read, fs::perms::none);
}

TEST_F(ExportFolder, ReplacesAnEmptyFolderOnly) {
  Files exporter(std::vector<ExportedFile>{{"a.txt", "one"}});
  fs::create_directory(folder_ / "out");
  write(exporter, folder_ / "out");
  EXPECT_NE(message_of([&] { write(exporter, folder_ / "out"); }).find("not empty"),
            std::string::npos);
  write_file(folder_ / "file", "x");
  EXPECT_NE(message_of([&] { write(exporter, folder_ / "file"); }).find("no folder"),
            std::string::npos);
  fs::create_directory(folder_ / "target");
  fs::create_directory_symlink(folder_ / "target", folder_ / "link");
  EXPECT_NE(message_of([&] { write(exporter, folder_ / "link"); }).find("no folder"),
            std::string::npos);
  EXPECT_EQ(read_file(folder_ / "file"), "x");
  EXPECT_TRUE(fs::is_empty(folder_ / "target"));
}

TEST_F(ExportFolder, LeavesNothingBehindWhenItFails) {
  Refusing refusing;
  EXPECT_THROW(write(refusing, folder_ / "out"), InputError);
  for (const std::string name : {"/etc/x", "../x", "a/../../x", "", ".", "a/"}) {
    Files exporter({{"first", "1"}, {name, "2"}});
    EXPECT_THROW(write(exporter, folder_ / "out"), InvariantError) << name;
  }
  EXPECT_EQ(entries(), 0u);
  Files exporter(std::vector<ExportedFile>{{"a.txt", "one"}});
  EXPECT_THROW(write(exporter, folder_ / "no" / "such" / "out"), InputError);
}

TEST_F(ExportFolder, IsCheckedBefore) {
  check_export_folder(folder_ / "out");
  EXPECT_EQ(entries(), 0u);
  write_file(folder_ / "file", "x");
  EXPECT_THROW(check_export_folder(folder_ / "file"), InputError);
  EXPECT_THROW(check_export_folder(folder_ / "file" / "out"), InputError);
}

TEST_F(ExportFolder, AnExporterOfOneFileWritesOne) {
  const auto dot = registry().exporter("dot");
  EXPECT_FALSE(dot->makes_folder());
  EXPECT_THROW(dot->write_folder(input_), InvariantError);
  const Exportable plan = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 1}});
  EXPECT_EQ(write_export(*dot, plan.input(), folder_ / "p.dot").files, 1u);
  EXPECT_TRUE(read_file(folder_ / "p.dot").starts_with("digraph"));
}

}  // namespace
}  // namespace strato
