#include "core/strategy/value/part.h"

#include <gtest/gtest.h>

namespace strato {
namespace {

TEST(Part, IsTheSameValueHoweverItWasCut) {
  const Part a = Part::slice(2, 0, 4).cut({0, 1, 3}).cut({kBatchAxis, 5, 6});
  const Part b = Part::samples(5, 6).cut({0, 1, 3}).cut({2, 0, 9}).cut({2, 0, 4});
  EXPECT_EQ(a, b);
  EXPECT_EQ(PartHash()(a), PartHash()(b));
  EXPECT_EQ(a.without(kBatchAxis).without(2), Part::slice(0, 1, 3));
  EXPECT_TRUE(a.without(0).without(2).without(kBatchAxis).is_whole());
}

TEST(Part, PartialSumsAddUpToTheTotal) {
  const Part term = Part::partial_sum(0, 4).cut({1, 2, 3});
  EXPECT_NE(term, Part::samples(0, 4).cut({1, 2, 3}));
  EXPECT_EQ(term.total(), Part::slice(1, 2, 3));
  EXPECT_FALSE(term.total().is_partial_sum());
  EXPECT_EQ(describe(term), "the sum over samples [0,4) of axis 1 [2,3)");
}

TEST(Part, ContainsAndMeetsAsBoxesDo) {
  const Part part = Part::slice(0, 2, 6);
  EXPECT_TRUE(contains(Part(), part));
  EXPECT_FALSE(contains(part, Part()));
  EXPECT_TRUE(contains(part, Part::slice(0, 3, 6).cut({1, 0, 1})));
  EXPECT_FALSE(contains(part, Part::slice(0, 3, 7)));
  EXPECT_FALSE(overlap(part, Part::slice(0, 6, 7)));
  EXPECT_TRUE(overlap(part, Part::slice(1, 0, 1)));
}

}  // namespace
}  // namespace strato
