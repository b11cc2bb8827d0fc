// Whole nanoseconds and whole bytes, as types that do not mix. All simulated time is an integer
// number of nanoseconds, so that sums are exact and runs are reproducible.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace strato {

template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t v) : value(v) {}
  static constexpr Quantity max() { return Quantity(std::numeric_limits<std::int64_t>::max()); }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.value * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return Quantity(a.value * n); }
  friend constexpr Quantity operator/(Quantity a, std::int64_t n) { return Quantity(a.value / n); }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }
  constexpr Quantity& operator+=(Quantity o) { return *this = *this + o; }
  constexpr Quantity& operator-=(Quantity o) { return *this = *this - o; }
};

using Nanos = Quantity<struct NanosTag>;
using Bytes = Quantity<struct BytesTag>;

// Rounds up, so that work that exists never takes zero time. Absurd times stop at 31 years, so that
// sums of them do not overflow at once.
inline Nanos nanos_from(double nanoseconds) {
  return Nanos(static_cast<std::int64_t>(std::ceil(nanoseconds < 1e18 ? nanoseconds : 1e18)));
}
inline Nanos nanos_from_seconds(double seconds) { return nanos_from(seconds * 1e9); }
constexpr double to_seconds(Nanos t) { return static_cast<double>(t.value) * 1e-9; }

}  // namespace strato
