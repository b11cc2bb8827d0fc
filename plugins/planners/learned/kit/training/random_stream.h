// Independent streams of a training's one seed: what is drawn for one purpose does not depend on
// what was drawn for another, nor on pauses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/digest.h"

namespace strato::learned {

// The seed of draw `number` for a purpose; `rank` where every process draws its own.
inline std::uint64_t random_stream(std::uint64_t seed, std::string_view purpose,
                                   std::int64_t number, std::optional<int> rank = {}) {
  Hasher hasher;
  hasher.text(purpose).number(seed).number(number);
  if (rank) hasher.number(*rank);
  return hasher.finish().low;
}

}  // namespace strato::learned
