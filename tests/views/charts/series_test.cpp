#include "views/charts/series.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace strato {
namespace {

TEST(StepRange, ZoomsToTheCurve) {
  const std::vector<QPointF> curve = {{1, 1500}, {10, 450}, {100, 450}, {100, 420}, {800, 420}};
  const StepRange range = step_range(curve, 1120, 119);
  EXPECT_GT(range.low, 300);
  EXPECT_LE(range.low, 420);
  EXPECT_GE(range.high, 450);
  EXPECT_LT(range.high, 600);
  EXPECT_GT(step_range({}, 100, 60).high, 100);
  EXPECT_LE(step_range({}, 100, 60).low, 60);
  EXPECT_GT(step_range({}, 0, 0).high, 0);
}

TEST(Series, ProgressIsAStaircase) {
  const auto points =
      best_over_evaluations({{1, 0.1, 9000000}, {5, 0.2, 9000000}, {8, 0.3, 4000000}});
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[2], QPointF(8, 9));
  EXPECT_EQ(points[3], QPointF(8, 4));
}

TEST(Series, WhatHasNoBestIsLeftOut) {
  EXPECT_TRUE(best_over_evaluations({{1, 0.1, 0}}).empty());
  EXPECT_TRUE(best_over_evaluations({}).empty());
}

TEST(Series, DecimationKeepsEndsAndExtremes) {
  std::vector<QPointF> points;
  for (int i = 0; i < 100000; ++i) points.emplace_back(i, i == 54321 ? -7 : i == 777 ? 99 : i % 5);
  const auto kept = decimated(points, 2000);
  EXPECT_LE(kept.size(), 2000u);
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_TRUE(
      std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x() < b.x(); }));
  EXPECT_NE(std::find(kept.begin(), kept.end(), QPointF(54321, -7)), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), QPointF(777, 99)), kept.end());
}

TEST(Series, FewPointsStay) {
  const std::vector<QPointF> points = {{0, 1}, {1, 2}};
  EXPECT_EQ(decimated(points, 2000), points);
}

TEST(Series, AxesEndAtRoundNumbers) {
  EXPECT_DOUBLE_EQ(round_up(0.93), 1);
  EXPECT_DOUBLE_EQ(round_up(182), 200);
  EXPECT_DOUBLE_EQ(round_up(201), 250);
  EXPECT_DOUBLE_EQ(round_up(1000), 1000);
  EXPECT_DOUBLE_EQ(round_up(0), 1);
}

TEST(StepRange, ASearchThatBeginsAgainDoesNotStretchTheAxis) {
  std::vector<QPointF> curve;
  for (int x = 0; x <= 100; ++x) curve.emplace_back(x, x < 5 ? 130 : 95);
  curve.emplace_back(100, 900);  // a pin: the best known is far worse, for a moment
  curve.emplace_back(102, 900);
  for (int x = 102; x <= 200; ++x) curve.emplace_back(x, 103);
  EXPECT_LT(step_range(curve, 136, 79).high, 200);
}

TEST(Losses, HeldOutOnesAreDrawnWhereTheyWereMeasured) {
  const std::vector<LossPoint> losses = {{0, 3.0, 3.1, 0}, {10, 2.0, {}, 1}, {20, 1.5, 1.9, 2}};
  EXPECT_EQ(loss_over_steps(losses, false), (std::vector<QPointF>{{0, 3.0}, {10, 2.0}, {20, 1.5}}));
  EXPECT_EQ(loss_over_steps(losses, true), (std::vector<QPointF>{{0, 3.1}, {20, 1.9}}));
}

}  // namespace
}  // namespace strato
