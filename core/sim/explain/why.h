// Says in words why a step takes as long as it does. A pure function of a timeline; deterministic;
// safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/what_if.h"

namespace strato {

// The step in one paragraph: "A step takes 119 ms, and communication limits it: ...". Without
// what-ifs it says less. `what_ifs` as what_if() sorts them.
std::string why(const Timeline& timeline, const std::vector<WhatIf>& what_ifs,
                const ErrorBar& error, std::optional<Nanos> lower_bound = {});

}  // namespace strato
