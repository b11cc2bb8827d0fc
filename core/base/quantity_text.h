// Quantities for people: three significant digits, SI units: "182 ms", "1.23 s", "10.2 GB", "12.5
// GB/s".
#pragma once

#include <string>

#include "core/base/units.h"

namespace strato {

std::string significant_text(double value,
                             int digits = 3);  // never in the form 1e6; "-" when not finite
std::string time_text(Nanos time);
std::string bytes_text(Bytes bytes);
std::string bandwidth_text(double bytes_per_second);
std::string count_text(double count);       // whole below 1000, else "1.20 k", "3.45 M"
std::string flops_text(double flops);       // "12.3 GFLOP"
std::string factor_text(double factor);     // "3.41x"
std::string percent_text(double fraction);  // "12.3 %"

}  // namespace strato
