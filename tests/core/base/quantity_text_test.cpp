#include "core/base/quantity_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace strato {
namespace {

TEST(QuantityText, ThreeSignificantDigitsInTheRightUnit) {
  EXPECT_EQ(time_text(Nanos(0)), "0 ns");
  EXPECT_EQ(time_text(Nanos(999)), "999 ns");
  EXPECT_EQ(time_text(Nanos(1000)), "1.00 µs");
  EXPECT_EQ(time_text(Nanos(12'345'678)), "12.3 ms");
  EXPECT_EQ(time_text(Nanos(999'600)), "1.00 ms");
  EXPECT_EQ(time_text(Nanos(1'234'000'000)), "1.23 s");
  EXPECT_EQ(time_text(Nanos(12'345'000'000'000)), "12345 s");
  EXPECT_EQ(bytes_text(Bytes(512)), "512 B");
  EXPECT_EQ(bytes_text(Bytes(34'359'738'368)), "34.4 GB");
  EXPECT_EQ(bandwidth_text(12.5e9), "12.5 GB/s");
  EXPECT_EQ(count_text(61), "61");
  EXPECT_EQ(count_text(143'667'240), "144 M");
  EXPECT_EQ(flops_text(5.87e12), "5.87 TFLOP");
  EXPECT_EQ(factor_text(9.996), "10.0x");
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
  EXPECT_EQ(significant_text(-0.00123456), "-0.00123");
  EXPECT_EQ(significant_text(std::numeric_limits<double>::infinity()), "-");
}

}  // namespace
}  // namespace strato
