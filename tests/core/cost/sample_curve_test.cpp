// The curve of an op's time over samples: exact where it can be, sound where measurements are not.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/base/random.h"
#include "core/cost/measured/curves.h"

namespace strato {
namespace {

using OpMeasurements = std::vector<OpMeasurement>;

OpMeasurement at(std::int64_t samples, std::int64_t time, std::int64_t repetitions = 10) {
  return {samples, Nanos(time), Nanos(0), repetitions};
}

TEST(SampleCurve, GoesThroughItsPointsAndStraightBetween) {
  const SampleCurve curve(OpMeasurements{at(4, 100), at(8, 200), at(16, 1000)});
  EXPECT_DOUBLE_EQ(curve.nanos(4), 100);
  EXPECT_DOUBLE_EQ(curve.nanos(6), 150);
  EXPECT_DOUBLE_EQ(curve.nanos(8), 200);
  EXPECT_DOUBLE_EQ(curve.nanos(12), 600);
  EXPECT_DOUBLE_EQ(curve.nanos(16), 1000);
}

TEST(SampleCurve, IsExactForALineEverywhere) {
  const auto line = [](std::int64_t n) { return 5000 + 37 * n; };
  const SampleCurve curve(
      OpMeasurements{at(2, line(2)), at(8, line(8)), at(16, line(16)), at(32, line(32))});
  for (const std::int64_t n : {1, 3, 20, 64, 1000}) {
    EXPECT_NEAR(curve.nanos(static_cast<double>(n)), static_cast<double>(line(n)), 1e-6) << n;
  }
}

TEST(SampleCurve, NeverFallsBelowTheEndsShareOfItself) {
  // Steeper than proportional at both ends: fixed costs would be negative.
  const SampleCurve curve(OpMeasurements{at(4, 100), at(8, 1000)});
  EXPECT_DOUBLE_EQ(curve.nanos(1), 25);
  EXPECT_DOUBLE_EQ(curve.nanos(16), 2000);
}

TEST(SampleCurve, LeavesOutADisturbedMeasurement) {
  const SampleCurve curve(OpMeasurements{at(4, 100), at(8, 900), at(16, 400), at(32, 800)});
  EXPECT_DOUBLE_EQ(curve.nanos(8), 200);
  EXPECT_FALSE(curve.keeps(at(8, 900)));
  EXPECT_TRUE(curve.keeps(at(16, 400)));
}

TEST(SampleCurve, LevelsSmallFalls) {
  const SampleCurve curve(OpMeasurements{at(4, 100), at(8, 220, 30), at(16, 200, 10), at(32, 800)});
  EXPECT_DOUBLE_EQ(curve.nanos(8), 215);
  EXPECT_DOUBLE_EQ(curve.nanos(16), 215);
  EXPECT_DOUBLE_EQ(curve.nanos(12), 215);
}

TEST(SampleCurve, OfOnePointIsLevel) {
  const SampleCurve curve(OpMeasurements{at(8, 100)});
  for (const double n : {1.0, 8.0, 100.0}) EXPECT_DOUBLE_EQ(curve.nanos(n), 100);
}

TEST(SampleCurve, IsPositiveAndNeverFallsWhateverWasMeasured) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<std::uint32_t>());
    OpMeasurements points;
    std::int64_t samples = 0;
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i) {
      samples += static_cast<std::int64_t>(1 + random.below(20));
      const auto time = static_cast<std::int64_t>(1 + random.below(1'000'000));
      points.push_back(at(samples, time, static_cast<std::int64_t>(1 + random.below(30))));
    }
    const SampleCurve curve(points);
    double last = 0;
    for (double n = 1; n < 1000; n *= 1.1) {
      RC_ASSERT(curve.nanos(n) > 0);
      RC_ASSERT(curve.nanos(n) >= last * (1 - 1e-12));
      last = curve.nanos(n);
    }
  }));
}

}  // namespace
}  // namespace strato
