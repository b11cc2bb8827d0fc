// No strategy, with meshes and micro-batches or without, is simulated faster than its program's
// bound says, and some take just as long: what searches prune by holds for all that they may ever
// propose.
#include <gtest/gtest.h>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/local/bound_use.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

TEST(ProgramBound, of_random_strategies_is_at_most_their_time) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const RandomProblem made = random_problem(random);
    const Problem problem = {made.graph, made.grouping, made.cluster, made.cost};
    ProgramBound bound(problem);
    for (int i = 0; i < 10; ++i) {
      Strategy strategy =
          i % 2 == 0 ? random_strategy(made, random) : random_data_parallel(made, random);
      if (i >= 5) strategy = with_meshes(made, std::move(strategy), random);
      const auto micro_batches = random_micro_batches(*made.graph, random);
      if (i % 3 == 2 && micro_batches && goes_with(made, *micro_batches))
        strategy.micro_batches = *micro_batches;
      const Nanos time = simulate_strategy(problem, strategy, false).score.step_time;
      const Nanos least = bound.of(strategy);
      EXPECT_LE(least, time) << seed << " " << i;
      EXPECT_GT(least * 100, time) << seed << " " << i;
      tight += least == time;
    }
  }
  EXPECT_GT(tight, 10);
}

}  // namespace
}  // namespace strato
