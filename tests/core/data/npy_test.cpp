#include "core/data/npy.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

class Npy : public ::testing::Test {
 protected:
  // A file as numpy.save() writes it, with another header and 24 bytes of elements.
  std::string read(const std::string& header, char version = 1, std::size_t bytes = 24) {
    std::string content("\x93NUMPY", 6);
    content += version;
    content += '\0';
    content += static_cast<char>(header.size() & 0xff);
    content += static_cast<char>(header.size() >> 8);
    if (version > 1) content += std::string(2, '\0');
    write_file(file_, content + header + std::string(bytes, 'x'));
    return message_of([&] {
      const NpyFile file(file_);
      type_ = file.type();
      shape_ = file.shape();
      size_ = file.elements().size();
    });
  }
  void expect_refused(const std::string& header, const std::string& part) {
    const std::string message = read(header);
    EXPECT_NE(message.find(part), std::string::npos) << header << ": " << message;
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.npy";
  DataType type_ = DataType::U8;
  Shape shape_;
  std::size_t size_ = 0;
};

TEST_F(Npy, HeadersOfAllVersionsAndInAnyOrderAreRead) {
  EXPECT_EQ(read("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n"), "no error");
  EXPECT_EQ(type_, DataType::F32);
  EXPECT_EQ(shape_, (Shape{2, 3}));
  EXPECT_EQ(size_, 24u);
  EXPECT_EQ(read("{'shape': (3,), 'fortran_order': False, 'descr': '<i8'}", 2), "no error");
  EXPECT_EQ(shape_, Shape{3});
  EXPECT_EQ(read("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", 3, 1), "no error");
  EXPECT_EQ(shape_, Shape{});
}

TEST_F(Npy, WhatItWritesItReads) {
  for (int i = 0; i <= static_cast<int>(DataType::Bool); ++i) {
    const auto type = static_cast<DataType>(i);
    write_file(file_, npy_header(type, {3, 0, 4}));
    const NpyFile file(file_);
    EXPECT_EQ(file.type(), type);
    EXPECT_EQ(file.shape(), (Shape{3, 0, 4}));
  }
}

TEST_F(Npy, PicklesAndOtherThingsAreRefused) {
  expect_refused("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
                 "pickles are never read");
  expect_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", "records");
  expect_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (6,), }", "big endian");
  expect_refused("{'descr': '<U6', 'fortran_order': False, 'shape': (1,), }", "type \"<U6\"");
  expect_refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "Fortran order");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }", "is not whole");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", "is not whole");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", "damaged");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }", "damaged");
  expect_refused(
      "{'descr': '<f8', 'fortran_order': False, "
      "'shape': (4294967296, 4294967296, 3), }",
      "damaged");
  expect_refused("{'descr': '<f4', 'fortran_order': False}", "damaged");
  expect_refused("{'descr': '<f4", "damaged");
}

TEST_F(Npy, EveryBeginningOfAFileIsRefusedOrRead) {
  const std::string whole = npy_header(DataType::F32, {2}) + "01234567";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(file_, whole.substr(0, size));
    EXPECT_NE(message_of([&] { NpyFile file(file_); }), "no error") << size;
  }
  EXPECT_NE(message_of([&] { NpyFile file(folder_ / "none.npy"); }).find("cannot be opened"),
            std::string::npos);
  EXPECT_NE(message_of([&] { NpyFile file(folder_.path()); }).find("not a regular file"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
