// Where the bars of a waterfall are.
#include "views/compare/waterfall.h"

#include <gtest/gtest.h>

#include "core/sim/explain/path_pieces.h"

namespace strato {
namespace {

Cause cause(const char* text, std::int64_t from, std::int64_t to, Reason reason = Reason::Compute) {
  return {reason, text, Nanos(from), Nanos(to)};
}

PlanComparison comparison_of(std::vector<Cause> causes) {
  PlanComparison comparison;
  comparison.plans.from.label = "a";
  comparison.plans.to.label = "b";
  for (const Cause& each : causes) {
    comparison.plans.from.step_time += each.from;
    comparison.plans.to.step_time += each.to;
  }
  comparison.causes = std::move(causes);
  return comparison;
}

TEST(WaterfallRows, EachCauseBeginsWhereTheOneBeforeEnded) {
  const auto rows = waterfall_rows(
      comparison_of({cause("waiting", 90, 10), cause("AllReduce", 0, 30, Reason::Collective),
                     cause("computing", 10, 10)}),
      9);
  ASSERT_EQ(rows.size(), 4u);  // what does not change is left out
  EXPECT_EQ(rows[0].end, Nanos(100));
  EXPECT_EQ(rows[1].kind, WaterfallRow::Kind::Less);
  EXPECT_EQ(rows[1].end, Nanos(100));
  EXPECT_EQ(rows[1].begin, Nanos(20));
  EXPECT_EQ(rows[2].kind, WaterfallRow::Kind::More);
  EXPECT_EQ(rows[2].begin, Nanos(20));
  EXPECT_EQ(rows[2].end, Nanos(50));
  EXPECT_TRUE(rows[2].communication);
  EXPECT_FALSE(rows[1].communication);
  EXPECT_EQ(rows[3].end, Nanos(50));
  EXPECT_EQ(rows[1].label, "Waiting");
}

TEST(WaterfallRows, OfManyTheLastIsAllOthers) {
  std::vector<Cause> causes;
  for (int i = 0; i < 40; ++i) causes.push_back(cause("x", 1000 - i, 0));
  const PlanComparison comparison = comparison_of(std::move(causes));
  const auto rows = waterfall_rows(comparison, 5);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[5].label, "36 other causes");
  EXPECT_EQ(rows[5].begin, comparison.plans.to.step_time);
}

TEST(WaterfallRows, OfTheSamePlanTwice) {
  const auto rows = waterfall_rows(comparison_of({cause("x", 10, 10)}), 9);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].end, rows[1].end);
}

TEST(WaterfallRows, OfNothingAtAll) {
  const auto rows = waterfall_rows(PlanComparison(), 9);
  ASSERT_EQ(rows.size(), 2u);
  WaterfallMapping mapping = WaterfallMapping::of(rows);
  mapping.width = 100;
  EXPECT_GE(mapping.bar(rows[0], 0).width(), 1);
  EXPECT_EQ(WaterfallMapping::of({}).high, Nanos(0));
}

TEST(WaterfallMapping, SmallCausesGetAnAxisOfTheirOwn) {
  const auto large = waterfall_rows(comparison_of({cause("x", 100, 50)}), 9);
  EXPECT_EQ(WaterfallMapping::of(large).low, Nanos(0));
  const auto small =
      waterfall_rows(comparison_of({cause("x", 100, 90), cause("y", 10000, 10000)}), 9);
  const WaterfallMapping mapping = WaterfallMapping::of(small);
  EXPECT_EQ(mapping.high, Nanos(10100));
  EXPECT_EQ(mapping.low, Nanos(10085));
}

TEST(WaterfallMapping, BarsAndRows) {
  const auto rows = waterfall_rows(comparison_of({cause("x", 100, 50)}), 9);
  WaterfallMapping mapping = WaterfallMapping::of(rows);
  mapping.width = 300;
  mapping.label_width = 100;
  mapping.value_width = 100;
  mapping.row_height = 20;
  mapping.top = 10;
  EXPECT_EQ(mapping.bar(rows[0], 0).left(), 100);
  EXPECT_EQ(mapping.bar(rows[0], 0).right(), 200);
  EXPECT_EQ(mapping.bar(rows[1], 1).left(), 150);
  EXPECT_EQ(mapping.row_at(9, 3), -1);
  EXPECT_EQ(mapping.row_at(10, 3), 0);
  EXPECT_EQ(mapping.row_at(49, 3), 1);
  EXPECT_EQ(mapping.row_at(69, 3), 2);
  EXPECT_EQ(mapping.row_at(71, 3), -1);
  EXPECT_EQ(mapping.row_at(10, 0), -1);
}

}  // namespace
}  // namespace strato
