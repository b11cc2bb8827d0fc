// How the window simulates strategies: a choice of the session, the same for all that it compares.
#pragma once

#include <compare>
#include <cstdint>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

enum class TaskOrder : std::uint8_t {
  Fifo,      // first in, first out; priorities do not count
  Priority,  // the strategy's own priorities; of one that has none, the upward ranks of its ops
};

struct Simulation {
  TaskOrder order = TaskOrder::Fifo;
  bool fair_links = false;  // links are shared instead of held
  friend auto operator<=>(const Simulation&, const Simulation&) = default;
};

// The strategy with the priorities that it is simulated with.
Strategy ordered(const Problem& problem, const Strategy& strategy, const Simulation& simulation);

// Pure; safe from any thread.
Outcome simulate_as(const Problem& problem, const Strategy& strategy, const Simulation& simulation);

}  // namespace strato
