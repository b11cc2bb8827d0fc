// Variables of a model, and how plans divide them.
#include "plugins/planners/learned/autodist/plan/sync_task.h"

#include "tests/plugins/planners/learned/autodist/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::autodist {
namespace {

TEST(SyncTask, ListsVariablesInTheOrderOfTheirGradients) {
  const Ground ground;
  const Graph& graph = *ground.problem.graph;
  ASSERT_EQ(ground.task.variables.size(), 6u);
  for (std::size_t v = 0; v < 6; ++v) {
    const Variable& variable = ground.task.variables[v];
    EXPECT_EQ(graph.tensor(variable.parameter).name, "w" + std::to_string(5 - v));
    EXPECT_EQ(variable.bytes, graph.tensor(variable.parameter).bytes());
    EXPECT_FALSE(variable.sparse);
    EXPECT_GT(variable.ready, v == 0 ? 0 : ground.task.variables[v - 1].ready);
    EXPECT_LE(variable.ready, 1);
  }
}

// Gradients are made in the order in which a device gets to them, not that of the graph's ops: what
// is added last in the forward pass has its gradient first, also where its lookup comes first.
TEST(SyncTask, AGradientIsThereWhenWhatItDependsOnIs) {
  const Ground ground(sample("ncf", 1024, "autodist-b7"));
  const Graph& graph = *ground.problem.graph;
  const auto place = [&](std::string_view name) {
    for (std::size_t v = 0; v < ground.task.variables.size(); ++v)
      if (graph.tensor(ground.task.variables[v].parameter).name == name) return v;
    return ground.task.variables.size();
  };
  EXPECT_LT(place("result.weight"), place("user_factors.weight"));
  EXPECT_LT(place("user_factors.weight"), place("user_features.weight"));
  EXPECT_LT(place("item_factors.weight"), place("item_features.weight"));
  EXPECT_LT(place("item_factors.weight"), place("layers.0.weight"));
  EXPECT_LT(place("layers.0.weight"), place("user_features.weight"));
  ASSERT_LT(place("user_features.weight"), ground.task.variables.size());
}

TEST(SyncTask, KnowsMachinesAndReplicas) {
  const Ground ground(3, 2);
  EXPECT_EQ(ground.task.devices.size(), 5u);
  ASSERT_EQ(ground.task.machines.size(), 3u);
  EXPECT_EQ(ground.task.machines[0].size(), 3u);
  EXPECT_EQ(ground.task.machine_of[4], 2u);
}

TEST(SyncTask, GradientsOfLookupsAreSparse) {
  const Ground ground(lookup_problem(toy::small_cluster(2, 0), 10'000, 16));
  ASSERT_EQ(ground.task.variables.size(), 4u);
  const Variable& table = ground.task.variables.back();
  EXPECT_TRUE(table.sparse);
  EXPECT_EQ(table.rows_bytes, Bytes(32 * (16 * 4 + 8)));
  for (std::size_t v = 0; v < 3; ++v) EXPECT_FALSE(ground.task.variables[v].sparse) << v;
}

TEST(SyncTask, LookupsMayCountAsDense) {
  const Problem problem = lookup_problem(toy::small_cluster(2, 0), 1000, 16);
  const SyncTask task(problem, data_parallel(problem), false);
  for (const Variable& variable : task.variables) EXPECT_FALSE(variable.sparse);
}

TEST(SyncTask, AnEmbeddingThatIsAlsoAProductsOperandIsDense) {
  // Its gradient is a sum of rows and of a full matrix.
  const Ground ground(sample("bert_small", 16, "tag-cloud"));
  std::size_t sparse = 0;
  for (const Variable& variable : ground.task.variables) {
    sparse += variable.sparse;
    const Op& made_by =
        ground.problem.graph->op(ground.problem.graph->tensor(variable.gradient).producer);
    EXPECT_EQ(variable.sparse, made_by.type == "GatherGrad");
  }
  EXPECT_LT(sparse, 4u);
}

TEST(SyncTask, PartsAreAsEqualAsCanBeAndMakeUpTheVariable) {
  Variable variable;
  variable.shape = {7, 3};
  variable.bytes = Bytes(84);
  for (const int axis : {0, 1})
    for (std::int64_t parts = 1; parts <= 9; ++parts) {
      const VariableSync sync = in_parts(variable, axis, parts, {});
      EXPECT_EQ(std::ssize(sync.parts), std::min<std::int64_t>(parts, axis == 0 ? 7 : 3));
      Bytes sum;
      for (std::size_t p = 0; p < sync.parts.size(); ++p) {
        sum += part_bytes(variable, sync, p);
        EXPECT_GE(part_bytes(variable, sync, 0), part_bytes(variable, sync, p));
      }
      EXPECT_EQ(sum, variable.bytes);
    }
}

TEST(SyncTask, AScalarHasOnePart) {
  Variable variable;
  variable.bytes = Bytes(4);
  EXPECT_TRUE(variable.axes().empty());
  EXPECT_EQ(in_parts(variable, 0, 5, {}).parts.size(), 1u);
  EXPECT_EQ(part_bytes(variable, in_parts(variable, 0, 5, {}), 0), Bytes(4));
}

}  // namespace
}  // namespace strato::autodist
