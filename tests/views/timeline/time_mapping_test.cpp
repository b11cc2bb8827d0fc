#include "views/timeline/time_mapping.h"

#include <gtest/gtest.h>

namespace strato {
namespace {

TimeMapping mapping(double begin, double ns_per_px, double left, double width) {
  return {begin, ns_per_px, left, width};
}

struct Point {
  TimeMapping mapping;
  double time, x;
};
class Points : public testing::TestWithParam<Point> {};

TEST_P(Points, TimeAndPixelAreInverse) {
  const Point& p = GetParam();
  EXPECT_DOUBLE_EQ(p.mapping.x(p.time), p.x);
  EXPECT_DOUBLE_EQ(p.mapping.time(p.x), p.time);
}
INSTANTIATE_TEST_SUITE_P(Mapping, Points,
                         testing::Values(Point{mapping(0, 1, 0, 100), 50, 50},
                                         Point{mapping(0, 1, 180, 100), 0, 180},
                                         Point{mapping(1000, 10, 20, 100), 1500, 70},
                                         Point{mapping(-50, 0.5, 10, 100), 0, 110},
                                         Point{mapping(9e15, 4, 0, 100), 9e15 + 400, 100}));

TEST(TimeMapping, ZoomKeepsTheTimeUnderTheCursor) {
  for (const double factor : {1.3, 2.0, 0.5, 1000.0}) {
    TimeMapping m = mapping(100, 1e6, 180, 1000);
    const double before = m.time(400);
    m.zoom(factor, 400);
    EXPECT_NEAR(m.time(400), before, 1e-3);
    EXPECT_NEAR(m.ns_per_px, 1e6 / factor, 1e-6);
  }
}

TEST(TimeMapping, ZoomStopsAtTheSmallestSpan) {
  TimeMapping m = mapping(0, 1, 0, 1000);
  for (int i = 0; i < 100; ++i) m.zoom(10, 500);
  EXPECT_NEAR(m.span(), TimeMapping::kMinSpan, 1e-9);
}

TEST(TimeMapping, ClampKeepsTheStepInView) {
  TimeMapping m = mapping(0, 1, 0, 1000);
  m.begin = -1e9;
  m.clamp(100'000);
  EXPECT_GE(m.begin, -0.02 * 100'000);
  m.begin = 1e12;
  m.clamp(100'000);
  EXPECT_LE(m.end(), 1.02 * 100'000);
  m.ns_per_px = 1e9;
  m.clamp(100'000);
  EXPECT_NEAR(m.x(0), 1000 * TimeMapping::kMargin, 2);
}

TEST(TimeMapping, FitShowsAllWithMargins) {
  TimeMapping m = mapping(0, 1, 180, 820);
  m.fit(2000, 4000, 0.1);
  EXPECT_GT(m.x(2000), 180);
  EXPECT_LT(m.x(4000), 1000);
  m.fit(5, 5);  // a moment
  EXPECT_NEAR(m.time(590), 5, 1e-9);
}

TEST(TimeMapping, ResizeKeepsTheTimes) {
  TimeMapping m = mapping(500, 3, 180, 1000);
  m.resize(240, 700);
  EXPECT_DOUBLE_EQ(m.time(240), 500);
  EXPECT_DOUBLE_EQ(m.span(), 3000);
  m.resize(100, -5);  // a window too small
  EXPECT_GE(m.width, 1);
}

TEST(Ticks, StepsAreNice) {
  EXPECT_EQ(nice_step(1, 80), 100);
  EXPECT_EQ(nice_step(0.01, 80), 1);
  EXPECT_EQ(nice_step(1000, 80), 100'000);
  EXPECT_EQ(nice_step(1000, 100), 100'000);
  EXPECT_EQ(nice_step(1500, 100), 200'000);
  EXPECT_EQ(nice_step(3000, 100), 500'000);
}

TEST(Ticks, LieInViewAndNotBeforeTheStart) {
  const TimeMapping m = mapping(-500, 7, 0, 1000);
  const auto ticks = nice_ticks(m, 80);
  ASSERT_FALSE(ticks.empty());
  EXPECT_EQ(ticks.front(), 0);
  for (std::size_t i = 1; i < ticks.size(); ++i)
    EXPECT_GE(m.x(static_cast<double>(ticks[i])) - m.x(static_cast<double>(ticks[i - 1])), 80);
  EXPECT_LE(static_cast<double>(ticks.back()), m.end());
}

}  // namespace
}  // namespace strato
