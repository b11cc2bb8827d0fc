// Several plans side by side: what must agree with their comparisons two by two.
#include "core/compare/plan_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "tests/core/search/toy.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

struct MatrixSample {
  std::string label;
  Problem problem;
  Strategy strategy;
  Outcome outcome;
  PlanToCompare it() const { return {label, problem, strategy, outcome}; }
};

MatrixSample sample_of(const std::string& label, const RandomProblem& made,
                       const Strategy& strategy) {
  const Problem problem{made.graph, made.grouping, made.cluster, made.cost};
  MatrixSample plan{label, problem, complete(strategy, *problem.cluster), {}};
  plan.problem = problem_for(problem, plan.strategy);
  plan.outcome = simulate_strategy(problem, plan.strategy, false);
  return plan;
}

PlanMatrix matrix_of(const std::vector<MatrixSample>& plans) {
  std::vector<PlanToCompare> all;
  for (const MatrixSample& plan : plans) all.push_back(plan.it());
  return compare_many(all);
}

TEST(PlanMatrix, AgreesWithEachComparison) {
  for (std::uint64_t seed = 0; seed < 40 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random), other = random_problem(random);
    const std::vector<MatrixSample> plans = {
        sample_of("other model", other, random_strategy(other, random)),
        sample_of("a", made, random_strategy(made, random)),
        sample_of("dp", made, random_data_parallel(made, random)),
        sample_of("b", made, random_strategy(made, random))};
    const PlanMatrix matrix = matrix_of(plans);
    ASSERT_EQ(matrix.plans.size(), plans.size());
    const std::size_t groups = plans.back().problem.grouping->size();
    ASSERT_EQ(matrix.groups.size(), groups);
    for (std::size_t p = 0; p < plans.size(); ++p) {
      const PlanComparison pair = compare_plans(plans[p].it(), plans.back().it());
      EXPECT_EQ(matrix.plans[p].figures.step_time, pair.plans.from.step_time);
      EXPECT_EQ(matrix.plans[p].figures.fits, pair.plans.from.fits);
      EXPECT_EQ(matrix.plans[p].unmatched_ops, pair.match.only_from.size());
      for (const MatrixRow& row : matrix.groups) {
        const auto change = std::ranges::find(pair.groups, row.group, &GroupChange::group);
        ASSERT_NE(change, pair.groups.end());
        EXPECT_EQ(row.decisions[p], change->decision.from);
        EXPECT_EQ(row.decisions.back(), change->decision.to);
        EXPECT_EQ(row.times[p], change->on_path.from);
        EXPECT_TRUE(row.differs || !change->differs);
      }
    }
    // Of the reference everything is there: its groups make up its whole step.
    Nanos sum;
    for (const MatrixRow& row : matrix.groups) sum += row.times.back();
    EXPECT_EQ(sum, plans.back().outcome.timeline->step_time);
    for (std::size_t i = 1; i < matrix.groups.size(); ++i)
      EXPECT_GE(matrix.groups[i - 1].spread(), matrix.groups[i].spread());
  }
}

TEST(PlanMatrix, ManyTimesTheSamePlanDiffersNowhere) {
  Random random(3);
  const RandomProblem made = random_problem(random);
  const MatrixSample plan = sample_of("a", made, random_strategy(made, random));
  const PlanMatrix matrix = matrix_of(std::vector<MatrixSample>(5, plan));
  EXPECT_TRUE(matrix.same_model && matrix.same_cluster);
  for (const auto* rows : {&matrix.groups, &matrix.variables})
    for (const MatrixRow& row : *rows) {
      EXPECT_FALSE(row.differs) << row.name;
      EXPECT_EQ(row.spread(), Nanos(0));
      EXPECT_EQ(row.decisions.size(), 5u);
    }
  EXPECT_EQ(matrix.best(), 0u);
  EXPECT_EQ(matrix_of({plan}).plans.size(), 1u);
}

TEST(PlanMatrix, TheBestOneFits) {
  PlanMatrix matrix;
  for (const auto& [time, fits] : {std::pair(50, false), {90, true}, {70, true}, {10, false}}) {
    MatrixPlan plan;
    plan.figures.step_time = Nanos(time);
    plan.figures.fits = fits;
    matrix.plans.push_back(plan);
  }
  EXPECT_EQ(matrix.best(), 2u);
  EXPECT_DOUBLE_EQ(matrix.above_best(2), 0);
  EXPECT_NEAR(matrix.above_best(1), 90.0 / 70 - 1, 1e-9);
  matrix.plans[1].figures.batch = 2;  // a longer step, a shorter sample
  EXPECT_EQ(matrix.best(), 1u);
  matrix.plans.resize(1);
  EXPECT_EQ(matrix.best(), 0u);
}

}  // namespace
}  // namespace strato
