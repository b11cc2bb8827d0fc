// Delta evaluation on random problems (views, shared weights, sums of gradients, uneven shares,
// many ties): after every edit the program, the timeline and the feedback are those of a full run.
#include "core/sim/engine/delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/program/lower/lower.h"
#include "core/sim/timeline/feedback.h"
#include "tests/core/sim/expect_same.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

void toggle(OpId op, std::vector<OpId>& ops) {
  const auto at = std::lower_bound(ops.begin(), ops.end(), op);
  if (at == ops.end() || *at != op) {
    ops.insert(at, op);
  } else {
    ops.erase(at);
  }
}

TEST(Delta, RandomEditsOfRandomProblems) {
  int deltas = 0, with_duplicated = 0;
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    DeltaEvaluator delta(problem.graph, problem.grouping, problem.cluster, problem.cost);
    Simulator simulator;
    Strategy strategy = complete(random_strategy(problem, random), *problem.cluster);
    for (int edit = 0; edit < 12 && !testing::Test::HasFatalFailure(); ++edit) {
      const Strategy other = complete(random_strategy(problem, random), *problem.cluster);
      const GroupId group(random.below(strategy.groups.size()));
      const std::uint64_t kind = random.below(4);
      if (kind < 2) strategy.groups[group] = other.groups[group];
      if (kind == 3) strategy.duplicated = other.duplicated;
      for (std::uint64_t i = kind == 0 ? 0 : random.below(3); i > 0; --i)
        toggle(OpId(random.below(problem.graph->op_count())), strategy.duplicated);
      const bool is_delta = !delta.evaluate(CompleteStrategy(strategy, *problem.cluster)).full;
      deltas += is_delta;
      with_duplicated += is_delta && !strategy.duplicated.empty();
      const auto program = std::make_shared<const Program>(lowering.lower(strategy));
      const Timeline full = simulator.simulate(program), mine = delta.timeline();
      expect_same(*mine.program, *program);
      expect_same(mine, full);
      expect_same(delta.feedback(), feedback(full, *problem.grouping));
    }
  }
  EXPECT_GT(deltas, 500);
  EXPECT_GT(with_duplicated, 300) << "duplicated ops are hardly tested";
}

}  // namespace
}  // namespace strato
