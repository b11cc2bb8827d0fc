// Measured times as continuous lines of straight pieces (TAG 4.1.2). Private to this folder.
// Immutable, safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/cost/value/profile.h"

namespace strato {

inline constexpr double kEndless = std::numeric_limits<double>::infinity();

struct LinePiece {
  double from, until;  // kEndless: the last piece
  double time, slope;  // nanoseconds at `from`, per unit
};

// `pieces` ascend, and the last one has no end; before the first one, the first one goes on.
inline double time_on_line(std::span<const LinePiece> pieces, double place) {
  const LinePiece* piece = pieces.data();
  while (place >= piece->until) ++piece;
  return piece->time + piece->slope * (place - piece->from);
}

// By how many doublings a size lies outside of those that were measured.
inline double doublings_outside(std::int64_t first, std::int64_t last, std::int64_t size) {
  const auto at = static_cast<double>(size);
  return std::max(
      {0.0, std::log2(at / static_cast<double>(last)), std::log2(static_cast<double>(first) / at)});
}

// An op's time as a function of the number of samples, from measurements at several batch sizes.
//
// Piecewise-linear through the medians, never falling:
// - A measurement of more than 1.5 times the time of one with more samples was disturbed (noise
//   adds time, it takes none away): it is left out.
// - Smaller falls are noise on both sides: pool-adjacent-violators (isotonic regression), weighted
//   by repetitions, makes them one level.
// Beyond the greatest size: the slope of a least-squares line through the measurements down to a
// quarter of it (errors relative to the times), from the last point on. Below the smallest: the
// slope of the first piece. Both slopes lie between 0 and the end point's time per sample, so that
// fixed costs are not negative: time never falls below the end point's share per sample.
class SampleCurve {
 public:
  // Ascending by samples, unique, at least one. With one point alone the curve is level.
  explicit SampleCurve(std::span<const OpMeasurement> points);

  double nanos(double samples) const { return time_on_line(pieces_, samples); }
  // Only one size is known: one was measured, or all but one were disturbed.
  bool of_one_size() const { return pieces_.size() == 1; }
  // The level of the curve at this measurement is its own median.
  bool keeps(const OpMeasurement& point) const {
    return nanos(static_cast<double>(point.samples)) == static_cast<double>(point.time.value);
  }

 private:
  std::vector<LinePiece> pieces_;
};

// The time of a transfer or collective as a function of its size: segmented linear regression over
// measurements from 1 KB to 1 GB, doubling.
//
// A continuous line of one to four pieces, with knots at measured sizes:
// 1. For each number of pieces, dynamic programming finds the knots: the sum of the squared errors,
//    relative to the measured times, of chords between the knots' own measurements is least.
// 2. The heights at the knots are found by weighted least squares (hat functions, a tridiagonal
//    system), errors again relative, then made positive and never falling.
// 3. The number of pieces is that of the least Bayesian information criterion; errors below 1 % are
//    taken for noise, so that exact data do not earn pieces for rounding.
// Beyond the last knot the last piece goes on; below the first the first one does, down to zero
// bytes, but not below zero. Sizes are told apart on a linear scale, as time is linear in them.
class SizeCurve {
 public:
  // Ascending by bytes, unique, at least two.
  explicit SizeCurve(std::span<const SizedMeasurement> points);

  Nanos at(Bytes bytes) const {
    return nanos_from(time_on_line(pieces_, static_cast<double>(bytes.value)) * (1 - 1e-12));
  }
  Nanos latency() const { return at(Bytes(0)); }

  std::size_t pieces() const { return pieces_.size(); }
  Bytes from() const { return first_; }  // smallest and greatest size measured
  Bytes to() const { return last_; }
  double bandwidth() const { return 1e9 / pieces_.back().slope; }  // bytes per second, large sizes
  double error() const { return error_; }  // relative standard error of the measurements about it

 private:
  std::vector<LinePiece> pieces_;
  Bytes first_, last_;
  double error_ = 0;
};

}  // namespace strato
