#include "views/charts/course_charts.h"

#include <gtest/gtest.h>

#include <QChart>
#include <QChartView>
#include <QLayout>
#include <QLineSeries>
#include <cmath>

namespace strato {
namespace {

std::vector<PlanResult::Curve> two_charts() {
  return {{"Reward", "Mean", "Evaluations", "Reward", {{32, -3}, {64, -1.5}}},
          {"Entropy", "Entropy", "Evaluations", "Nats", {{32, 1.1}, {64, 0.9}}},
          {"Reward", "Best", "Evaluations", "Reward", {{32, -1}, {64, -0.9}}}};
}

TEST(CourseCharts, CurvesOfOneTitleShareAChart) {
  const std::vector<CurveChart> charts = charts_of(two_charts());
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].title, "Reward");
  ASSERT_EQ(charts[0].lines.size(), 2u);
  EXPECT_EQ(charts[0].lines[1].name, "Best");
  EXPECT_EQ(charts[1].lines.size(), 1u);
}

TEST(CourseCharts, AxesHoldEveryPoint) {
  const auto range = [](std::vector<std::pair<double, double>> points) {
    return charts_of({{"t", "n", "x", "y", std::move(points)}}).at(0).y_range;
  };
  for (const double size : {1e-12, 1e-3, 1.0, 7.3e9}) {
    for (const auto& [a, b] : {std::pair(0.0, 1.0),
                               {-1.0, 0.0},
                               {-1.0, 2.0},
                               {100.0, 101.0},
                               {5.0, 5.0},
                               {0.0, 0.0},
                               {-7.0, -7.0}}) {
      const StepRange shown = range({{0, a * size}, {1, b * size}});
      EXPECT_LE(shown.low, a * size + 1e-9 * size) << a << " " << b << " " << size;
      EXPECT_GE(shown.high, b * size - 1e-9 * size) << a << " " << b << " " << size;
      EXPECT_LT(shown.low, shown.high);
      EXPECT_LE((shown.high - shown.low) / shown.tick, 12);
    }
  }
  EXPECT_EQ(range({{0, 60}, {1, 100}}).low > 0, true);  // 40 apart, 0 is farther
  EXPECT_EQ(range({{0, 10}, {1, 100}}).low, 0);
}

TEST(CourseCharts, WhatIsEmptyOrNoNumberIsNotDrawn) {
  EXPECT_TRUE(charts_of({}).empty());
  EXPECT_TRUE(charts_of({{"t", "n", "x", "y", {}}, {"t", "m", "x", "y", {{NAN, 1}}}}).empty());
  std::vector<std::pair<double, double>> many;
  for (int i = 0; i < 100'000; ++i) many.emplace_back(i, i % 17);
  EXPECT_LE(charts_of({{"t", "n", "x", "y", many}}).at(0).lines[0].points.size(), kMostPoints);
}

TEST(CourseCharts, FollowsWhatIsShown) {
  CourseCharts charts;
  charts.show_curves(two_charts());
  charts.resize(900, 300);
  charts.show();
  EXPECT_EQ(charts.chart_count(), 2);
  const auto views = charts.findChildren<QChartView*>();
  ASSERT_EQ(views.size(), 2);
  EXPECT_EQ(views[0]->chart()->series().size(), 2);
  EXPECT_EQ(views[0]->y(), views[1]->y());
  charts.resize(300, 600);
  charts.layout()->activate();
  EXPECT_EQ(views[0]->x(), views[1]->x());  // below each other
  charts.show_curves({});
  EXPECT_EQ(charts.chart_count(), 0);
  EXPECT_TRUE(charts.isHidden());
  charts.show_curves(two_charts());
  EXPECT_FALSE(charts.isHidden());
}

}  // namespace
}  // namespace strato
