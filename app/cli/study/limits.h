// Which numbers a study's file may have.
#pragma once

#include <cstdint>

namespace strato::cli {

inline constexpr std::int64_t kMaxBatch = (std::int64_t{1} << 31) - 1;
inline constexpr double kMostValue = 1e12;  // seconds, samples per second, percent, ...

}  // namespace strato::cli
