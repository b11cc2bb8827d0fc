#include "core/base/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace strato {
namespace {

// `value` in the largest unit that leaves at least one; 999.6 rounds up into the next unit.
std::string scaled(double value, std::initializer_list<const char*> units) {
  if (!std::isfinite(value)) return "-";
  auto unit = units.begin();
  while (std::abs(value) >= 999.5 && unit + 1 != units.end()) {
    value /= 1000;
    ++unit;
  }
  std::string number = significant_text(value);
  return **unit == '\0' ? number : number + " " + *unit;
}

}  // namespace

std::string significant_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  std::string text = fmt::format("{:.{}f}", value, std::clamp(digits - 1 - magnitude, 0, 9));
  // 9.996 has one digit fewer once it is rounded.
  const int rounded =
      static_cast<int>(std::floor(std::log10(std::max(std::abs(std::stod(text)), 1e-300))));
  if (rounded > magnitude)
    text = fmt::format("{:.{}f}", value, std::clamp(digits - 1 - rounded, 0, 9));
  return text;
}

std::string time_text(Nanos time) {
  if (std::abs(time.value) < 1000) return fmt::format("{} ns", time.value);
  return scaled(static_cast<double>(time.value), {"ns", "µs", "ms", "s"});
}

std::string bytes_text(Bytes bytes) {
  if (std::abs(bytes.value) < 1000) return fmt::format("{} B", bytes.value);
  return scaled(static_cast<double>(bytes.value), {"B", "kB", "MB", "GB", "TB", "PB"});
}

std::string bandwidth_text(double bytes_per_second) {
  return scaled(bytes_per_second, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

std::string count_text(double count) {
  if (std::abs(count) < 1000) return fmt::format("{}", count);
  return scaled(count, {"", "k", "M", "G", "T"});
}

std::string flops_text(double flops) {
  return scaled(flops, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"});
}

std::string factor_text(double factor) { return significant_text(factor) + "x"; }
std::string percent_text(double fraction) { return significant_text(fraction * 100) + " %"; }

}  // namespace strato
