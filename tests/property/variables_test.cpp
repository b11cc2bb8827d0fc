// Variables synchronised in random ways, over random models and strategies: programs hold, no byte
// of a gradient or a new value is lost, and entries that say what a group's mode does make the same
// program.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/program/lower/lower.h"
#include "core/sim/engine/simulate.h"
#include "tests/core/sim/expect_same.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

Strategy strategy_of(const RandomProblem& problem, Random& random, std::uint64_t seed) {
  Strategy strategy =
      seed % 3 == 0 ? random_strategy(problem, random) : random_data_parallel(problem, random);
  strategy = complete(strategy, *problem.cluster);
  if (seed % 5 == 0) strategy.splits = random_splits(problem, strategy, random);
  return strategy;
}

std::vector<VariableSync> random_variables(const RandomProblem& problem, const Strategy& strategy,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return RandomVariables{*problem.graph, *problem.grouping, *problem.cluster, random, true}
      .variables(strategy);
}

// Looks at the program with nothing but the graph and the strategy.
class VariableChecker {
 public:
  VariableChecker(const Strategy& strategy, const Program& program)
      : graph_(*program.graph), program_(program) {
    for (std::size_t i = 0; i < program.tasks.size(); ++i)
      if (program.tasks[TaskId(i)].kind == TaskKind::Update)
        updates_[program.tasks[TaskId(i)].op].push_back(&program.tasks[TaskId(i)]);
    if (!strategy.splits.empty()) return;  // split ops have slices of parameters sent to them
    for (const VariableSync& variable : strategy.variables) check(variable);
  }
  std::size_t synchronised = 0;

 private:
  // On how many devices each element of the variable is updated, and who has it in the end.
  void check(const VariableSync& variable) {
    const TensorId parameter = graph_.op(variable.update).inputs[0];
    const Tensor& tensor = graph_.tensor(parameter);
    const std::vector<const Task*>& tasks = updates_[variable.update];
    if (std::ranges::none_of(tasks,
                             [&](const Task* task) { return !program_.cuts_of(*task).empty(); }))
      return;
    ++synchronised;
    std::set<DeviceId> keepers;  // of all of it
    for (const Resident& resident : program_.residents)
      if (resident.tensor == parameter && resident.bytes == std::max(Bytes(1), tensor.bytes()))
        keepers.insert(resident.device);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) check_element(variable, keepers, i);
  }

  // `element`: counted row by row.
  bool covers(const Task& task, const Shape& shape, std::int64_t element) const {
    if (program_.cuts_of(task).empty()) return true;
    std::vector<std::int64_t> at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
      at[axis] = element % shape[axis];
    return std::ranges::all_of(program_.cuts_of(task), [&](const AxisRange& range) {
      const std::int64_t index = at[static_cast<std::size_t>(range.axis)];
      return range.begin <= index && index < range.end;
    });
  }

  void check_element(const VariableSync& variable, const std::set<DeviceId>& keepers,
                     std::int64_t element) {
    const TensorId parameter = graph_.op(variable.update).inputs[0];
    const Shape& shape = graph_.tensor(parameter).shape;
    std::set<DeviceId> has;
    std::size_t updates = 0;
    for (const Task* task : updates_[variable.update]) {
      if (!covers(*task, shape, element)) continue;
      EXPECT_EQ(program_.cuts_of(*task).size(), divided_axes(variable).size());
      EXPECT_TRUE(has.insert(task->device).second) << "an element is updated twice on a device";
      ++updates;
    }
    EXPECT_GE(updates, 1u);
    for (const Task& task : program_.tasks)
      if (task.kind == TaskKind::Transfer && task.tensor == parameter &&
          !program_.cuts_of(task).empty() && covers(task, shape, element)) {
        EXPECT_EQ(task.encoding, Encoding::None) << "new values travel as they are";
        EXPECT_TRUE(has.contains(task.device)) << "what is sent is not there";
        EXPECT_TRUE(has.insert(task.target).second) << "a device gets a new value twice";
      }
    for (const DeviceId device : keepers)
      EXPECT_TRUE(has.contains(device)) << "a replica keeps the old value";
  }

  const Graph& graph_;
  const Program& program_;
  std::map<OpId, std::vector<const Task*>> updates_;
};

TEST(Variables, EveryReplicaHasEveryNewValueOnce) {
  std::size_t synchronised = 0, encoded = 0, low_rank = 0, kept = 0, factors = 0;
  for (std::uint64_t seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Strategy strategy = strategy_of(problem, random, seed);
    strategy.variables = random_variables(problem, strategy, seed);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    LowerOptions options;
    options.verify = true;
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    VariableChecker checker(strategy, *program);
    synchronised += checker.synchronised;
    for (const Task& task : program->tasks) {
      encoded += task.encoding != Encoding::None;
      low_rank += task.encoding == Encoding::LowRank;
    }
    for (const Resident& resident : program->residents)
      kept += problem.graph->tensor(resident.tensor).producer.valid();
    for (const VariableSync& variable : strategy.variables)
      factors += variable.parts[0].encoding == Encoding::SufficientFactors;
    const Timeline timeline = Simulator().simulate(program);
    Bytes residents, peaks;
    for (const Resident& resident : program->residents) residents += resident.bytes;
    for (const auto& device : timeline.devices) peaks += device.peak;
    EXPECT_GE(peaks, residents);
  }
  EXPECT_GT(synchronised, 100u);
  EXPECT_GT(encoded, 1000u);
  EXPECT_GT(low_rank, 100u);
  EXPECT_GT(kept, 50u);
  EXPECT_GT(factors, 50u);
}

// All of a strategy's AllReduce groups, as entries.
TEST(Variables, PlainEntriesAreTheGroupsMode) {
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Strategy strategy = complete(random_data_parallel(problem, random), *problem.cluster);
    strategy.duplicated.clear();
    for (auto& group : strategy.groups)
      if (group->mode == Mode::ReplicatePs) group->mode = Mode::ReplicateAllReduce;
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const Program without = lowering.lower(strategy);
    for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
      if (parameter_of(*problem.graph, OpId(i)).valid())
        strategy.variables.push_back({OpId(i), 0, {SyncPart()}});
    expect_same(lowering.lower(strategy), without);
  }
}

// One server, as the group's mode has it.
TEST(Variables, OneServerIsTheGroupsMode) {
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Decision all{Mode::ReplicatePs, {}};
    for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
      all.devices.push_back({DeviceId(d), 1});
    Strategy strategy;
    strategy.groups.assign(problem.grouping->size(), all);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const Program without = lowering.lower(strategy);
    std::map<OpId, std::set<DeviceId>> servers;
    for (const Task& task : without.tasks)
      if (task.kind == TaskKind::Update) servers[task.op].insert(task.device);
    for (const auto& [update, devices] : servers)
      if (devices.size() == 1 && parameter_of(*problem.graph, update).valid()) {
        SyncPart part;
        part.synchroniser = Synchroniser::Ps;
        part.server = *devices.begin();
        strategy.variables.push_back({update, 0, {part}});
      }
    expect_same(lowering.lower(strategy), without);
  }
}

// Whatever was lowered before, the program is the same.
TEST(Variables, OneLoweringServesManyStrategies) {
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    for (std::uint64_t round = 0; round < 8; ++round) {
      Strategy strategy = strategy_of(problem, random, round);
      if (round % 3 != 1)
        strategy.variables = random_variables(problem, strategy, 100 * seed + round);
      Lowering fresh(problem.graph, problem.grouping, problem.cluster, problem.cost);
      expect_same(lowering.lower(strategy), fresh.lower(strategy));
    }
  }
}

}  // namespace
}  // namespace strato
