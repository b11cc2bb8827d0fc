// What tests of the study command share: a study that is written to a file.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/core/store/temporary_folder.h"

namespace strato {

class StudyFixture : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = folder_ / "study.json";
    std::ofstream(path) << text;
    return path;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  TemporaryFolder folder_;
};

}  // namespace strato
