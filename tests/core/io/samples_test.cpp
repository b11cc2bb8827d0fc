// Names of bundled samples stand for their files.
#include "core/io/samples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace strato {
namespace {

TEST(Samples, ANameStandsForItsFile) {
  for (const SampleFolder& folder : {kModels, kClusters}) {
    const std::vector<std::string> names = sample_names(folder);
    ASSERT_FALSE(names.empty()) << folder.name;
    EXPECT_TRUE(std::ranges::is_sorted(names));
    for (const std::string& name : names)
      EXPECT_TRUE(std::filesystem::is_regular_file(sample_or_file(name, folder))) << name;
  }
}

TEST(Samples, WhatIsNoneStaysAsItIs) {
  for (const char* given : {"", "no-such-sample", "folder/vgg19", "vgg19.onnx", "/"})
    EXPECT_EQ(sample_or_file(given, kModels), std::filesystem::path(given));
}

}  // namespace
}  // namespace strato
