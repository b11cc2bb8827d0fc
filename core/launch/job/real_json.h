// Reals that may be infinite or not a number, which JSON lacks: as texts (internal to core/job).
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "core/io/json.h"

namespace strato {

inline Json real_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

inline std::optional<double> real_from(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace strato
