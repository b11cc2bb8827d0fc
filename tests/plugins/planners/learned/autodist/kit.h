// Tasks for the tests of AutoDist, and what every plan has to keep to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/build/graph_builder.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "tests/core/search/toy.h"

namespace strato::autodist {

// An embedding of `rows` x `width`, then matrix products of `width` x `width`; trained.
inline Problem lookup_problem(std::shared_ptr<const Cluster> cluster, std::int64_t rows,
                              std::int64_t width, int layers = 3, std::int64_t batch = 32) {
  GraphBuilder builder("lookup", batch);
  const auto tensor = [&](const std::string& name, TensorRole role, Shape shape, DataType type) {
    return builder.add_tensor({.name = name,
                               .type = type,
                               .role = role,
                               .shape = std::move(shape),
                               .producer = {},
                               .batch = {},
                               .data = {}});
  };
  const auto op = [&](const std::string& name, const std::string& type,
                      std::vector<TensorId> inputs, TensorId output) {
    Op made;
    made.name = name;
    made.type = type;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    builder.add_op(made);
  };
  const TensorId ids = tensor("ids", TensorRole::Input, {batch}, DataType::I64);
  const TensorId table = tensor("table", TensorRole::Parameter, {rows, width}, DataType::F32);
  TensorId at = tensor("e", TensorRole::Activation, {batch, width}, DataType::F32);
  op("embedding", "Gather", {table, ids}, at);
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const TensorId w = tensor("w" + n, TensorRole::Parameter, {width, width}, DataType::F32);
    const TensorId y = tensor("y" + n, TensorRole::Activation, {batch, width}, DataType::F32);
    op("product" + n, "MatMul", {at, w}, y);
    at = y;
  }
  return make_problem(std::move(builder).build(), std::move(cluster), {});
}

// Problem and task together; the first variables of the chain are small, one is large.
struct Ground {
  explicit Ground(Problem given)
      : problem(std::move(given)), task(problem, data_parallel(problem)) {}
  explicit Ground(int fast = 2, int slow = 2)
      : Ground(make_problem(toy::chain({64, 64, 4096, 4096, 8, 8, 256}, 32),
                            toy::small_cluster(fast, slow), {})) {}
  Problem problem;
  SyncTask task;
};

inline void expect_sound(const SyncTask& task, const SyncPlan& plan) {
  ASSERT_EQ(plan.size(), task.variables.size());
  std::map<std::int32_t, DataType> type_of;
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    const NodeConfig& sync = plan[v];
    ASSERT_EQ(sync.update, variable.update);
    ASSERT_GE(sync.parts.size(), 1u);
    ASSERT_LE(std::ssize(sync.parts), variable.most_parts(sync.axis));
    if (sync.sharded) {
      EXPECT_TRUE(variable.sharded.has_value());
      EXPECT_EQ(sync.parts, std::vector<SyncPart>(1));
    }
    for (const SyncPart& part : sync.parts) {
      EXPECT_FALSE(is_lossy(part.encoding));
      EXPECT_TRUE(part.encoding == Encoding::None || variable.sparse);
      EXPECT_TRUE(part.encoding == Encoding::None || sync.parts.size() == 1 || sync.axis == 0);
      EXPECT_TRUE(part.sequence.empty());
      if (part.synchroniser == Synchroniser::AllReduce) {
        EXPECT_FALSE(part.server.valid());
        EXPECT_TRUE(part.stations.empty());
        EXPECT_TRUE(part.merge_group < 0 || part.encoding == Encoding::None);
        if (part.merge_group >= 0) {
          EXPECT_EQ(type_of.try_emplace(part.merge_group, variable.type).first->second,
                    variable.type);
        }
        continue;
      }
      EXPECT_EQ(part.merge_group, -1);
      ASSERT_TRUE(part.server.valid());
      ASSERT_LT(part.server.index(), task.machine_of.size());
      std::set<std::size_t> machines;
      for (const DeviceId station : part.stations)
        EXPECT_TRUE(machines.insert(task.machine_of[station.index()]).second);
      EXPECT_FALSE(machines.contains(task.machine_of[part.server.index()]));
      EXPECT_TRUE(std::ranges::is_sorted(part.stations));
    }
  }
  const Strategy strategy = strategy_of(task, plan);
  validate(strategy, *task.problem.grouping, *task.problem.cluster);
  EXPECT_TRUE(std::ranges::is_sorted(strategy.variables, {}, &VariableSync::update));
  EXPECT_TRUE(std::ranges::is_sorted(strategy.splits, {}, &OpSplit::op));
}

}  // namespace strato::autodist
