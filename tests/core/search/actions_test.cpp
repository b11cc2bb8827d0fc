#include "core/search/evaluate/actions.h"

#include <gtest/gtest.h>

#include <set>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

std::size_t sets_of(const std::string& cluster, bool merge) {
  const Problem problem = toy::chain_problem(toy::sample_cluster(cluster), 2);
  ActionOptions options;
  options.merge_symmetric = merge;
  options.max_sets = 65535;
  return device_group_sets(problem, options).size();
}

TEST(Actions, symmetric_device_groups_merge) {
  EXPECT_EQ(sets_of("tag-testbed", true), 29U);  // (1+1)(4+1)(2+1) - 1
  EXPECT_EQ(sets_of("tag-testbed", false), 127U);
  EXPECT_EQ(sets_of("tag-cloud", true), 14U);  // (2+1)(4+1) - 1
  EXPECT_EQ(sets_of("autodist-a1", true), 16U);
  EXPECT_EQ(sets_of("fastt-8xv100", true), 1U);
}

TEST(Actions, a_link_of_its_own_breaks_symmetry) {
  const std::string json =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "three", "machines": [
    {"name": "m", "count": 3, "gpus": [{"type": "T4", "count": 1}],
     "fabric": {"bandwidth_GBps": 12, "latency_us": 4}, "nic": {"bandwidth_GBps": 10, "latency_us": 5}}],
    "network": {"latency_us": 1},
    "links": [{"between": ["m-0", "m-1"], "bandwidth_GBps": 20, "latency_us": 1}]})";
  const Cluster cluster = parse_cluster(json, "three", GpuCatalogue::bundled());
  const auto classes = symmetric_classes(cluster);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].size(), 2U);  // the linked pair
}

TEST(Actions, are_valid_unique_and_begin_with_data_parallelism) {
  for (const char* name : {"tag-testbed", "tag-cloud", "autodist-b12", "gdp", "autodist-a1"}) {
    const Problem problem = toy::chain_problem(toy::sample_cluster(name), 2);
    const std::vector<Decision> actions = make_actions(problem, {});
    EXPECT_EQ(actions.front().mode, Mode::ReplicateAllReduce);
    EXPECT_EQ(actions.front().devices.size(), problem.cluster->device_count());
    for (std::size_t i = 0; i < actions.size(); ++i) {
      Strategy strategy;
      strategy.groups.assign(problem.grouping->size(), actions[i]);
      EXPECT_NO_THROW(validate(strategy, *problem.grouping, *problem.cluster)) << name << " " << i;
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(actions[i] == actions[j]) << name;
      if (actions[i].devices.size() == 1) {
        EXPECT_EQ(actions[i].mode, decision_on_device(DeviceId(0)).mode);
      }
    }
  }
}

TEST(Actions, one_device_leaves_one_action) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 0), 2);
  EXPECT_EQ(make_actions(problem, {}).size(), 1U);
}

TEST(Actions, even_shares_only_on_request) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 2, 64, 2048);
  ActionOptions options;
  options.proportional_shares = false;
  for (const Decision& action : make_actions(problem, options))
    for (const DeviceShare& share : action.devices) EXPECT_EQ(share.weight, 1);
  const auto both = make_actions(problem, {});
  EXPECT_TRUE(std::ranges::any_of(both, [](const Decision& d) {
    return std::ranges::any_of(d.devices, [](const DeviceShare& s) { return s.weight > 1; });
  }));
}

TEST(Actions, many_different_machines_stay_bounded) {
  std::string json =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "many", "machines": [)";
  for (int i = 0; i < 14; ++i)
    json +=
        std::string(i > 0 ? "," : "") + R"({"name": "m)" + std::to_string(i) +
        R"(", "gpus": [{"type": "T4", "count": 1}], "fabric": {"bandwidth_GBps": 12, "latency_us": 4},
               "nic": {"bandwidth_GBps": )" +
        std::to_string(10 + i) + R"(, "latency_us": 5}})";
  json += R"(], "network": {"latency_us": 1}})";
  const auto cluster =
      std::make_shared<const Cluster>(parse_cluster(json, "many", GpuCatalogue::bundled()));
  const Problem problem = toy::chain_problem(cluster, 2);
  const auto sets = device_group_sets(problem, {});
  EXPECT_LE(sets.size(), 255U);
  EXPECT_EQ(std::set(sets.begin(), sets.end()).size(), sets.size());
  for (const auto& set : sets) EXPECT_FALSE(set.empty());
}

TEST(Actions, ranking_is_a_permutation_and_only_the_seed_changes_it) {
  const Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 3);
  const auto actions = make_actions(problem, {});
  const std::vector<GroupId> order = {GroupId(0), GroupId(1), GroupId(2)};
  const auto first = rank_actions(problem, actions, order, 7, 3);
  EXPECT_EQ(first, rank_actions(problem, actions, order, 7, 3));
  EXPECT_NE(first, rank_actions(problem, actions, order, 8, 3));
  EXPECT_EQ(rank_actions(problem, actions, order, 7, 0),
            rank_actions(problem, actions, order, 8, 0));
  EXPECT_EQ(std::set(first[0].begin(), first[0].end()).size(), actions.size());
}

}  // namespace
}  // namespace strato
