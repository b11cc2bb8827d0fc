// Collectives against closed forms and cut bounds, and as a table that threads share.
#include "core/cost/collective/collectives.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

constexpr Collective kKinds[] = {Collective::AllReduce, Collective::AllGather,
                                 Collective::Broadcast, Collective::Reduce,
                                 Collective::ReduceScatter};

std::vector<DeviceId> first_devices(std::size_t count) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < count; ++i) devices.push_back(DeviceId(i));
  return devices;
}

// `machines` machines of `gpus` V100 each; NVLink at `inside` GB/s, NICs at `nic` GB/s.
std::shared_ptr<const Cluster> cluster_of(int machines, int gpus, double inside, double nic) {
  const std::string text =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "c", "machines": [{"name": "m",
          "count": )" +
      std::to_string(machines) + R"(, "gpus": [{"type": "V100-SXM2-32GB", "count": )" +
      std::to_string(gpus) + R"(}], "fabric": {"latency_us": 2, "bandwidth_GBps": )" +
      std::to_string(inside) + R"(}, "nic": {"latency_us": 6, "bandwidth_GBps": )" +
      std::to_string(nic) + R"(}}], "network": {}})";
  return std::make_shared<Cluster>(parse_cluster(text, "c.json", toy::catalogue()));
}

double time_of(const CollectivePlan& plan, double bytes) {
  return static_cast<double>(plan.latency.value) + plan.nanos_per_byte * bytes;
}

TEST(BinaryTree, HasDepthLog2AndAtMostTwoChildren) {
  for (int n = 1; n <= 300; ++n) {
    for (const std::vector<int>& tree : {binary_tree(n), twin_tree(n)}) {
      ASSERT_EQ(tree.size(), static_cast<std::size_t>(n));
      std::map<int, int> children;
      int roots = 0, deepest = 0;
      for (int rank = 0; rank < n; ++rank) {
        const int parent = tree[static_cast<std::size_t>(rank)];
        if (parent < 0) {
          ++roots;
        } else {
          ++children[parent];
        }
        int depth = 0;
        for (int at = rank; tree[static_cast<std::size_t>(at)] >= 0 && depth <= n; ++depth) {
          at = tree[static_cast<std::size_t>(at)];
        }
        deepest = std::max(deepest, depth);
      }
      EXPECT_EQ(roots, 1);
      EXPECT_LE(deepest, static_cast<int>(std::ceil(std::log2(n)))) << n;
      for (const auto& [rank, count] : children) EXPECT_LE(count, 2) << n << " " << rank;
    }
  }
}

TEST(BinaryTree, EveryRankIsALeafInOneOfTheTwo) {
  for (int n = 2; n <= 300; ++n) {
    std::vector<int> inner(static_cast<std::size_t>(n));
    for (const std::vector<int>& tree : {binary_tree(n), twin_tree(n)}) {
      std::set<int> parents(tree.begin(), tree.end());
      for (const int parent : parents) {
        if (parent >= 0) ++inner[static_cast<std::size_t>(parent)];
      }
    }
    // With an odd number of ranks one of them has to be an inner node of both.
    const auto both = std::count(inner.begin(), inner.end(), 2);
    EXPECT_LE(both, n % 2) << n;
  }
}

TEST(Ring, ClosedFormOnUniformLinks) {
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  for (std::size_t n = 2; n <= 8; ++n) {
    const auto plans = collective_plans(*cluster, Collective::AllReduce, first_devices(n),
                                        CollectiveAlgorithm::Ring);
    ASSERT_EQ(plans.size(), 1u);
    const double members = static_cast<double>(n);
    EXPECT_NEAR(plans[0].nanos_per_byte, 2 * (members - 1) / members / 150, 1e-12);
    EXPECT_EQ(plans[0].latency, Nanos(static_cast<std::int64_t>(2 * (n - 1) * 4000)));
    EXPECT_EQ(plans[0].links.size(), 2 * n);
  }
}

TEST(Ring, IsAsFastAsItsSlowestLink) {
  // The last machine's card is slower than the others.
  const auto cluster = std::make_shared<Cluster>(parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "slow", "machines": [
           {"name": "m", "count": 3, "gpus": [{"type": "T4"}], "nic": {"bandwidth_GBps": 10}},
           {"name": "s", "gpus": [{"type": "T4"}], "nic": {"bandwidth_GBps": 2}}],
          "network": {}})",
      "c.json", toy::catalogue()));
  const auto plans = collective_plans(*cluster, Collective::AllReduce, first_devices(4),
                                      CollectiveAlgorithm::Ring);
  EXPECT_NEAR(plans.at(0).nanos_per_byte, 1.5 / 2, 1e-12);
}

TEST(Ring, BetweenMachinesUsesEachNicDirectionOnce) {
  const auto cluster = toy::sample_cluster("tag-testbed");
  const auto plans = collective_plans(*cluster, Collective::AllReduce, first_devices(16),
                                      CollectiveAlgorithm::Ring);
  // The slowest hop is a PCIe link of 12 GB/s; its path between machines has the greatest latency.
  EXPECT_NEAR(plans.at(0).nanos_per_byte, 2.0 * 15 / 16 / 12, 1e-12);
  EXPECT_EQ(plans.at(0).latency, Nanos(30 * 21'000));
  std::size_t nics = 0;
  for (const LinkId link : plans[0].links) {
    const std::string& name = cluster->links()[link].name;
    nics += name.ends_with(">net") || name.starts_with("net>") ? 1 : 0;
  }
  EXPECT_EQ(nics, 14u);
}

TEST(Tree, TakesTwoLogLatenciesAndTwiceTheBytes) {
  const auto cluster = cluster_of(1, 16, 100, 10);
  const Nanos hop = cluster->path(DeviceId(0), DeviceId(1)).latency;
  for (const std::size_t n : {2u, 3u, 4u, 8u, 13u, 16u}) {
    const auto plans = collective_plans(*cluster, Collective::AllReduce, first_devices(n),
                                        CollectiveAlgorithm::Tree);
    const auto depth = static_cast<std::int64_t>(std::ceil(std::log2(n)));
    EXPECT_EQ(plans.at(0).latency, hop * (2 * depth)) << n;
    EXPECT_LE(plans[0].nanos_per_byte, 2.0 / 100 + 1e-12) << n;
    EXPECT_GE(plans[0].nanos_per_byte, 1.0 / 100 - 1e-12) << n;
  }
}

TEST(Tree, OfTwoIsTheRing) {
  const auto cluster = cluster_of(2, 1, 100, 10);
  const auto tree = collective_plans(*cluster, Collective::AllReduce, first_devices(2),
                                     CollectiveAlgorithm::Tree);
  const auto ring = collective_plans(*cluster, Collective::AllReduce, first_devices(2),
                                     CollectiveAlgorithm::Ring);
  EXPECT_EQ(tree.at(0).latency, ring.at(0).latency);
  EXPECT_NEAR(tree[0].nanos_per_byte, ring[0].nanos_per_byte, 1e-12);
  const Collectives table(cluster);
  EXPECT_EQ(table.cost(Collective::AllReduce, first_devices(2), Bytes(1000)).algorithm,
            CollectiveAlgorithm::Ring);
}

// As NCCL's are: members of a machine are chained, whoever sends to other machines.
TEST(Tree, IsBetweenMachinesAlone) {
  const auto of = [](const Cluster& cluster, CollectiveAlgorithm way) {
    return collective_plans(cluster, Collective::AllReduce, first_devices(cluster.device_count()),
                            way);
  };
  const auto machines = cluster_of(4, 2, 100, 10);
  EXPECT_TRUE(of(*machines, CollectiveAlgorithm::Tree).empty());
  EXPECT_FALSE(of(*machines, CollectiveAlgorithm::Hierarchical).empty());
  EXPECT_FALSE(of(*cluster_of(1, 8, 100, 10), CollectiveAlgorithm::Tree).empty());
  EXPECT_FALSE(of(*cluster_of(8, 1, 100, 10), CollectiveAlgorithm::Tree).empty());
}

TEST(Tree, BeatsTheRingForSmallMessagesOnManyDevices) {
  const auto cluster = cluster_of(32, 1, 100, 10);
  const Collectives table(cluster);
  const auto all = first_devices(32);
  EXPECT_EQ(table.cost(Collective::AllReduce, all, Bytes(4096)).algorithm,
            CollectiveAlgorithm::Tree);
  EXPECT_EQ(table.cost(Collective::AllReduce, all, Bytes(std::int64_t{4} << 30)).algorithm,
            CollectiveAlgorithm::Ring);
}

TEST(Hierarchical, ClosedFormOverTwoMachines) {
  const int gpus = 4;
  const auto cluster = cluster_of(2, gpus, 100, 10);
  const auto all = first_devices(8);
  const auto plans =
      collective_plans(*cluster, Collective::AllReduce, all, CollectiveAlgorithm::Hierarchical);
  ASSERT_EQ(plans.size(), 4u);  // by leaders and by all, a ring and a tree between machines
  const Nanos inside = cluster->path(DeviceId(0), DeviceId(1)).latency;
  const Nanos between = cluster->path(DeviceId(0), DeviceId(4)).latency;
  for (const CollectivePlan& plan : plans) {
    EXPECT_EQ(plan.latency, inside * (2 * (gpus - 1)) + between * 2);
    EXPECT_EQ(plan.algorithm, CollectiveAlgorithm::Hierarchical);
  }
  // Two machines: each card carries the whole tensor once, whoever sends it.
  EXPECT_NEAR(plans[0].nanos_per_byte, 1.0 / 100 + 1.0 / 10 + 1.0 / 100, 1e-12);
  EXPECT_NEAR(plans[1].nanos_per_byte, 0.75 / 100 + 1.0 / 10 + 0.75 / 100, 1e-12);
}

TEST(Hierarchical, BeatsTheRingAcrossMachinesWithManyMembers) {
  const auto cluster = cluster_of(8, 8, 150, 12.5);
  const Collectives table(cluster);
  const CollectiveCost small = table.cost(Collective::AllReduce, first_devices(64), Bytes(1 << 20));
  EXPECT_NE(small.algorithm, CollectiveAlgorithm::Ring);
  const auto ring = collective_plans(*cluster, Collective::AllReduce, first_devices(64),
                                     CollectiveAlgorithm::Ring);
  EXPECT_LT(static_cast<double>(small.duration.value), time_of(ring.at(0), 1 << 20) / 3);
}

TEST(Hierarchical, NeedsSeveralMachinesAndSeveralMembersInOne) {
  for (const Collective kind : kKinds) {
    const auto of = [&](const Cluster& cluster, std::size_t count) {
      return collective_plans(cluster, kind, first_devices(count),
                              CollectiveAlgorithm::Hierarchical);
    };
    EXPECT_TRUE(of(*cluster_of(1, 8, 100, 10), 8).empty());
    EXPECT_TRUE(of(*cluster_of(8, 1, 100, 10), 8).empty());
    EXPECT_FALSE(of(*cluster_of(2, 2, 100, 10), 3).empty());
  }
}

// What has to cross a cut: every device and every machine needs what it does not hold yet (all of
// the result of a sum, the others' parts of a gather); of a sum, its own part has to leave, too.
TEST(Collectives, AreNoFasterThanTheCutsAllow) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange(1, 7), gpus = *rc::gen::inRange(1, 9);
    const auto inside = *rc::gen::inRange(1, 200), nic = *rc::gen::inRange(1, 200);
    const auto cluster = cluster_of(machines, gpus, inside, nic);
    const auto count = static_cast<std::size_t>(machines * gpus);
    RC_PRE(count >= 2);
    const auto all = first_devices(count);
    const double n = static_cast<double>(count), k = gpus;
    for (const auto way : {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree,
                           CollectiveAlgorithm::Hierarchical}) {
      for (const CollectivePlan& plan :
           collective_plans(*cluster, Collective::AllReduce, all, way)) {
        RC_ASSERT(plan.nanos_per_byte >= 1.0 / inside - 1e-12);
        if (machines > 1) RC_ASSERT(plan.nanos_per_byte >= 1.0 / nic - 1e-12);
      }
      for (const Collective kind : {Collective::AllGather, Collective::ReduceScatter}) {
        for (const CollectivePlan& plan : collective_plans(*cluster, kind, all, way)) {
          RC_ASSERT(plan.nanos_per_byte >= (n - 1) / n / inside - 1e-12);
          if (machines > 1) RC_ASSERT(plan.nanos_per_byte >= (n - k) / n / nic - 1e-12);
        }
      }
    }
  }));
}

// Each of n members has 1/n of all, and sends each other one 1/n of that: what leaves a member, and
// what leaves a machine of k, is the least that it can be.
TEST(Collectives, AllToAllSendsEachMemberItsShareOnce) {
  for (const auto& [machines, gpus] : {std::pair(1, 8), {4, 1}, {2, 4}, {3, 4}}) {
    const double inside = 100, nic = 10;
    const auto cluster = cluster_of(machines, gpus, inside, nic);
    const auto all = first_devices(static_cast<std::size_t>(machines * gpus));
    const double n = machines * gpus, k = gpus;
    const auto plans =
        collective_plans(*cluster, Collective::AllToAll, all, CollectiveAlgorithm::Pairwise);
    ASSERT_EQ(plans.size(), 1u);
    const double port = (n - 1) / n / n / inside, card = k * (n - k) / n / n / nic;
    EXPECT_NEAR(plans[0].nanos_per_byte, std::max(port, card), 1e-12);
    for (const auto way : {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree})
      EXPECT_TRUE(collective_plans(*cluster, Collective::AllToAll, all, way).empty());
    const auto by_machines =
        collective_plans(*cluster, Collective::AllToAll, all, CollectiveAlgorithm::Hierarchical);
    EXPECT_EQ(by_machines.size(), machines > 1 && gpus > 1 ? 1u : 0u);
    for (const CollectivePlan& plan : by_machines) {
      EXPECT_LT(plan.latency, plans[0].latency);  // fewer rounds between machines
      EXPECT_NEAR(plan.nanos_per_byte,
                  (k - 1) * machines / n / n / inside + (n - k) * k / n / n / nic, 1e-12);
    }
  }
}

// The table gives the cheapest way; more bytes never take less time, and the parts of an all-reduce
// cost no more than the whole.
TEST(Collectives, OfAnySetOfDevices) {
  const auto cluster = toy::sample_cluster("tag-cloud");
  const Collectives table(cluster);
  EXPECT_TRUE(rc::check([&] {
    const auto mask = *rc::gen::arbitrary<std::uint32_t>();  // 32 devices
    std::vector<DeviceId> devices;
    for (std::size_t i = 0; i < 32; ++i) {
      if (mask >> i & 1) devices.push_back(DeviceId(i));
    }
    RC_PRE(devices.size() >= 2);
    const auto bytes = Bytes(*rc::gen::inRange<std::int64_t>(0, 1LL << 34));
    for (const Collective kind : kKinds) {
      const CollectiveCost cost = table.cost(kind, devices, bytes);
      RC_ASSERT(std::is_sorted(cost.links.begin(), cost.links.end()));
      RC_ASSERT(std::adjacent_find(cost.links.begin(), cost.links.end()) == cost.links.end());
      RC_ASSERT(!cost.links.empty());
      RC_ASSERT(cost.latency > Nanos(0) && cost.latency <= cost.duration);
      RC_ASSERT(cost.duration <= table.cost(kind, devices, bytes + bytes).duration);
      RC_ASSERT(cost.duration <= table.cost(Collective::AllReduce, devices, bytes).duration);
      for (const CollectiveAlgorithm way : {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree,
                                            CollectiveAlgorithm::Hierarchical}) {
        for (const CollectivePlan& plan : collective_plans(*cluster, kind, devices, way)) {
          RC_ASSERT(static_cast<double>(cost.duration.value) <=
                    time_of(plan, static_cast<double>(bytes.value)) + 1);
        }
      }
    }
  }));
}

TEST(Collectives, ReachAShareOfTheBandwidth) {
  const Collectives table(toy::sample_cluster("fastt-8xv100"));
  const auto all = first_devices(8);
  const Bytes large(std::int64_t{1} << 32);
  const CollectiveCost full = table.cost(Collective::AllReduce, all, large);
  const CollectiveCost half = table.cost(Collective::AllReduce, all, large, 0.5);
  EXPECT_EQ(half.latency, full.latency);
  EXPECT_NEAR((half.duration - half.latency) / (full.duration - full.latency), 2, 1e-6);
}

TEST(Collectives, OneMemberIsABugOfTheCaller) {
  const Collectives table(toy::sample_cluster("fastt-8xv100"));
  EXPECT_THROW(table.cost(Collective::AllReduce, first_devices(1), Bytes(1)), InvariantError);
}

// Many threads ask for many sets at once: each gets what a table of its own says.
TEST(Collectives, AreSafeFromAnyThread) {
  const auto cluster = toy::sample_cluster("tag-testbed");
  const Collectives shared(cluster);
  const auto ask = [&](const Collectives& table, std::uint32_t mask) {
    std::vector<DeviceId> devices = first_devices(2);
    for (std::size_t i = 2; i < 16; ++i) {
      if (mask >> i & 1) devices.push_back(DeviceId(i));
    }
    return table.cost(kKinds[mask % 5], devices, Bytes(mask));
  };
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t mask = 0; mask < 20'000; ++mask) {
        sums[t] += ask(shared, mask * 7).duration.value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Collectives own(cluster);
  std::int64_t expected = 0;
  for (std::uint32_t mask = 0; mask < 20'000; ++mask) expected += ask(own, mask * 7).duration.value;
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace strato
