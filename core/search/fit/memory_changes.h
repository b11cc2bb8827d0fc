// Changes of a strategy that make it need less memory, and those that take such a change back: what
// a person would try when a step does not fit, or has room left. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

struct MemoryChange {
  // Of each kind a strategy has one choice.
  enum class Kind : std::uint8_t { Recompute, MicroBatches, States, Offload, Tensor };
  Kind kind;
  std::string words;  // "compute cheap ops again"
  // Is less needed than before, rather than more?
  bool saves;
  std::function<Strategy(Strategy)> apply;
};

// All that mean something for this strategy, of a problem in its groups, and make another one of
// it: more and less recomputation, more and fewer micro-batches, the stages of ZeRO, what hosts
// keep, and twice or half as many columns. Each changes all groups alike.
std::vector<MemoryChange> memory_changes(const Problem& problem, const Strategy& strategy);

}  // namespace strato
