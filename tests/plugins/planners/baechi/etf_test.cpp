#include <gtest/gtest.h>

#include "plugins/planners/list/baechi/earliest_task_first.h"
#include "tests/core/schedule/schedule_check.h"
#include "tests/plugins/planners/list_toy.h"

namespace strato {
namespace {

Schedule etf(const toy::Case& of, double memory = 1) {
  const auto levels = b_levels(of.dag, of.mean());
  return baechi::earliest_task_first(of.dag, of.transfers, *of.cluster, memory, levels, nullptr);
}

Schedule sct(const toy::Case& of, double memory = 1, int piece = 200,
             PlanningSteps* steps = nullptr) {
  const auto levels = b_levels(of.dag, of.mean());
  const auto favourites = baechi::find_favourites(of.dag, of.mean(), {0.5, piece});
  return baechi::earliest_task_first(of.dag, of.transfers, *of.cluster, memory, levels, &favourites,
                                     steps);
}

// The definition: a look at all pairs of a ready node and a device.
Schedule naive_etf(const toy::Case& of) {
  const auto levels = b_levels(of.dag, of.mean());
  Scheduling scheduling(of.dag, of.transfers, *of.cluster, {.insert = false});
  for (std::size_t count = 0; count < of.dag.size(); ++count) {
    using Key = std::tuple<Nanos, Nanos, NodeIndex, Nanos, DeviceId>;
    std::optional<Key> best;
    for (NodeIndex node = 0; static_cast<std::size_t>(node) < of.dag.size(); ++node) {
      const bool ready = !scheduling.is_placed(node) &&
                         std::ranges::all_of(of.dag.predecessors(node), [&](const DagEdge& in) {
                           return scheduling.is_placed(in.node);
                         });
      if (!ready) continue;
      const auto demanded = scheduling.demanded(node);
      for (std::size_t d = 0; d < of.devices(); ++d) {
        const DeviceId device(d);
        if (demanded ? *demanded != device : !scheduling.has_room(node, device)) continue;
        const Key key{scheduling.earliest_start(node, device),
                      Nanos() - levels[static_cast<std::size_t>(node)], node,
                      of.dag.time(node, of.cluster->device(device).type), device};
        if (!best || key < *best) best = key;
      }
    }
    scheduling.place(std::get<2>(*best), std::get<4>(*best));
  }
  return std::move(scheduling).finished();
}

TEST(Etf, is_what_a_look_at_all_pairs_gives) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto cluster = toy::small_cluster(2, round % 3);
    const toy::Case of(toy::random_dag({.nodes = 4 + round % 30,
                                        .edges_percent = 5 + round % 40,
                                        .time_to = round % 2 ? 2 : 9,
                                        .gigabytes_to = round % 2,
                                        .colocated_percent = round % 5 ? 0 : 25},
                                       cluster->gpu_types().size(), random),
                       cluster);
    const Schedule schedule = etf(of);
    EXPECT_EQ(of.problem_with(schedule), "") << round;
    EXPECT_TRUE(toy::are_equal(schedule, naive_etf(of))) << round;
  }
}

// Hwang et al., theorem 3.1: (2 - 1/n) of the optimum without transfers, and the most that
// transfers along a path add up to.
TEST(Etf, keeps_its_bound) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + round % 2;
    const toy::Case of(
        toy::random_dag({.nodes = 3 + round % 4, .edges_percent = 20 + round % 50}, 1, random),
        toy::small_cluster(n, 0));
    const Nanos made = etf(of).makespan;
    const Nanos least = toy::Optimum(of, true).makespan();
    EXPECT_LE(n * made, (2 * n - 1) * least + n * toy::longest_transfers(of)) << round;
    EXPECT_GE(made, toy::Optimum(of, false).makespan()) << round;
  }
}

// Hanen and Munier: 7/3 - 4/(3n) of the optimum, when no transfer is longer than a node.
TEST(Sct, keeps_its_bound_for_short_transfers) {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + round % 2;
    const toy::Case of(toy::random_dag({.nodes = 3 + round % 4,
                                        .edges_percent = 20 + round % 50,
                                        .time_from = 6,
                                        .bytes_to = 6},
                                       1, random),
                       toy::small_cluster(n, 0));
    const Schedule schedule = sct(of);
    EXPECT_EQ(of.problem_with(schedule), "") << round;
    const Nanos least = toy::Optimum(of, false).makespan();
    EXPECT_GE(schedule.makespan, least) << round;
    EXPECT_LE(3 * n * schedule.makespan, (7 * n - 4) * least) << round;
  }
}

TEST(Sct, is_valid_and_repeats_itself) {
  Random random(8);
  for (int round = 0; round < 200; ++round) {
    const auto cluster = toy::small_cluster(2, round % 3);
    const toy::Case of(toy::random_dag({.nodes = 4 + round % 30,
                                        .edges_percent = 5 + round % 40,
                                        .gigabytes_to = round % 4 ? 0 : 20,
                                        .colocated_percent = round % 5 ? 0 : 25},
                                       cluster->gpu_types().size(), random),
                       cluster);
    for (const int piece : {200, 5, 0}) {
      const Schedule schedule = sct(of, 1, piece);
      EXPECT_EQ(of.problem_with(schedule), "") << round;
      EXPECT_TRUE(toy::are_equal(schedule, sct(of, 1, piece))) << round;
    }
  }
}

TEST(Sct, a_device_waits_for_the_favourite_child) {
  // 0 and 1 run at once; their child 3 has a long transfer from 0 (its favourite parent). 2 is
  // independent but comes last by rank, and its input from 1 would let it start on 0's device
  // first.
  DagBuilder builder(1);
  const auto add = [&](std::int64_t time) {
    const Nanos times[] = {Nanos(time)};
    return builder.add_node(times, Bytes(0));
  };
  const NodeIndex a = add(10), b = add(12), c = add(50), d = add(20);
  builder.add_edge(b, c, Bytes(0));
  builder.add_edge(a, d, Bytes(100));
  builder.add_edge(b, d, Bytes(1));
  const toy::Case of(std::move(builder), toy::small_cluster(2, 0));
  PlanningSteps steps;
  const Schedule schedule = sct(of, 1, 200, &steps);
  EXPECT_EQ(schedule.device[static_cast<std::size_t>(d)],
            schedule.device[static_cast<std::size_t>(a)]);
  EXPECT_EQ(schedule.makespan, Nanos(62));
  const auto step = std::ranges::find(steps.steps, d, &PlanningSteps::Step::node);
  EXPECT_EQ(step->why, PlanningSteps::Why::FavouriteParent);
  EXPECT_EQ(step->start, Nanos(13));
}

TEST(EtfAndSct, what_fits_nowhere_is_placed_all_the_same) {
  for (const std::int32_t group : {-1, 0}) {
    const toy::Case of(toy::scattered_dag(7, 1, Bytes(std::int64_t{40} << 30), group, 2),
                       toy::small_cluster(2, 1));
    for (const Schedule& schedule : {etf(of), sct(of)}) {
      EXPECT_EQ(of.problem_with(schedule), "");
      EXPECT_FALSE(schedule.fits);
    }
  }
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    const auto cluster = toy::small_cluster(1, 2);
    const toy::Case of(toy::random_dag({.nodes = 14, .gigabytes_to = 14, .colocated_percent = 50},
                                       cluster->gpu_types().size(), random),
                       cluster);
    for (const double memory : {1.0, 0.4})
      for (const Schedule& schedule : {etf(of, memory), sct(of, memory)})
        EXPECT_EQ(of.problem_with(schedule), "") << round;
  }
}

TEST(EtfAndSct, edges_of_what_can_be_given) {
  for (const int devices : {1, 4})
    for (const auto& builder :
         {toy::chain_dag(1, 5, 0), toy::chain_dag(100'000, 3, 7), toy::star_dag(100'000, 3, 7),
          toy::scattered_dag(1000, 0, Bytes(0)), toy::scattered_dag(0, 0, Bytes(0))}) {
      const toy::Case of(builder, toy::small_cluster(devices, 0));
      EXPECT_EQ(of.problem_with(etf(of)), "");
      EXPECT_EQ(of.problem_with(sct(of)), "");
    }
  const toy::Case chain(toy::chain_dag(100'000, 3, 7), toy::small_cluster(4, 0));
  EXPECT_EQ(etf(chain).makespan, Nanos(300'000));
  EXPECT_EQ(sct(chain).makespan, Nanos(300'000));
}

}  // namespace
}  // namespace strato
