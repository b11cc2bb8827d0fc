// Says in words why a step takes as long as it does. A pure function of a timeline; deterministic;
// safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/what_if.h"

namespace strato {

struct Why {
  // "A step takes 119 ms, and bandwidth limits it: with infinite bandwidth it would take 60 ms (50
  // %)." Computing, bandwidth, latency or waiting: whatever would save most if it took no time, by
  // simulation. Without what-ifs it names none.
  std::string verdict;
  std::vector<std::string> causes;  // each with its gain and where it is; greatest first, few
  std::vector<std::string> more;    // sentences: the critical path, stages, gains, the uncertainty
  std::string text() const;         // all of it, as one paragraph
};
// `what_ifs` as what_if() sorts them.
Why why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs, const ErrorBar& error,
        std::optional<Nanos> lower_bound = {});

}  // namespace strato
