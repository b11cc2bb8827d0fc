// Blocks of whole layers.
#include "core/framework/layout/model_layers.h"

#include <gtest/gtest.h>

#include "core/framework/layout/stage_string.h"

namespace strato::frameworks {
namespace {

// An op for each place: in front, four layers, behind.
std::string balanced(std::vector<std::int64_t> work, const std::vector<double>& speeds) {
  ModelLayers layers;
  std::vector<Nanos> times;
  for (std::size_t place = 0; place < work.size(); ++place) {
    layers.place_of.push_back(static_cast<std::int32_t>(place));
    times.emplace_back(work[place]);
  }
  layers.count = static_cast<std::int32_t>(work.size()) - 2;
  return stage_string(balanced_blocks(layers, times, speeds));
}

TEST(BalancedBlocks, HaveAboutEqualWork) {
  EXPECT_EQ(balanced({0, 1, 1, 1, 1, 0}, {1, 1}), "Et*2|t*2,L");
  EXPECT_EQ(balanced({0, 1, 1, 1, 1, 2}, {1, 1}), "Et*3|tL");
  EXPECT_EQ(balanced({9, 1, 1, 1, 1, 0}, {1, 1}), "Et|t*3,L");
  EXPECT_EQ(balanced({0, 1, 1, 1, 1, 0}, {1, 3}), "Et|t*3,L");
  EXPECT_EQ(balanced({0, 1, 1, 1, 1, 0}, {1, 1, 1, 1}), "Et|(t|)*2,tL");
  EXPECT_EQ(balanced({0, 0, 0, 0, 0, 9}, {1, 1}), "Et*3|tL");
  EXPECT_EQ(balanced({0, 1, 1, 1, 1, 0}, {1}), "Et*4,L");
}

TEST(BlockOfOps, IsThatOfTheirPlace) {
  const ModelLayers layers = {.place_of = {0, 3, 1, 1, 2, 4}, .count = 3, .tied = false};
  EXPECT_EQ(block_of_ops(layers, parse_stage_string("Et|tt|L", "", "")),
            (std::vector<std::int32_t>{0, 1, 0, 0, 1, 2}));
}

}  // namespace
}  // namespace strato::frameworks
