#include <gtest/gtest.h>

#include "plugins/planners/list/baechi/baechi.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/plugins/planners/list_toy.h"

namespace strato {
namespace {

Bytes gigabytes(std::int64_t count) { return Bytes(count << 30); }

Schedule run(const toy::Case& of, const baechi::MemoryTopoOptions& options = {}) {
  return baechi::memory_topo(of.dag, of.transfers, *of.cluster, options);
}

TEST(MemoryTopo, shares_are_equal_and_within_the_devices) {
  const auto shares = [](std::int64_t total, std::int64_t largest, std::vector<Bytes> capacities) {
    std::vector<std::int64_t> values;
    for (const Bytes bytes : baechi::shares_of(Bytes(total), Bytes(largest), std::move(capacities)))
      values.push_back(bytes.value);
    return values;
  };
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(shares(12, 0, {Bytes(10), Bytes(10), Bytes(10)}), (Values{4, 4, 4}));
  EXPECT_EQ(shares(12, 3, {Bytes(10), Bytes(10), Bytes(10)}), (Values{7, 7, 7}));
  EXPECT_EQ(shares(12, 0, {Bytes(10), Bytes(2), Bytes(10)}), (Values{5, 2, 5}));
  EXPECT_EQ(shares(13, 0, {Bytes(10), Bytes(2), Bytes(10)}), (Values{6, 2, 6}));
  EXPECT_EQ(shares(40, 5, {Bytes(10), Bytes(2), Bytes(10)}), (Values{10, 2, 10}));
}

TEST(MemoryTopo, fills_one_device_after_the_other) {
  const toy::Case of(toy::scattered_dag(12, 1, gigabytes(1)), toy::small_cluster(3, 0));
  const Schedule schedule = run(of);
  EXPECT_EQ(of.problem_with(schedule), "");
  std::vector<int> devices;
  for (const DeviceId device : schedule.device) devices.push_back(device.value());
  EXPECT_EQ(devices, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2}));  // 12 / 3 + 1
}

// Six ops of two groups, first one of each group in turn: the paper's variant sees too late that a
// group is large.
TEST(MemoryTopo, the_whole_group_is_reserved_unless_as_in_the_paper) {
  DagBuilder builder(1);
  const Nanos times[] = {Nanos(1)};
  for (const int group : {0, 1, 0, 1, 0, 1}) builder.add_node(times, gigabytes(6), group);
  const toy::Case of(std::move(builder), toy::small_cluster(2, 0));
  const Schedule ours = run(of);
  EXPECT_TRUE(ours.fits);
  EXPECT_EQ(of.problem_with(ours), "");
  const Schedule papers = run(of, {1, false});
  EXPECT_FALSE(papers.fits);
  EXPECT_EQ(of.problem_with(papers), "");
}

TEST(MemoryTopo, random_dags_are_valid) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const auto cluster = toy::small_cluster(2, round % 3);
    const toy::Case of(toy::random_dag({.nodes = 1 + round % 30,
                                        .edges_percent = 15,
                                        .gigabytes_to = round % 12,
                                        .colocated_percent = 30},
                                       cluster->gpu_types().size(), random),
                       cluster);
    for (const bool reserve : {true, false})
      for (const double memory : {1.0, 0.5})
        EXPECT_EQ(of.problem_with(run(of, {memory, reserve})), "") << round;
  }
}

TEST(MemoryTopo, edges_of_what_can_be_given) {
  for (const int devices : {1, 4})
    for (const auto& builder :
         {toy::chain_dag(1, 5, 0), toy::chain_dag(100'000, 3, 7), toy::star_dag(100'000, 3, 7),
          toy::scattered_dag(1000, 0, Bytes(0)), toy::scattered_dag(0, 0, Bytes(0)),
          toy::scattered_dag(9, 1, gigabytes(50)), toy::scattered_dag(9, 1, gigabytes(5), 0)}) {
      const toy::Case of(builder, toy::small_cluster(devices, 0));
      EXPECT_EQ(of.problem_with(run(of)), "");
    }
}

}  // namespace
}  // namespace strato
