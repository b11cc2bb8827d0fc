// Bounded staleness as it is executed: what ranks train is what a loop by hand makes of one
// device's gradients, each applied as many steps later as VariableSync::staleness says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/program/lower/lower.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/strategy/value/variable_check.h"
#include "tests/plugins/engines/rank/by_hand.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/rank/staged_run.h"
#include "tests/plugins/engines/torch/small_model.h"

namespace strato {
namespace {

// On all ranks that have all of it; how many parameters that were.
template <class Expected>
std::size_t expect_parameters(InProcessRun& run, const Graph& graph, const Expected& expected,
                              double limit = 1e-9) {
  std::size_t seen = 0;
  for (std::size_t r = 0; r < run.programs().ranks.size(); ++r) {
    const RankProgram& program = run.programs().ranks[r];
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      const Value& value = program.values[ValueId(i)];
      const Tensor& tensor = graph.tensor(value.tensor);
      const bool trained = tensor.role == TensorRole::Parameter && value.resident &&
                           value.part.is_whole() && graph.update_of(value.tensor).valid();
      if (!trained) continue;
      ++seen;
      const Doubles found = numbers(run.rank(r).read(ValueId(i)));
      const Doubles& wanted = expected(value.tensor);
      EXPECT_EQ(found.size(), wanted.size());
      double worst = 0;
      for (std::size_t e = 0; e < found.size(); ++e)
        worst = std::max(worst, std::abs(found[e] - wanted[e]));
      EXPECT_LE(worst, limit * std::max(1.0, largest(wanted)))
          << "rank " << r << ": " << tensor.name;
    }
  }
  return seen;
}

class StaleRanks : public testing::TestWithParam<int> {};

TEST_P(StaleRanks, TrainAsTheLoopByHand) {
  constexpr int kManySteps = 5;
  const auto optimizer = static_cast<Optimizer>(GetParam() % 3);
  Random random(static_cast<std::uint64_t>(GetParam()) + 400);
  std::size_t seen = 0, late = 0;
  for (const SmallNet& net : small_nets(7, optimizer)) {
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
      const RandomProblem problem = problem_of(net.graph, random);
      const Strategy strategy = stale_strategy(problem, random);
      const auto lateness = lateness_of(problem, strategy);
      late += lateness.size();
      ByHand by_hand(net.graph, optimizer, lateness);
      for (int step = 0; step < kManySteps; ++step) by_hand.run_step();
      const auto run = staged_run(problem, strategy, random, kManySteps);
      seen += expect_parameters(*run, *net.graph,
                                [&](TensorId of) -> const Doubles& { return by_hand.value(of); });
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(seen, 20u);
  EXPECT_GT(late, 5u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StaleRanks, testing::Range(0, 4));

// ---- messages of a low rank

constexpr std::int64_t kInputs = 16, kOutputs = 24;

// One matrix whose gradient's rank is the batch, or all there is.
std::shared_ptr<const Graph> one_matrix(std::int64_t batch, std::int64_t inputs = kInputs,
                                        std::int64_t outputs = kOutputs) {
  SmallModel model(batch);
  const TensorId x = model.tensor("x", TensorRole::Input, {batch, inputs});
  const TensorId y = model.op("MatMul", {x, model.weight({inputs, outputs})});
  model.op("Mul", {y, y});
  return std::move(model).training();
}

struct TwoReplicas {
  explicit TwoReplicas(std::int64_t batch) : TwoReplicas(one_matrix(batch)) {}
  explicit TwoReplicas(std::shared_ptr<const Graph> graph) : problem(make(std::move(graph))) {
    strategy.groups.assign(
        problem.grouping->size(),
        Decision{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}}});
    for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
      if (parameter_of(*problem.graph, OpId(i)).valid()) update = OpId(i);
    parameter = problem.graph->op(update).inputs[0];
  }
  static RandomProblem make(std::shared_ptr<const Graph> graph) {
    Random random(3);
    RandomProblem problem = problem_of(graph, random);
    while (problem.cluster->device_count() < 2) problem = problem_of(graph, random);
    return problem;
  }
  Doubles trained(SyncPart part, int steps) {
    part.encoding = Encoding::LowRank;
    strategy.variables = {{update, 0, {part}}};
    Random random(7);
    const auto run = staged_run(problem, strategy, random, steps);
    Doubles first;
    expect_parameters(*run, *problem.graph, [&](TensorId) -> const Doubles& {
      if (first.empty()) first = numbers(run->rank(0).read(whole_value(*run)));
      return first;
    });
    return first;
  }
  ValueId whole_value(InProcessRun& run) const {
    const auto& values = run.programs().ranks[0].values;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[ValueId(i)].tensor == parameter && values[ValueId(i)].resident) return ValueId(i);
    return {};
  }

  RandomProblem problem;
  Strategy strategy;
  OpId update;
  TensorId parameter;
};

const SyncPart kReduced;
const SyncPart kServed{Synchroniser::Ps, Encoding::None, DeviceId(1), {}, -1, {}};

// A replica has its parameter, the gradient of this step and the one that it kept, as the simulator
// counts, and at no moment a copy of one of them.
TEST(Staleness, AGradientIsKeptInThePlaceOfTheOneBefore) {
  constexpr std::int64_t kSide = 384;
  const Bytes matrix(kSide * kSide * 8);
  TwoReplicas two(one_matrix(2, kSide, kSide));
  two.strategy.variables = {{two.update, 0, {kServed}}};
  two.strategy.variables[0].staleness = 1;
  const RandomProblem& problem = two.problem;
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  const Program program = lowering.lower(two.strategy);
  Random random(3);
  const RankPrograms programs = rank_programs(program, random_order(program, random));
  const auto own = std::make_shared<const RankProgram>(programs.ranks[0]);
  EngineOptions options;
  options.learning_rate = kRate;
  const auto execution = rank_engine().prepare(problem.graph, own, options);
  for (int step = 1; step <= 2; ++step) {
    execution->begin_step(step);
    for (std::size_t i = 0; i < own->instructions.size(); ++i) {
      if (own->instructions[i].stream == Stream::Compute) execution->run(i);
      for (const ValueId id : own->releases[i]) execution->release(id);
    }
  }
  EXPECT_GE(execution->peak_memory(), 3 * matrix);
  EXPECT_LT(execution->peak_memory(), 3 * matrix + matrix / 4);
}

// Four samples a replica: their terms' rank is four at most.
TEST(LowRank, IsExactForTermsOfThatRank) {
  for (const std::int64_t batch : {2, 6, 8}) {
    TwoReplicas two(batch);
    const Reference reference(two.problem.graph);
    for (const SyncPart& part : {kReduced, kServed}) {
      const Doubles found = two.trained(part, kSteps);
      const Doubles& expected = reference.elements[two.parameter];
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-9 * largest(expected));
    }
  }
}

// By elimination: how many rows are left.
int rank_of(Doubles matrix, std::size_t rows, std::size_t columns) {
  const double tiny = 1e-9 * largest(matrix);
  std::size_t rank = 0;
  for (std::size_t c = 0; c < columns && rank < rows; ++c) {
    std::size_t pivot = rank;
    for (std::size_t r = rank; r < rows; ++r)
      if (std::abs(matrix[r * columns + c]) > std::abs(matrix[pivot * columns + c])) pivot = r;
    if (std::abs(matrix[pivot * columns + c]) < tiny) continue;
    for (std::size_t k = 0; k < columns; ++k)
      std::swap(matrix[rank * columns + k], matrix[pivot * columns + k]);
    for (std::size_t r = rank + 1; r < rows; ++r) {
      const double factor = matrix[r * columns + c] / matrix[rank * columns + c];
      for (std::size_t k = c; k < columns; ++k)
        matrix[r * columns + k] -= factor * matrix[rank * columns + k];
    }
    ++rank;
  }
  return static_cast<int>(rank);
}

double length(const Doubles& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// The gradient that was applied is a projection of each term: of rank four each, shorter than it,
// and nearer to it than zero is.
TEST(LowRank, IsAProjectionOfEachTerm) {
  TwoReplicas two(32);
  ByHand exact(two.problem.graph, Optimizer::Sgd, {});
  const Doubles before = exact.value(two.parameter);
  exact.run_step();
  Doubles gradient = before, applied = before, lost = before;
  const Doubles after = two.trained(kReduced, 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    gradient[i] = (before[i] - exact.value(two.parameter)[i]) / kRate;
    applied[i] = (before[i] - after[i]) / kRate;
    lost[i] = gradient[i] - applied[i];
  }
  EXPECT_EQ(rank_of(gradient, kInputs, kOutputs), 16);
  EXPECT_EQ(rank_of(applied, kInputs, kOutputs), 8);
  EXPECT_GT(length(lost), 1e-3 * length(gradient));
  EXPECT_LT(length(lost), 0.9 * length(gradient));
}

}  // namespace
}  // namespace strato
