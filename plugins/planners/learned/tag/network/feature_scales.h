// The scales of the features: every value ends between -2 and 2.
#pragma once

#include <algorithm>
#include <cmath>

namespace strato::tag {

inline float in_range(double value, double low, double high) {
  return static_cast<float>(std::clamp(value, low, high));
}

// log10(value / reference) / 4, from -1 (also for nothing at all) to 1.
inline float log_ratio(double value, double reference) {
  if (value <= 0 || reference <= 0) return -1;
  return in_range(std::log10(value / reference) / 4, -1, 1);
}

inline float log_bandwidth(double bytes_per_second) {
  return in_range(std::log10(std::max(bytes_per_second, 1.0) / 1e9) / 3, -1, 2);
}

inline float log_count(double count) { return in_range(std::log2(count) / 5, 0, 2); }

inline double part(double value, double of) { return of > 0 ? value / of : 0; }

}  // namespace strato::tag
