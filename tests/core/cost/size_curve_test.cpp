// Segmented linear regression over sizes: exact recovery, noise, and measurements that make no
// sense.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>

#include "core/base/random.h"
#include "core/cost/measured/curves.h"

namespace strato {
namespace {

using SizedMeasurements = std::vector<SizedMeasurement>;

// 1 KB to 1 GB, doubling.
SizedMeasurements measured(const std::function<double(double)>& nanos) {
  SizedMeasurements points;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 2) {
    const double time = nanos(static_cast<double>(bytes));
    points.push_back({Bytes(bytes), Nanos(std::llround(time)), Nanos(0), 10});
  }
  return points;
}

double relative(const SizeCurve& curve, const std::function<double(double)>& nanos, double bytes) {
  return static_cast<double>(curve.at(Bytes(std::llround(bytes))).value) / nanos(bytes) - 1;
}

TEST(SizeCurve, RecoversLatencyAndBandwidth) {
  const auto line = [](double bytes) { return 20'000 + bytes / 12.0; };  // 20 us, 12 GB/s
  const SizeCurve curve(measured(line));
  EXPECT_EQ(curve.pieces(), 1u);
  EXPECT_NEAR(static_cast<double>(curve.latency().value), 20'000, 2);
  EXPECT_NEAR(curve.bandwidth(), 12e9, 12e9 * 1e-5);
  for (const double bytes : {1.0, 5000.0, 3e6, 7e8, 4e9}) {
    EXPECT_NEAR(relative(curve, line, bytes), 0, 1e-4) << bytes;
  }
  EXPECT_LT(curve.error(), 1e-3);
}

TEST(SizeCurve, FindsWhereProtocolsChange) {
  // Continuous, with knots at sizes measured: 4 us flat to 8 KB, 1 GB/s to 1 MB, 10 GB/s beyond.
  const auto line = [](double bytes) {
    return 4000 + std::max(0.0, std::min(bytes, 1048576.0) - 8192) +
           std::max(0.0, bytes - 1048576) / 10;
  };
  const SizeCurve curve(measured(line));
  EXPECT_EQ(curve.pieces(), 3u);
  for (const double bytes : {1024.0, 6000.0, 50'000.0, 1e6, 3e6, 1e9}) {
    EXPECT_NEAR(relative(curve, line, bytes), 0, 0.001) << bytes;
  }
  EXPECT_NEAR(curve.bandwidth(), 10e9, 10e9 * 1e-3);
}

TEST(SizeCurve, AveragesNoise) {
  const auto line = [](double bytes) { return 15'000 + bytes / 5.0; };
  Random random(3);
  double worst = 0;
  for (int round = 0; round < 50; ++round) {
    const SizeCurve curve(
        measured([&](double bytes) { return line(bytes) * random.uniform(0.9, 1.1); }));
    EXPECT_LE(curve.pieces(), 4u);
    EXPECT_NEAR(curve.error(), 0.1 / std::sqrt(3), 0.04);
    for (const double bytes : {2000.0, 80'000.0, 4e6, 6e8}) {
      worst = std::max(worst, std::abs(relative(curve, line, bytes)));
    }
  }
  EXPECT_LT(worst, 0.12);
}

TEST(SizeCurve, OfTwoPointsIsTheirLine) {
  const SizeCurve curve(
      SizedMeasurements{{Bytes(1000), Nanos(2000), {}, 1}, {Bytes(2000), Nanos(3000), {}, 1}});
  EXPECT_EQ(curve.at(Bytes(0)), Nanos(1000));
  EXPECT_EQ(curve.at(Bytes(1500)), Nanos(2500));
  EXPECT_EQ(curve.at(Bytes(10'000)), Nanos(11'000));
}

TEST(SizeCurve, NeverGoesBelowZeroAtZeroBytes) {
  const SizeCurve curve(
      SizedMeasurements{{Bytes(1000), Nanos(1000), {}, 1}, {Bytes(2000), Nanos(3000), {}, 1}});
  EXPECT_EQ(curve.latency(), Nanos(0));
  EXPECT_EQ(curve.at(Bytes(500)), Nanos(500));
  EXPECT_EQ(curve.at(Bytes(1000)), Nanos(1000));
}

TEST(SizeCurve, IsSoundWhateverWasMeasured) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<std::uint32_t>());
    SizedMeasurements points;
    std::int64_t bytes = static_cast<std::int64_t>(random.below(2));
    for (std::uint64_t i = 2 + random.below(30); i > 0; --i) {
      bytes += static_cast<std::int64_t>(1 + random.below(1'000'000));
      points.push_back({Bytes(bytes),
                        Nanos(static_cast<std::int64_t>(1 + random.below(1'000'000'000))), Nanos(0),
                        1});
    }
    const SizeCurve curve(points);
    RC_ASSERT(std::isfinite(curve.error()));
    Nanos last;
    for (std::int64_t size = 0; size < std::int64_t{1} << 40; size += 1 + size / 7) {
      const Nanos time = curve.at(Bytes(size));
      RC_ASSERT(time >= last);
      last = time;
    }
  }));
}

TEST(SizeCurve, TakesVeryManySizes) {
  SizedMeasurements points;
  for (std::int64_t i = 1; i <= 20'000; ++i) {
    points.push_back({Bytes(i * 1000), Nanos(5000 + i * 100), Nanos(0), 1});
  }
  const SizeCurve curve(points);
  EXPECT_EQ(curve.at(Bytes(10'000'000)), Nanos(5000 + 1'000'000));
}

}  // namespace
}  // namespace strato
