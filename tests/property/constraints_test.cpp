// Random constraints on random strategies of random problems: what is repaired keeps to them, is
// valid, and is left alone from then on.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/list/placement.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/strategy/value/variable_check.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

ConstrainedOps random_ops(const Problem& problem, Random& random) {
  if (random.below(6) == 0) return {"*", {}};
  if (random.below(3) == 0)
    return {problem.grouping->group(GroupId(random.below(problem.grouping->size()))).name, {}};
  ConstrainedOps of{"some", {}};
  for (std::uint64_t i = 0; i <= random.below(4); ++i)
    of.ops.push_back(problem.graph->op(OpId(random.below(problem.graph->op_count()))).name);
  return of;
}

std::string random_device(const Problem& problem, Random& random) {
  const Cluster& cluster = *problem.cluster;
  if (random.below(3) == 0)
    return cluster.groups()[DeviceGroupId(random.below(cluster.groups().size()))].name;
  return cluster.device(DeviceId(random.below(cluster.device_count()))).name;
}

Constraints random_constraints(const Problem& problem, Random& random) {
  Constraints constraints;
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    const auto device =
        problem.cluster->device(DeviceId(random.below(problem.cluster->device_count())));
    constraints.pins.push_back(
        {random_ops(problem, random), static_cast<Mode>(random.below(4)), {{device.name, 1}}});
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    Constraints::Forbid forbid{
        random_ops(problem, random), {random_device(problem, random)}, {}, {}};
    if (random.below(2) == 0) forbid.modes.push_back(static_cast<Mode>(random.below(4)));
    if (random.below(2) == 0) forbid.roles.push_back(static_cast<Role>(random.below(4)));
    constraints.forbidden.push_back(forbid);
  }
  for (std::uint64_t i = random.below(3); i > 0; --i)
    constraints.together.push_back({{random_ops(problem, random), random_ops(problem, random)}});
  for (std::uint64_t i = random.below(3); i > 0; --i)
    constraints.limits.push_back(
        {random_ops(problem, random), 1 + static_cast<std::int64_t>(random.below(4))});
  return constraints;
}

Strategy scattered(const Problem& problem, Random& random) {
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    choice_of.push_back(static_cast<std::int32_t>(random.below(choices.size())));
  return strategy_by_ops(problem, choice_of, choices);
}

void add_variables(const Problem& problem, Strategy& strategy, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  strategy = complete(strategy, *problem.cluster);
  strategy.variables =
      RandomVariables{*problem.graph, *problem.grouping, *problem.cluster, random, true}.variables(
          strategy);
}

// Rows of columns, micro-batches and recomputation, of some groups and ops.
void add_roles(const Problem& problem, Strategy& strategy, Random& random) {
  for (auto& decision : strategy.groups) {
    if (!decision || random.below(2) == 0) continue;
    decision->roles.tensor = 2;
    decision->roles.tensor = static_cast<std::int32_t>(columns_of(*decision));
  }
  if (random.below(2) == 0) strategy.micro_batches.count = 2;
  for (const OpId op : problem.graph->ops().ids())
    if (random.below(4) == 0) strategy.recomputed.push_back(op);
}

TEST(ConstraintProperty, RepairedStrategiesKeepToThem) {
  int possible = 0, changed = 0, own = 0;
  for (std::uint64_t seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random);
    const Problem problem{made.graph, made.grouping, made.cluster, made.cost};
    const Constraints constraints = random_constraints(problem, random);
    std::unique_ptr<BoundConstraints> bound;
    try {
      bound = std::make_unique<BoundConstraints>(constraints, problem);
    } catch (const InputError&) {
      continue;  // they contradict each other
    }
    ++possible;
    for (int i = 0; i < 4; ++i) {
      Strategy strategy = i == 3 ? scattered(problem, random) : random_strategy(made, random);
      if (i == 2) add_variables(problem, strategy, seed);
      if (i == 1) {
        strategy.recomputed.clear();
        add_roles(problem, strategy, random);
      }
      const Strategy after = bound->repaired(strategy);
      const Problem shown = problem_for(problem, after);
      ASSERT_NO_THROW(validate(after, *shown.grouping, *shown.cluster));
      ASSERT_NO_THROW(validate_variables(after, *shown.graph));
      EXPECT_EQ(bound->violated(after), std::vector<std::size_t>());
      EXPECT_EQ(bound->repaired(after), after);
      const bool kept = bound->violated(strategy).empty();
      if (kept) {
        EXPECT_EQ(after, complete(strategy, *problem.cluster));
      }
      changed += !kept;
      own += !kept && after.grouping != nullptr;
    }
  }
  EXPECT_GT(possible, 200);
  EXPECT_GT(changed, 400);
  EXPECT_GT(own, 50);
}

}  // namespace
}  // namespace strato
