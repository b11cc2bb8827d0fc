// Archives: both layouts, and what is none.
#include "tests/plugins/importers/exported_program/program_kit.h"

namespace strato::test {
namespace {

ProgramKit relu() {
  ProgramKit kit;
  kit.input("x", {"s0", 8}).output("y");
  kit.call("aten.relu.default", {tensor("self", "x")}, {{"y", {"s0", 8}}});
  return kit;
}

Graph import_entries(const Entries& entries, int compression = ZIP_CM_STORE) {
  return import_archive(write_archive(entries, compression), batch(2));
}

TEST(Pt2Archive, LayoutsOfAllReleases) {
  for (const char* name :
       {"model/models/model.json", "models/other.json", "serialized_exported_program.json",
        "root/serialized_exported_program.json"})
    EXPECT_EQ(import_entries({{name, relu().text()}}).op_count(), 1U) << name;
  EXPECT_EQ(import_entries({{"models/model.json", relu().text()}}, ZIP_CM_DEFLATE).op_count(), 1U);
}

TEST(Pt2Archive, WhatHoldsNoProgramIsRefused) {
  expect_error([] { import_entries({{"model/data.pkl", "weights"}}); }, "holds no program");
  expect_error(
      [] {
        import_entries({{"m/data/aotinductor/model/a.so", "code"}});
      },
      "holds compiled code and no graph");
  expect_error([] { import_entries({{"data/models/", ""}}); }, "holds no program");
  expect_error(
      [] {
        import_entries({{"models/a.json", relu().text()}, {"models/b.json", relu().text()}});
      },
      "is one of 2 programs");
}

TEST(Pt2Archive, WhatIsNoArchiveIsRefused) {
  const std::filesystem::path file = archive_file();
  for (const std::string& bytes : {std::string("{}"), std::string(), std::string(1000, 'P')}) {
    std::ofstream(file, std::ios::binary) << bytes;
    expect_error([&] { import_archive(file); }, "is no archive of torch.export");
  }
  std::filesystem::remove(file);
  expect_error([&] { import_archive(file); }, "cannot be opened");
}

TEST(Pt2Archive, EveryTruncationIsRefused) {
  const std::filesystem::path file = relu().write();
  const auto size = std::filesystem::file_size(file);
  for (std::uintmax_t kept = 0; kept < size; kept += 13) {
    std::filesystem::resize_file(relu().write(), kept);
    EXPECT_NE(error_of([&] { import_archive(file, batch(2)); }), "") << kept;
  }
}

// A changed byte of the program shows in the entry's sum.
TEST(Pt2Archive, DamagedProgramsAreRefused) {
  const std::filesystem::path file = relu().write();
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  const std::string all((std::istreambuf_iterator<char>(stream)), {});
  stream.clear();
  stream.seekp(static_cast<std::streamoff>(all.find("aten.relu")));
  stream << "aten.tanh";
  stream.close();
  expect_error([&] { import_archive(file, batch(2)); }, "is damaged");
}

TEST(Pt2Archive, WhatUnfoldsBeyondReasonIsRefused) {
  const std::string zeros(std::size_t{40} << 20, ' ');
  const std::filesystem::path file = write_archive({{"models/model.json", zeros}}, ZIP_CM_DEFLATE);
  EXPECT_LT(std::filesystem::file_size(file), 1U << 20);
  expect_error([&] { import_archive(file); }, "unfolds to");
}

}  // namespace
}  // namespace strato::test
