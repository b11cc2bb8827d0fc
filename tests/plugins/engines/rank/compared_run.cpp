#include "tests/plugins/engines/rank/compared_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/program/lower/lower.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "tests/plugins/engines/rank/staged_run.h"
#include "tests/plugins/engines/torch/small_model.h"

namespace strato {
namespace {

// The elements that a slice has of all.
std::vector<double> part_of(const std::vector<double>& all, const Tensor& tensor,
                            const Part& part) {
  if (part.is_whole()) return all;
  std::vector<double> held;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (holds_element(part, tensor.shape, i)) held.push_back(all[i]);
  return held;
}

}  // namespace

void expect_same(const std::vector<double>& found, const std::vector<double>& expected,
                 const std::string& what, double limit) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  // Adam makes steps of the rounding of gradients that are zero (a bias before a normalisation).
  const double scale = std::max(largest(expected), 1.0);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  EXPECT_LE(worst, limit * scale) << what;
}

void expect_trained_alike(InProcessRun& run, const Reference& reference, double limit) {
  for (std::size_t r = 0; r < run.programs().ranks.size(); ++r) {
    const RankProgram& program = run.programs().ranks[r];
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      const Value& value = program.values[ValueId(i)];
      const Tensor& tensor = reference.graph->tensor(value.tensor);
      if (!value.resident || !is_trained(tensor.role)) continue;
      if (limit > 1e-9 && tensor.role != TensorRole::Parameter) continue;
      expect_same(numbers(run.rank(r).read(ValueId(i))),
                  part_of(reference.elements[value.tensor], tensor, value.part),
                  "rank " + std::to_string(r) + ": " + tensor.name + " " + describe(value.part),
                  limit);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// What ranks report of the loss adds up, also where several compute the same.
void expect_same_loss(InProcessRun& run, const Reference& reference) {
  if (!reference.loss_tensor.valid()) return;
  double sum = 0;
  for (std::size_t r = 0; r < run.programs().ranks.size(); ++r)
    sum += run.rank(r).loss().value_or(0);
  EXPECT_NEAR(sum, reference.loss, 1e-9 * std::max(1.0, std::abs(reference.loss)));
}

std::ptrdiff_t run_and_compare(const RandomProblem& problem, const Strategy& strategy,
                               const Reference& reference, Random& random) {
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  const Program program = lowering.lower(strategy);
  const auto programs =
      std::make_shared<const RankPrograms>(rank_programs(program, random_order(program, random)));
  check_termination(*programs, "plan");
  EngineOptions options;
  options.seed = kSeed;
  options.learning_rate = kRate;
  InProcessRun run(programs, rank_engine(), options);
  for (int step = 1; step <= kSteps; ++step) run.run_step(step, random);
  expect_trained_alike(run, reference);
  expect_same_loss(run, reference);
  return std::ranges::count(program.tasks, true, &Task::again);
}

}  // namespace strato
