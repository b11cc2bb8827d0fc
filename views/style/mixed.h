// A colour between two others.
#pragma once

#include <QColor>
#include <cmath>

namespace strato {

// 0: `a`, 1: `b`; opaque.
inline QColor mixed(const QColor& a, const QColor& b, double part_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x * (1 - part_of_b) + y * part_of_b));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace strato
