// Which small changes make a strategy fit in memory, and at what price in time. Deterministic;
// blocks; one caller at a time for an evaluator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/fit/memory_changes.h"

namespace strato {

struct ChangedPlan {
  std::vector<std::string> words;  // of each change: one, or two that belong to different kinds
  Strategy strategy;
  Score score = {};
  Bytes peak = {};  // of the fullest device, where the evaluator gives feedback
};

struct FittingPlans {
  Score now;  // of the strategy itself
  // Of a strategy that does not fit, those that do: by how many changes they are, then by step
  // time; those of two changes only where they are faster than each of one. Two are tried together
  // only where what each frees alone could be enough. Of one that fits: those of one change that
  // are faster and fit, fastest first. What is as fast as a change before it, and needs as much, is
  // left out.
  std::vector<ChangedPlan> plans;
  // Where none fits, what is nearest to it, fewest bytes too many first.
  std::vector<ChangedPlan> nearest;
  std::int64_t evaluations = 0;
  bool stopped = false;  // not everything was looked at
};

// `progress` hears how many evaluations are done of how many that may follow. What cannot be
// lowered (micro-batches of an op that needs all samples at once) is passed over. Throws InputError
// where the strategy itself cannot.
FittingPlans fitting_plans(
    const Problem& problem, const Strategy& strategy, Evaluator& evaluator,
    const std::stop_token& stop = {},
    const std::function<void(std::size_t, std::size_t)>& progress = [](std::size_t, std::size_t) {
    });

}  // namespace strato
