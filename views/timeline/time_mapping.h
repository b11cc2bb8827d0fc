// Time to pixel and back, as a plain value: a view's whole horizontal state. Times are nanoseconds
// as doubles (exact up to 2^53 ns = 104 days), x in device-independent pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace strato {

struct TimeMapping {
  static constexpr double kMinSpan = 50;    // ns: deeper than this shows nothing new
  static constexpr double kMargin = 0.015;  // of the whole, free on either side

  double begin = 0;  // time at `left`
  double ns_per_px = 1;
  double left = 0;   // px
  double width = 1;  // px, at least 1

  double x(double time) const { return left + (time - begin) / ns_per_px; }
  double time(double x) const { return begin + (x - left) * ns_per_px; }
  double span() const { return width * ns_per_px; }
  double end() const { return begin + span(); }

  // factor > 1 zooms in; the time under `at_x` stays where it is.
  void zoom(double factor, double at_x) {
    const double fixed = time(at_x);
    ns_per_px = std::max(ns_per_px / factor, kMinSpan / width);
    begin = fixed - (at_x - left) * ns_per_px;
  }
  void pan(double pixels) { begin += pixels * ns_per_px; }  // > 0: later times come into view
  void centre(double time) { begin = time - span() / 2; }
  void fit(double from, double to, double margin = kMargin) {
    const double length = std::max(to - from, kMinSpan);
    ns_per_px = length * (1 + 2 * margin) / width;
    centre((from + to) / 2);
  }
  // Keeps the view inside [0, whole] with its margins, and no wider than that.
  void clamp(double whole) {
    const double low = -kMargin * whole, high = (1 + kMargin) * whole;
    if (span() >= high - low) {
      fit(0, whole);
      return;
    }
    begin = std::clamp(begin, low, high - span());
  }
  // Another size of the widget: the same times stay in view.
  void resize(double new_left, double new_width) {
    const double kept = span();
    left = new_left;
    width = std::max(1.0, new_width);
    ns_per_px = kept / width;
  }
};

// 1, 2 or 5 times a power of ten, at least `min_px` apart.
inline std::int64_t nice_step(double ns_per_px, double min_px) {
  const double wanted = std::max(1.0, ns_per_px * min_px);
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= wanted * (1 - 1e-9)) return std::llround(factor * power);
  }
  return std::llround(10 * power);
}

// Multiples of nice_step in view, not before 0.
inline std::vector<std::int64_t> nice_ticks(const TimeMapping& mapping, double min_px) {
  const std::int64_t step = nice_step(mapping.ns_per_px, min_px);
  std::vector<std::int64_t> ticks;
  const double first = std::max(0.0, std::ceil(mapping.begin / static_cast<double>(step)));
  for (auto t = static_cast<std::int64_t>(first) * step; static_cast<double>(t) <= mapping.end();
       t += step) {
    ticks.push_back(t);
  }
  return ticks;
}

}  // namespace strato
