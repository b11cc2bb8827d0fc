// Searches that begin where nothing fits in memory (TAG 3.3): they go on to more model parallelism
// until something does.
#include <gtest/gtest.h>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/local/memory_estimate.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

PlanResult search(const Problem& problem, std::int64_t iterations, std::uint64_t seed,
                  std::map<std::string, std::string> set = {},
                  std::shared_ptr<const SearchTree> resume = nullptr) {
  const auto simulating = make_simulating_evaluator(problem, 1);
  const auto evaluator = make_caching_evaluator(*simulating);
  PlannerOptions options;
  options.iterations = iterations;
  options.seed = seed;
  options.set = std::move(set);
  Observer quiet;
  return tree_search({problem, *evaluator, options, quiet, {}, std::move(resume)},
                     TreeSearchOptions::from(options));
}

bool fits(const Problem& problem, const Strategy& strategy) {
  return simulate_strategy(problem, strategy, false).score.feasible;
}

// Machines of one GPU each.
std::shared_ptr<const Cluster> machines_of(const std::string& type, int count) {
  const std::string json =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "toy", "machines": [
    {"name": "m", "count": )" +
      std::to_string(count) + R"(, "gpus": [{"type": ")" + type + R"(", "count": 1}],
     "fabric": {"bandwidth_GBps": 12, "latency_us": 4},
     "nic": {"bandwidth_GBps": 10, "latency_us": 5}}], "network": {"latency_us": 1}})";
  return std::make_shared<const Cluster>(parse_cluster(json, "toy", GpuCatalogue::bundled()));
}

// Layers of 1 GiB of parameters on GPUs of 11 GB: a layer is one op, which nothing divides, and one
// device holds ten of them.
Problem large_layers(int layers, int machines) {
  return toy::chain_problem(machines_of("GTX-1080-Ti", machines), layers, 8, 16384);
}

TEST(Memory, only_spreading_groups_over_devices_fits) {
  for (const auto& [layers, machines] : {std::pair{12, 4}, {24, 4}, {36, 4}, {60, 8}}) {
    const Problem problem = large_layers(layers, machines);
    for (Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate})
      ASSERT_FALSE(fits(problem, data_parallel(problem, mode)));
    ASSERT_FALSE(fits(problem, data_parallel(problem, Mode::ModelParallel)));
    for (std::uint64_t seed : {1, 2, 3})
      for (const char* polish : {"0.75", "0"}) {
        const PlanResult result = search(problem, 64, seed, {{"polish", polish}});
        EXPECT_TRUE(result.score.feasible) << layers << " layers, seed " << seed << ", " << polish;
        EXPECT_TRUE(fits(problem, result.strategy));
      }
  }
}

// The same, trained: gradients and optimizer state take three times as much again.
TEST(Memory, training_that_fits_only_when_spread) {
  ProblemOptions options;
  options.grouping.max_groups = 24;
  const Problem problem =
      make_problem(toy::chain(24, 64, 8192), machines_of("GTX-1080-Ti", 4), options);
  ASSERT_FALSE(fits(problem, data_parallel(problem)));
  const PlanResult result = search(problem, 100, 1);
  EXPECT_TRUE(result.score.feasible);
}

TEST(Memory, unequal_memory_is_filled_in_proportion) {
  // 32 GB and 11 GB: 38 layers need both, nearly full.
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 1), 36, 8, 16384);
  const PlanResult result = search(problem, 100, 1);
  EXPECT_TRUE(result.score.feasible);
}

TEST(Memory, goes_on_exactly_when_resumed_in_between) {
  const Problem problem = large_layers(36, 4);
  const PlanResult whole = search(problem, 160, 1);
  for (int first : {40, 48, 56, 64, 80}) {
    const PlanResult half = search(problem, first, 1);
    const PlanResult rest =
        search(problem, 160 - first, 1, {},
               std::make_shared<const SearchTree>(parse_search_tree(serialise(*half.tree))));
    EXPECT_TRUE(serialise(*rest.tree) == serialise(*whole.tree)) << first;
    EXPECT_EQ(rest.strategy, whole.strategy) << first;
  }
}

TEST(Memory, what_cannot_fit_is_a_result) {
  const Problem problem = large_layers(60, 4);
  const PlanResult result = search(problem, 200, 1);
  EXPECT_FALSE(result.score.feasible);
  EXPECT_TRUE(result.strategy.is_complete());
}

TEST(Memory, pins_hold_where_nothing_fits) {
  const Problem problem = large_layers(24, 4);
  SearchTree tree = *search(problem, 16, 1).tree;
  for (std::size_t g = 0; g < 8; ++g) pin(tree, GroupId(g), decision_on_device(DeviceId(3)));
  const PlanResult result = search(problem, 160, 1, {}, std::make_shared<const SearchTree>(tree));
  EXPECT_TRUE(result.score.feasible);
  EXPECT_FALSE(is_forbidden(tree, result.strategy));
}

TEST(Memory, packings_follow_the_graph_and_the_capacities) {
  const Problem problem = large_layers(24, 4);
  const MemoryEstimate estimate(problem);
  const std::vector<Decision> actions = make_actions(problem, {});
  const auto packings = estimate.packings(actions);
  ASSERT_FALSE(packings.empty());
  std::map<std::int32_t, int> count;
  std::int32_t last = -1;
  for (std::size_t layer = 0; layer < 24; ++layer) {
    const GroupId group = problem.grouping->group_of(OpId(2 * layer));
    const Decision& decision = actions[static_cast<std::size_t>(packings[0][group.index()])];
    ASSERT_EQ(decision.devices.size(), 1U);
    EXPECT_GE(decision.devices[0].device.value(), last);
    last = decision.devices[0].device.value();
    ++count[last];
  }
  EXPECT_EQ(count, (std::map<std::int32_t, int>{{0, 6}, {1, 6}, {2, 6}, {3, 6}}));
  const Decision everywhere = data_parallel(problem).groups[GroupId(0)].value();
  EXPECT_GT(estimate.bytes(GroupId(0), everywhere), static_cast<double>(1 << 30));
}

}  // namespace
}  // namespace strato
