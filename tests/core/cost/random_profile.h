// Random profiles for properties.
#pragma once

#include <string>

#include "core/base/random.h"
#include "core/cost/value/profile.h"

namespace strato::toy {

inline std::vector<SizedMeasurement> random_sizes(Random& random) {
  std::vector<SizedMeasurement> points;
  const std::uint64_t count = 2 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    points.push_back({Bytes(std::int64_t{1024} << i),
                      Nanos(static_cast<std::int64_t>(1 + random.below(1'000'000'000))),
                      Nanos(static_cast<std::int64_t>(random.below(1000))),
                      static_cast<std::int64_t>(1 + random.below(100))});
  }
  return points;
}

inline Profile random_profile(std::uint64_t seed) {
  Random random(seed);
  Profile profile;
  profile.name = "random \"" + std::to_string(seed) + "\"";
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    OpProfile op{"Op" + std::to_string(random.below(3)) + "(float32[B])->(float32[B])",
                 random.below(2) == 0 ? "V100" : "cpu",
                 {}};
    for (std::uint64_t j = 1 + random.below(4); j > 0; --j) {
      op.measurements.push_back({static_cast<std::int64_t>(1 + random.below(64)),
                                 Nanos(static_cast<std::int64_t>(1 + random.below(1'000'000))),
                                 Nanos(static_cast<std::int64_t>(random.below(1000))),
                                 static_cast<std::int64_t>(1 + random.below(50))});
    }
    profile.ops.push_back(std::move(op));
  }
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    profile.transfers.push_back(
        {"m:" + std::to_string(random.below(4)), "m:9", random_sizes(random)});
  }
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    profile.collectives.push_back({static_cast<Collective>(random.below(5)),
                                   {"m:0", "m:" + std::to_string(1 + random.below(3))},
                                   random_sizes(random)});
  }
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    profile.memory.push_back({"lenet", "V100", static_cast<std::int64_t>(1 + random.below(64)),
                              Bytes(static_cast<std::int64_t>(1 + random.below(1'000'000)))});
  }
  return profile;
}

}  // namespace strato::toy
