#include "tests/plugins/engines/rank/net_problem.h"

#include <algorithm>
#include <cmath>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/value/cost_model.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/property/random_model.h"

namespace strato {

bool is_trained(TensorRole role) {
  return role == TensorRole::Parameter || role == TensorRole::OptimizerState;
}

std::vector<double> values_of(const std::string& bytes, DataType type) {
  if (type == DataType::F64) return numbers(bytes);
  CHECK(type == DataType::F32, "numbers of another type");
  const std::vector<float> floats = numbers<float>(bytes);
  return {floats.begin(), floats.end()};
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

Reference::Reference(std::shared_ptr<const Graph> of) : graph(std::move(of)) {
  const auto execution = prepared(graph, kRate, kSeed);
  for (const Op& op : graph->ops()) {
    if (op.phase == Phase::Loss) loss_tensor = op.outputs[0];
  }
  if (loss_tensor.valid()) execution->keep(loss_tensor);
  for (int step = 0; step < kSteps; ++step) execution->run_step();
  if (loss_tensor.valid())
    loss = values_of(execution->read(loss_tensor), graph->tensor(loss_tensor).type).at(0);
  for (std::size_t i = 0; i < graph->tensor_count(); ++i) {
    const Tensor& tensor = graph->tensor(TensorId(i));
    elements.push_back(is_trained(tensor.role)
                           ? values_of(execution->read(TensorId(i)), tensor.type)
                           : std::vector<double>());
  }
}

Strategy any_strategy(const RandomProblem& problem, Random& random) {
  Strategy strategy = random.below(3) == 0 ? random_data_parallel(problem, random)
                                           : random_strategy(problem, random);
  strategy.splits = random_splits(problem, strategy, random);
  duplicate_batch_norm(*problem.graph, strategy);
  return strategy;
}

Strategy on_meshes(const RandomProblem& problem, Random& random) {
  Strategy strategy = with_meshes(problem, random_strategy(problem, random), random);
  duplicate_batch_norm(*problem.graph, strategy);
  return strategy;
}

bool has_batch_norm(const Graph& graph) {
  return std::ranges::any_of(
      graph.ops(), [](const Op& op) { return op.type.starts_with("BatchNormalization"); });
}

Strategy in_micro_batches(const RandomProblem& problem, Strategy strategy, Random& random) {
  const Graph& graph = *problem.graph;
  strategy.micro_batches = random_micro_batches(graph, random).value();
  std::erase_if(strategy.splits,
                [&](const OpSplit& split) { return graph.op(split.op).phase != Phase::Update; });
  return strategy;
}

namespace {

void keep_halves_only(Strategy& strategy) {
  for (VariableSync& variable : strategy.variables) {
    variable.staleness = 0;
    for (SyncPart& part : variable.parts)
      if (is_lossy(part.encoding)) part.encoding = Encoding::Half;
  }
}

}  // namespace

Strategy any_synchronisation(const RandomProblem& problem, Random& random, Messages messages) {
  Decision all;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    if (random.below(4) != 0 || d < 2)
      all.devices.push_back({DeviceId(d), 1 + static_cast<std::int32_t>(random.below(2))});
  Strategy strategy;
  strategy.groups.assign(problem.grouping->size(), all);
  for (auto& group : strategy.groups)
    if (random.below(3) == 0) group->mode = Mode::ReplicatePs;
  if (random.below(3) == 0) strategy.bucket = Bytes(256);
  duplicate_batch_norm(*problem.graph, strategy);
  std::mt19937_64 numbers(random.below(1'000'000));
  RandomVariables any{*problem.graph, *problem.grouping, *problem.cluster, numbers,
                      messages != Messages::Exact};
  strategy.variables = any.variables(strategy);
  if (messages == Messages::Half) keep_halves_only(strategy);
  return strategy;
}

std::vector<TaskId> random_order(const Program& program, Random& random) {
  std::vector<std::size_t> missing(program.tasks.size());
  std::vector<std::vector<TaskId>> next(program.tasks.size());
  std::vector<TaskId> ready, order;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    missing[i] = program.dependencies[i].size();
    for (const TaskId before : program.dependencies[i]) next[before.index()].push_back(TaskId(i));
    if (missing[i] == 0) ready.push_back(TaskId(i));
  }
  while (!ready.empty()) {
    std::swap(ready[random.below(ready.size())], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const TaskId task : next[order.back().index()]) {
      if (--missing[task.index()] == 0) ready.push_back(task);
    }
  }
  return order;
}

}  // namespace strato
