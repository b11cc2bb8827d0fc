// Order-Place and Adjusting Placement on dags with known answers, and on random ones for validity.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "plugins/planners/list/celeritas/celeritas.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/core/search/toy.h"

namespace strato::celeritas {
namespace {

using Why = PlanningSteps::Why;

// V100s with 32 GiB each; transfers take the time of the toy cluster's fabric.
class Placing : public testing::Test {
 protected:
  explicit Placing(int devices = 3)
      : problem_(toy::chain_problem(toy::small_cluster(devices, 0), 1)) {
    for (std::size_t d = 0; d < cluster().device_count(); ++d) options_.devices.emplace_back(d);
  }

  const Cluster& cluster() const { return *problem_.cluster; }
  std::int64_t capacity() const { return cluster().gpu(DeviceId(0)).memory.value; }
  TransferTimes transfers(const Dag& dag) const {
    return TransferTimes(dag, cluster(), *problem_.cost);
  }
  Placed run(const Dag& dag, std::vector<PlanningSteps::Step>* steps = nullptr) const {
    std::vector<NodeIndex> order(dag.size());
    std::iota(order.begin(), order.end(), 0);
    const TransferTimes times = transfers(dag);
    Placed placed = place(dag, times, cluster(), order, options_, steps);
    // What does not fit is no valid schedule, and says so.
    if (placed.schedule.fits) {
      EXPECT_EQ(problem_with(placed.schedule, dag, times, cluster()), "");
    }
    return placed;
  }
  static NodeIndex add(DagBuilder& builder, std::int64_t microseconds, std::int64_t bytes = 0,
                       std::int32_t colocation = -1) {
    const Nanos time(microseconds * 1000);
    return builder.add_node(std::span(&time, 1), Bytes(bytes), colocation);
  }
  static std::vector<int> devices_of(const Placed& placed) {
    std::vector<int> devices;
    for (DeviceId device : placed.schedule.device) devices.push_back(device.value());
    return devices;
  }

  Problem problem_;
  PlacingOptions options_;
};

class PlacingOnOne : public Placing {
 protected:
  PlacingOnOne() : Placing(1) {}
};

TEST_F(Placing, order_place_fills_one_device_after_another_and_never_goes_back) {
  options_.adjust = false;
  DagBuilder builder(1);
  const std::int64_t third = capacity() / 3;
  for (std::int64_t bytes : {third, third, 2 * third, third, third / 4}) add(builder, 1, bytes);
  const Dag dag = std::move(builder).build();
  std::vector<PlanningSteps::Step> steps;
  const Placed placed = run(dag, &steps);
  EXPECT_EQ(devices_of(placed), (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_TRUE(placed.schedule.fits);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[2].why, Why::NextInOrder);
  EXPECT_EQ(steps[2].candidates.size(), 3U);
  EXPECT_FALSE(steps[2].candidates[0].fits);
}

TEST_F(Placing, only_part_of_the_memory_is_used_when_asked) {
  options_.adjust = false;
  options_.scheduling.memory = 0.5;
  DagBuilder builder(1);
  for (int i = 0; i < 3; ++i) add(builder, 1, capacity() / 3);
  EXPECT_EQ(devices_of(run(std::move(builder).build())), (std::vector<int>{0, 1, 2}));
}

// Two branches after one node: the second leaves when waiting for the first costs more than sending
// its result back (Equation 9), and only then.
Dag fork(DagBuilder builder, std::int64_t branch_microseconds, std::int64_t bytes) {
  const auto add = [&](std::int64_t microseconds) {
    const Nanos time(microseconds * 1000);
    return builder.add_node(std::span(&time, 1), Bytes(0));
  };
  const NodeIndex root = add(10), a = add(branch_microseconds), b = add(branch_microseconds),
                  end = add(10);
  builder.add_edge(root, a, Bytes(1000));
  builder.add_edge(root, b, Bytes(1000));
  builder.add_edge(a, end, Bytes(bytes));
  builder.add_edge(b, end, Bytes(bytes));
  return std::move(builder).build();
}

TEST_F(Placing, a_node_moves_when_waiting_costs_more_than_sending_back) {
  const Placed placed = run(fork(DagBuilder(1), 5000, 1000));
  EXPECT_EQ(placed.moves, 1);
  EXPECT_EQ(placed.schedule.device[0], placed.schedule.device[1]);
  EXPECT_NE(placed.schedule.device[1], placed.schedule.device[2]);
  EXPECT_LT(placed.schedule.makespan, Nanos(10'020'000));
}

TEST_F(Placing, a_node_stays_when_sending_back_costs_more) {
  std::vector<PlanningSteps::Step> steps;
  const Placed placed = run(fork(DagBuilder(1), 100, 1'000'000'000), &steps);
  EXPECT_EQ(placed.moves, 0);
  EXPECT_EQ(devices_of(placed), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(placed.schedule.makespan, Nanos(220'000));
  EXPECT_EQ(steps[2].why, Why::WithPrevious);
  EXPECT_NE(steps[2].remark.find("sending back"), std::string::npos);
}

TEST_F(Placing, the_first_node_of_a_colocation_group_decides_and_reserves_for_all) {
  options_.adjust = false;
  DagBuilder builder(1);
  add(builder, 1, capacity() / 2, 0);
  add(builder, 1, capacity() / 2);  // finds no room: the rest of the group needs it
  add(builder, 1, capacity() / 4, 0);
  add(builder, 1, capacity() / 4);  // goes on where the second is
  std::vector<PlanningSteps::Step> steps;
  EXPECT_EQ(devices_of(run(std::move(builder).build(), &steps)), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(steps[2].why, Why::Colocated);
}

TEST_F(Placing, when_all_are_full_the_emptiest_takes_the_rest) {
  for (const bool adjust : {false, true}) {
    options_.adjust = adjust;
    DagBuilder builder(1);
    for (int i = 0; i < 9; ++i) add(builder, 1, capacity() / 2 + 1);
    std::vector<PlanningSteps::Step> steps;
    const Placed placed = run(std::move(builder).build(), &steps);
    EXPECT_FALSE(placed.schedule.fits);
    EXPECT_EQ(steps.back().why, Why::BestEffort);
    std::vector<int> count(3);
    for (int device : devices_of(placed)) ++count[static_cast<std::size_t>(device)];
    EXPECT_EQ(count, (std::vector<int>{3, 3, 3}));
  }
}

TEST_F(Placing, a_node_larger_than_any_device_is_best_effort) {
  for (const bool adjust : {false, true}) {
    options_.adjust = adjust;
    DagBuilder builder(1);
    add(builder, 1, 2 * capacity());
    add(builder, 1, 1);
    const Placed placed = run(std::move(builder).build());
    EXPECT_FALSE(placed.schedule.fits);
  }
}

TEST_F(PlacingOnOne, everything_is_on_the_only_device) {
  for (const bool adjust : {false, true}) {
    options_.adjust = adjust;
    const Placed placed = run(fork(DagBuilder(1), 100, 1000));
    EXPECT_EQ(devices_of(placed), (std::vector<int>{0, 0, 0, 0}));
    EXPECT_EQ(placed.schedule.makespan, Nanos(220'000));
    EXPECT_EQ(placed.moves, 0);
  }
}

TEST_F(Placing, of_nothing) { EXPECT_EQ(run(DagBuilder(1).build()).schedule.makespan, Nanos()); }

// Random dags with zero times, co-location groups and memory from plenty to too little.
TEST_F(Placing, schedules_are_valid_and_repeat_themselves) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    DagBuilder builder(1);
    const std::int64_t nodes = 1 + below(40);
    for (std::int64_t i = 0; i < nodes; ++i)
      add(builder, below(4) * 50, below(capacity() / 12),
          below(3) == 0 ? static_cast<std::int32_t>(below(4)) : -1);
    for (NodeIndex to = 1; to < nodes; ++to) {
      for (NodeIndex from = 0; from < to; ++from)
        if (below(8) == 0) builder.add_edge(from, to, Bytes(below(10'000'000)));
    }
    const Dag dag = std::move(builder).build();
    options_.adjust = seed % 2 == 0;
    options_.by_finish = seed % 3 == 0;
    options_.scheduling.insert = seed % 5 != 0;
    options_.scheduling.transfers_are_tasks = seed % 7 < 4;
    const Placed placed = run(dag);
    EXPECT_EQ(placed.schedule.device, run(dag).schedule.device);
    EXPECT_EQ(placed.schedule.start, run(dag).schedule.start);
  }
}

TEST_F(Placing, chain_and_star_of_100000_nodes) {
  constexpr NodeIndex count = 100'000;
  for (const bool star : {false, true}) {
    DagBuilder builder(1);
    for (NodeIndex i = 0; i < count; ++i) add(builder, i % 2, capacity() / (count / 2));
    for (NodeIndex i = 1; i < count; ++i) builder.add_edge(star ? 0 : i - 1, i, Bytes(1000));
    const Dag dag = std::move(builder).build();
    for (const bool adjust : {false, true}) {
      options_.adjust = adjust;
      const Placed placed = run(dag);
      EXPECT_TRUE(placed.schedule.fits);
    }
  }
}

}  // namespace
}  // namespace strato::celeritas
