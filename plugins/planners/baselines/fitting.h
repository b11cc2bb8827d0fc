// Strategies that fit in memory by computing more of the forward pass again
// (core/program/value/recompute.h).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

// As Recompute has it, or as much as is needed: nothing; where that does not fit, what is cheap;
// where that does not, blocks.
enum class Recomputing : std::uint8_t { None, Cheap, Blocks, WhenNeeded };
inline constexpr std::array<std::string_view, 4> kRecomputing = {kRecompute[0], kRecompute[1],
                                                                 kRecompute[2], "when-needed"};

struct Tried {
  std::vector<Strategy> strategies;
  std::vector<Score> scores;  // one each
};
// Evaluates these strategies, which compute nothing again, with recomputation. `in_flight`: passes
// under way on a device, at most (recomputed_ops()).
Tried try_recomputing(const PlanRequest& request, const std::vector<Strategy>& strategies,
                      Recomputing how, std::int64_t in_flight);

}  // namespace strato
