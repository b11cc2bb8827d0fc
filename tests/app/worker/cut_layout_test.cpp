// Where slices lie in their tensors: against a look at every element.
#include "app/worker/cut_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace strato::worker {
namespace {

bool is_in(std::span<const AxisRange> ranges, const Shape& shape, std::size_t index) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto at = static_cast<std::int64_t>(index % static_cast<std::size_t>(shape[axis]));
    index /= static_cast<std::size_t>(shape[axis]);
    for (const AxisRange& range : ranges)
      if (range.axis == static_cast<int>(axis) && (at < range.begin || at >= range.end))
        return false;
  }
  return true;
}

struct RandomSlice {
  explicit RandomSlice(std::mt19937& random) {
    const auto below = [&](std::int64_t end) {
      return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
    };
    tensor.type = DataType::U8;
    for (std::int64_t rank = 1 + below(5); rank > 0; --rank) tensor.shape.push_back(1 + below(5));
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      if (below(2) == 0 || part.cuts().size() == kMostCutAxes) continue;
      const std::int64_t begin = below(tensor.shape[axis]);
      const std::int64_t end = begin + 1 + below(tensor.shape[axis] - begin);
      part = part.cut({static_cast<std::int8_t>(axis), static_cast<std::int32_t>(begin),
                       static_cast<std::int32_t>(end)});
    }
    if (part.is_whole()) part = Part::slice(0, 0, static_cast<std::int32_t>(tensor.shape[0]));
  }
  Tensor tensor;
  Part part;
};

TEST(SliceLayout, IsTheElementsWithinItsRanges) {
  std::mt19937 random(3);
  std::size_t gaps = 0;
  for (int round = 0; round < 2000; ++round) {
    const RandomSlice slice(random);
    const SliceLayout layout(slice.tensor, slice.part);
    std::string whole(static_cast<std::size_t>(slice.tensor.bytes().value), '\0');
    for (char& each : whole) each = static_cast<char>(random() % 256);
    std::string expected;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (is_in(slice.part.cuts(), slice.tensor.shape, i)) expected += whole[i];
    ASSERT_EQ(layout.bytes(), expected.size()) << describe(slice.part);
    ASSERT_EQ(layout.take(whole), expected) << describe(slice.part);
    gaps += !layout.contiguous();
    if (layout.contiguous()) {
      const auto part = layout.part(std::as_writable_bytes(std::span(whole)));
      ASSERT_TRUE(std::ranges::equal(part, std::as_bytes(std::span(expected))));
    }
    // What is put there comes where it was, and nothing else changes.
    std::string changed = whole;
    for (char& each : expected) each = static_cast<char>(~each);
    layout.put(expected, changed);
    ASSERT_EQ(layout.take(changed), expected);
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(changed[i] != whole[i], is_in(slice.part.cuts(), slice.tensor.shape, i));
  }
  EXPECT_GT(gaps, 500u);
}

}  // namespace
}  // namespace strato::worker
