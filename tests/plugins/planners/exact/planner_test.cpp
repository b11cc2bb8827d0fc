// Coarsening, and the planner as it is shipped.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "plugins/planners/search/exact/coarsen.h"
#include "plugins/planners/search/exact/exact.h"
#include "tests/plugins/planners/exact/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::exact {
namespace {

PlanResult plan(const Problem& problem, std::map<std::string, std::string> set,
                bool floor = false) {
  PlannerOptions options;
  options.set = std::move(set);
  options.floor = floor;
  Observer quiet;
  return run_planner(*registry().planner("exact"), problem, options, quiet, {});
}

std::string fact(const PlanResult& result, const std::string& name) {
  for (const PlanResult::Fact& fact : result.facts)
    if (fact.name == name) return fact.value;
  return "";
}

TEST(ContractBlocks, random_dags_stay_without_cycles) {
  Random random(1);
  for (int k = 0; k < 200; ++k) {
    const std::size_t vertices = 1 + random.below(40), parts = 1 + random.below(10);
    std::vector<double> weights;
    for (std::size_t v = 0; v < vertices; ++v)
      weights.push_back(static_cast<double>(random.below(9)));
    std::vector<BlockEdge> edges;
    for (std::size_t a = 0; a < vertices; ++a)
      for (std::size_t b = a + 1; b < vertices; ++b)
        if (random.below(10) == 0)
          edges.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                           static_cast<double>(random.below(5))});
    const std::vector<std::int32_t> block = contract_blocks(weights, edges, parts);
    EXPECT_LE(std::set(block.begin(), block.end()).size(), std::max<std::size_t>(parts, 1));
    EXPECT_EQ(std::set(block.begin(), block.end()).size(), std::min(parts, vertices));
    for (const BlockEdge& edge : edges)
      EXPECT_LE(block[static_cast<std::size_t>(edge.from)],
                block[static_cast<std::size_t>(edge.to)]);
  }
}

TEST(ContractBlocks, a_long_chain_and_a_wide_star) {
  constexpr std::size_t kSize = 100'000;
  std::vector<BlockEdge> chain, star;
  for (std::int32_t v = 1; v < static_cast<std::int32_t>(kSize); ++v) {
    chain.push_back({v - 1, v, 1});
    star.push_back({0, v, 1});
  }
  for (const auto& edges : {chain, star}) {
    const auto block = contract_blocks(std::vector<double>(kSize, 1), edges, 20);
    EXPECT_EQ(std::set(block.begin(), block.end()).size(), 20U);
  }
}

TEST(Coarsen, models_have_few_nodes_and_keep_their_work) {
  for (const char* model : {"lenet", "inception_v3", "bert_small", "rnnlm"})
    for (std::size_t nodes : {2UL, 10UL, 40UL}) {
      SCOPED_TRACE(std::string(model) + " " + std::to_string(nodes));
      const Problem problem = sample(model, 16, "tag-testbed");
      const Coarse coarse = coarsen(problem, nodes);
      EXPECT_LE(coarse.dag.size(), nodes);
      EXPECT_GE(coarse.dag.size(), std::min<std::size_t>(nodes, 4) / 2);
      const Dag ops = dag_of(problem);
      const GpuTypeId type(0);
      Nanos before, after;
      Bytes memory_before, memory_after;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        before += ops.time(static_cast<NodeIndex>(i), type);
        memory_before += ops.memory(static_cast<NodeIndex>(i));
      }
      for (std::size_t i = 0; i < coarse.dag.size(); ++i) {
        after += coarse.dag.time(static_cast<NodeIndex>(i), type);
        memory_after += coarse.dag.memory(static_cast<NodeIndex>(i));
      }
      EXPECT_EQ(before, after);
      EXPECT_EQ(memory_before, memory_after);
    }
}

TEST(Exact, plans_models_with_bound_and_gap) {
  for (const char* model : {"lenet", "inception_v3"})
    for (const char* cluster : {"celeritas", "tag-2x1080ti"}) {
      SCOPED_TRACE(std::string(model) + " on " + cluster);
      const Problem problem = sample(model, 32, cluster);
      const PlanResult result = plan(problem, {{"limit", "2"}, {"nodes", "20"}});
      EXPECT_TRUE(result.strategy.is_complete());
      const Problem own = problem_for(problem, result.strategy);
      EXPECT_NO_THROW(validate(result.strategy, *own.grouping, *own.cluster));
      EXPECT_EQ(result.score.step_time,
                simulate_strategy(problem, result.strategy).score.step_time);
      EXPECT_FALSE(fact(result, "bound").empty());
      EXPECT_FALSE(fact(result, "gap").empty());
      EXPECT_GE(result.score.step_time, lower_bound(problem));
    }
}

TEST(Exact, repeats_itself_when_it_ends_before_its_limit) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const PlanResult once = plan(problem, {{"limit", "100"}}),
                   again = plan(problem, {{"limit", "100"}});
  EXPECT_EQ(fact(once, "gap"), "0 % (optimal)");
  EXPECT_EQ(once.strategy, again.strategy);
  EXPECT_EQ(fact(once, "makespan"), fact(again, "makespan"));
}

TEST(Exact, what_fits_nowhere_is_said) {
  const Problem problem = sample("bert_large", 512, "tag-2x1080ti");
  const PlanResult result = plan(problem, {{"limit", "5"}, {"nodes", "10"}});
  EXPECT_TRUE(result.strategy.is_complete());
  EXPECT_NE(result.note.find("fits"), std::string::npos) << result.note;
  EXPECT_EQ(fact(result, "memory"), "no placement of these nodes fits (proven)");
}

TEST(Exact, one_device_and_one_op) {
  const Problem one = toy::chain_problem(toy::small_cluster(1, 0), 3);
  EXPECT_EQ(fact(plan(one, {}), "gap"), "0 % (optimal)");
  EXPECT_TRUE(plan(toy::chain_problem(toy::small_cluster(2, 0), 1), {}).strategy.is_complete());
}

TEST(Exact, bad_options_are_refused) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"limit", "-1"}, {"nodes", "1"}, {"nodes ", "5"}, {"depth", "3"}})
    EXPECT_THROW(plan(problem, {{key, value}}), InputError) << key;
  EXPECT_THROW(plan(problem, {{"nodes", "100000"}}), InputError);
}

}  // namespace
}  // namespace strato::exact
