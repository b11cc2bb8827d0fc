// What ranks have trained beside what one device has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/plugins/engines/rank/in_process_run.h"
#include "tests/plugins/engines/rank/net_problem.h"

namespace strato {

// `limit`: relative to the largest of them, where that is more than 1.
void expect_same(const std::vector<double>& found, const std::vector<double>& expected,
                 const std::string& what, double limit);
// Parameters and optimizer state; beyond the usual limit, parameters alone.
void expect_trained_alike(InProcessRun& run, const Reference& reference, double limit = 1e-9);
void expect_same_loss(InProcessRun& run, const Reference& reference);
// The steps of the strategy, in a random order of its tasks. Returns how many of them compute
// something again.
std::ptrdiff_t run_and_compare(const RandomProblem& problem, const Strategy& strategy,
                               const Reference& reference, Random& random);

}  // namespace strato
