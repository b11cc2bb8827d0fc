// Ops split along random axes, over random models and strategies: every part reads exactly the
// slices that its axis asks for, everything else reads whole tensors, and no work is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/axes/split_axes.h"
#include "core/program/lower/lower.h"
#include "core/program/value/tables.h"
#include "core/sim/engine/simulate.h"
#include "tests/core/sim/expect_same.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

std::int64_t part_of(std::int64_t all, std::int64_t from, std::int64_t to, std::int64_t extent) {
  return std::max<std::int64_t>(1, all * to / extent - all * from / extent);
}

// Looks at the program with nothing but the graph and the strategy.
class SplitChecker {
 public:
  SplitChecker(const RandomProblem& problem, const Strategy& strategy, const Program& program)
      : problem_(problem), strategy_(strategy), graph_(*problem.graph), program_(program) {}

  void check() {
    for (const OpSplit& split : strategy_.splits) check_split(split);
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) check_whole(TaskId(i));
    check_parameters();
  }

 private:
  bool computes(const Task& task, OpId op) const {
    return task.op == op && (task.kind == TaskKind::Compute || task.kind == TaskKind::Update);
  }

  void check_split(const OpSplit& split) {
    split_.insert(split.op);
    const Op& op = graph_.op(split.op);
    const TensorId made = op.outputs.empty() ? op.inputs[0] : op.outputs[0];
    const std::int64_t extent = graph_.tensor(made).shape[static_cast<std::size_t>(split.axis)];
    std::vector<SplitAxis> axes = split_axes(graph_, split.op);
    const SplitAxis axis = *std::find_if(
        axes.begin(), axes.end(), [&](const SplitAxis& known) { return known.axis == split.axis; });
    const std::vector<std::int64_t> sizes = apportion(extent, split.parts);
    std::map<DeviceId, std::pair<std::int64_t, std::int64_t>> range;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < sizes.size(); from += sizes[i++])
      if (sizes[i] > 0) range[split.parts[i].device] = {from, from + sizes[i]};
    std::size_t tasks = 0;
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
      if (!computes(program_.tasks[TaskId(i)], split.op)) continue;
      ++tasks;
      const auto at = range.find(program_.tasks[TaskId(i)].device);
      ASSERT_NE(at, range.end());
      check_part(TaskId(i), axis, at->second.first, at->second.second, extent);
    }
    EXPECT_EQ(tasks, range.size());
  }

  void check_part(TaskId id, const SplitAxis& axis, std::int64_t from, std::int64_t to,
                  std::int64_t extent) {
    const Task& task = program_.tasks[id];
    const bool all_of_it = to - from == extent;  // the only part: the op is whole
    const AxisRange range = program_.range_of(task);
    EXPECT_EQ(range.axis, all_of_it ? -1 : axis.axis);
    EXPECT_EQ(range.begin, from);
    EXPECT_EQ(range.size(), all_of_it ? graph_.batch() : to - from);
    const Op& op = graph_.op(task.op);
    const GpuTypeId gpu = problem_.cluster->device(task.device).type;
    const std::int64_t all =
        std::max<std::int64_t>(1, problem_.cost->compute(task.op, gpu, graph_.batch()).value);
    const std::int64_t share = (all * (to - from) + extent - 1) / extent;
    EXPECT_GE(task.duration.value, share);
    EXPECT_LE(task.duration.value, all);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const bool twice = std::count(op.inputs.begin(), op.inputs.end(), op.inputs[i]) > 1;
      if (twice || !op.inputs[i].valid()) continue;
      const std::int64_t bytes = bytes_of(op.inputs[i]);
      expect_read(id, op.inputs[i], axis.inputs[i] < 0 ? bytes : part_of(bytes, from, to, extent));
    }
    const auto writes = program_.writes[id.index()];
    ASSERT_EQ(writes.size(), op.outputs.size());
    for (std::size_t o = 0; o < writes.size(); ++o)
      EXPECT_EQ(program_.buffers[writes[o]].bytes.value,
                part_of(bytes_of(op.outputs[o]), from, to, extent));
  }

  // Ops that are not split and not sharded read all of what they read.
  void check_whole(TaskId id) {
    const Task& task = program_.tasks[id];
    if (task.kind != TaskKind::Compute && task.kind != TaskKind::Update) return;
    if (split_.contains(task.op) || program_.range_of(task).size() != graph_.batch()) return;
    for (const TensorId input : graph_.op(task.op).inputs)
      if (input.valid()) expect_read(id, input, bytes_of(input));
  }

  std::int64_t bytes_of(TensorId tensor) const {
    return std::max<std::int64_t>(1, graph_.tensor(tensor).bytes().value);
  }

  // What comes from an op, through views, is read from a buffer on the device; sums over part of
  // the batch have the bytes of the whole.
  void expect_read(TaskId id, TensorId tensor, std::int64_t bytes) {
    TensorId root = tensor;
    while (graph_.tensor(root).producer.valid() && is_alias(graph_, graph_.tensor(root).producer))
      root = graph_.op(graph_.tensor(root).producer).inputs[0];
    if (!graph_.tensor(root).producer.valid()) return;
    const auto reads = program_.reads[id.index()];
    EXPECT_TRUE(
        std::any_of(reads.begin(), reads.end(),
                    [&](BufferId buffer) { return program_.buffers[buffer].bytes.value == bytes; }))
        << program_.task_name(id) << " reads " << graph_.tensor(tensor).name;
  }

  // Of a parameter whose update is split each device has its slice, and nobody else has any.
  void check_parameters() {
    for (const OpSplit& split : strategy_.splits) {
      const Op& op = graph_.op(split.op);
      if (op.phase != Phase::Update) continue;
      for (const TensorId tensor : op.inputs) {
        if (graph_.tensor(tensor).producer.valid()) continue;
        Bytes bytes;
        for (const Resident& resident : program_.residents)
          if (resident.tensor == tensor) bytes += resident.bytes;
        EXPECT_EQ(bytes, Bytes(bytes_of(tensor))) << graph_.tensor(tensor).name;
      }
    }
  }

  const RandomProblem& problem_;
  const Strategy& strategy_;
  const Graph& graph_;
  const Program& program_;
  std::set<OpId> split_;
};

TEST(Splits, PartsReadTheirSlicesAndOthersReadWholeTensors) {
  std::size_t splits = 0, joined = 0;
  for (std::uint64_t seed = 0; seed < 900 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Strategy strategy =
        seed % 3 == 0 ? random_data_parallel(problem, random) : random_strategy(problem, random);
    strategy.splits = random_splits(problem, strategy, random);
    validate(strategy, *problem.grouping, *problem.cluster);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    LowerOptions options;
    options.verify = true;
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    SplitChecker(problem, strategy, *program).check();
    splits += strategy.splits.size();
    joined += static_cast<std::size_t>(
        std::count_if(program->tasks.begin(), program->tasks.end(),
                      [](const Task& task) { return task.kind == TaskKind::Concat; }));

    Simulator simulator;
    const Timeline timeline = simulator.simulate(program);
    Bytes parameters;
    for (const Resident& resident : program->residents) parameters += resident.bytes;
    Bytes peaks;
    for (const auto& device : timeline.devices) peaks += device.peak;
    EXPECT_GE(peaks, parameters);
  }
  EXPECT_GT(splits, 2000u);
  EXPECT_GT(joined, 2000u);
}

// Replicas on all devices that keep every parameter in parts (ZeRO), as far as updates can be
// split.
Strategy random_sharded(const RandomProblem& problem, Random& random) {
  Strategy strategy;
  Decision all;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    all.devices.push_back({DeviceId(d), 1 + static_cast<std::int32_t>(random.below(2))});
  strategy.groups.assign(problem.grouping->size(), all);
  if (random.below(2) == 0) strategy.bucket = Bytes(64);
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const std::vector<SplitAxis> axes = split_axes(*problem.graph, OpId(i));
    if (problem.graph->op(OpId(i)).phase != Phase::Update || axes.empty()) continue;
    const int axis = axes[random.below(axes.size())].axis;
    if (all.devices.size() >= 2) strategy.splits.push_back({OpId(i), axis, all.devices});
  }
  return strategy;
}

std::set<DeviceId> devices_of(const Program& program, OpId op) {
  std::set<DeviceId> devices;
  for (const Task& task : program.tasks)
    if (task.op == op && (task.kind == TaskKind::Compute || task.kind == TaskKind::Update))
      devices.insert(task.device);
  return devices;
}

// How often a tensor is moved by tasks of each kind.
std::map<TaskKind, int> moves_of(const Program& program, TensorId tensor) {
  std::map<TaskKind, int> moves;
  for (const Task& task : program.tasks)
    if (task.tensor == tensor) ++moves[task.kind];
  return moves;
}

bool is_sum_of_shards(const Program& program, TensorId gradient) {
  const Graph& graph = *program.graph;
  if (graph.tensor(gradient).batch.kind != BatchKind::Partial) return false;
  for (const Task& task : program.tasks)
    if (task.op == graph.tensor(gradient).producer && task.kind == TaskKind::Compute)
      return program.samples_of(task) < graph.batch();
  return false;
}

// What replicas with split updates synchronise travels by one collective a direction, wherever the
// same devices compute and update.
TEST(Splits, ReplicasThatUpdatePartsScatterAndGather) {
  std::size_t scattered = 0, gathered = 0;
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    const Strategy strategy = random_sharded(problem, random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    LowerOptions options;
    options.verify = true;
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    SplitChecker(problem, strategy, *program).check();
    Simulator().simulate(program);
    for (const OpSplit& split : strategy.splits) {
      const Op& update = problem.graph->op(split.op);
      const TensorId parameter = update.inputs[0], gradient = update.inputs[1];
      const std::set<DeviceId> keepers = devices_of(*program, split.op);
      if (keepers.size() < 2) continue;
      std::map<TaskKind, int> moves = moves_of(*program, gradient);
      const OpId maker = problem.graph->tensor(gradient).producer;
      if (is_sum_of_shards(*program, gradient) && devices_of(*program, maker) == keepers &&
          problem.graph->consumers(gradient).size() == 1) {
        EXPECT_EQ(moves, (std::map<TaskKind, int>{{TaskKind::ReduceScatter, 1}}));
        ++scattered;
      }
      std::set<DeviceId> readers;
      bool views = false;
      for (const OpId reader : problem.graph->consumers(parameter)) {
        views = views || is_alias(*problem.graph, reader);
        if (reader != split.op) readers.merge(devices_of(*program, reader));
      }
      if (readers != keepers || views) continue;
      moves = moves_of(*program, parameter);
      EXPECT_EQ(moves, (std::map<TaskKind, int>{{TaskKind::AllGather, 1}}));
      ++gathered;
    }
  }
  EXPECT_GT(scattered, 200u);
  EXPECT_GT(gathered, 200u);
}

// Whatever was lowered before, and with or without a fold, the program is the same.
TEST(Splits, OneLoweringServesManyStrategies) {
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_model_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    for (int round = 0; round < 8; ++round) {
      Strategy strategy = random_strategy(problem, random);
      if (random.below(3) != 0) strategy.splits = random_splits(problem, strategy, random);
      if (random.below(3) == 0) strategy = random_sharded(problem, random);
      Lowering fresh(problem.graph, problem.grouping, problem.cluster, problem.cost);
      expect_same(lowering.lower(strategy), fresh.lower(strategy));
    }
  }
}

}  // namespace
}  // namespace strato
