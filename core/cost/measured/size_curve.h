// The time of a transfer or collective as a function of its size: segmented linear regression over
// measurements from 1 KB to 1 GB, doubling (TAG 4.1.2). Private to this folder. Immutable, safe
// from any thread.
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
#pragma once

#include <span>
#include <vector>

#include "core/cost/measured/line_piece.h"
#include "core/cost/value/profile.h"

namespace strato {

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
