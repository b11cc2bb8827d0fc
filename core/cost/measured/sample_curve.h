// An op's time as a function of the number of samples, from measurements at several batch sizes
// (TAG 4.1.2). Private to this folder. Immutable, safe from any thread.
//
// Piecewise-linear through the medians, never falling:
// - A measurement of more than 1.5 times the time of one with more samples was disturbed (noise
// adds
//   time, it takes none away): it is left out.
// - Smaller falls are noise on both sides: pool-adjacent-violators (isotonic regression), weighted
// by
//   repetitions, makes them one level.
// Beyond the greatest size: the slope of a least-squares line through the measurements down to a
// quarter of it (errors relative to the times), from the last point on. Below the smallest: the
// slope of the first piece. Both slopes lie between 0 and the end point's time per sample, so that
// fixed costs are not negative: time never falls below the end point's share per sample.
#pragma once

#include <span>
#include <vector>

#include "core/cost/measured/line_piece.h"
#include "core/cost/value/profile.h"

namespace strato {

class SampleCurve {
 public:
  // Ascending by samples, unique, at least one. With one point alone the curve is level.
  explicit SampleCurve(std::span<const OpMeasurement> points);

  double nanos(double samples) const { return time_on_line(pieces_, samples); }

  // Only one size is known: one was measured, or all but one were disturbed.
  bool of_one_size() const { return pieces_.size() == 1; }
  // The level of the curve at this measurement is its own median.
  bool keeps(const OpMeasurement& point) const;

 private:
  std::vector<LinePiece> pieces_;
};

}  // namespace strato
