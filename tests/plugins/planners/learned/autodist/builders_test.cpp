// Hand-designed builders and the placing of variables on servers.
#include <limits>

#include "core/base/error.h"
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

std::vector<std::int32_t> groups_of(const SyncPlan& plan) {
  std::vector<std::int32_t> groups;
  for (const VariableSync& sync : plan)
    for (const SyncPart& part : sync.parts) groups.push_back(part.merge_group);
  return groups;
}

TEST(Builders, AllAreSoundOnEveryKindOfCluster) {
  for (const auto& [fast, slow] : {std::pair(2, 0), {1, 3}, {4, 1}, {3, 2}})
    for (const bool lookup : {false, true}) {
      const Ground ground = lookup
                                ? Ground(lookup_problem(toy::small_cluster(fast, slow), 5000, 64))
                                : Ground(fast, slow);
      std::set<std::string> names;
      for (const BuiltPlan& built : all_builds(ground.task, 7)) {
        SCOPED_TRACE(built.name);
        EXPECT_TRUE(names.insert(built.name).second);
        expect_sound(ground.task, built.plan);
      }
      EXPECT_GE(names.size(), 10u);
    }
}

TEST(Builders, AnUnknownNameListsTheKnownOnes) {
  const Ground ground;
  try {
    build("allreduced", ground.task, {});
    FAIL();
  } catch (const InputError& error) {
    for (const std::string_view name : builder_names())
      EXPECT_NE(error.remedy().find(name), std::string::npos) << name;
  }
}

TEST(Builders, ChunksHaveSoManyAdjacentVariables) {
  const Ground ground;
  BuilderOptions options;
  options.chunk = 4;
  EXPECT_EQ(groups_of(build("allreduce", ground.task, options)),
            (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1}));
  options.chunk = 1;
  EXPECT_EQ(groups_of(build("allreduce", ground.task, options)),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  options.chunk = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(build("allreduce", ground.task, options), build("mirrored", ground.task, options));
}

TEST(Builders, BucketsHoldAtMostSoMuchAndLargeOnesStandAlone) {
  const Ground ground;  // in KB: 8, 0.25, 128, 65536, 1024, 16
  BuilderOptions options;
  options.bucket = Bytes(200 << 10);
  EXPECT_EQ(groups_of(build("horovod", ground.task, options)),
            (std::vector<std::int32_t>{0, 0, 0, 1, 2, 3}));
  options.bucket = Bytes(0);
  EXPECT_EQ(groups_of(build("horovod", ground.task, options)),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Builders, OneServerHoldsEverything) {
  const Ground ground;
  for (const VariableSync& sync : build("ps", ground.task, {}))
    EXPECT_EQ(sync.parts.at(0).server, ground.task.devices.front());
}

TEST(Builders, LoadBalancedServersFollowTheLeastLoad) {
  const Ground ground(2, 2);
  const SyncPlan plan = build("ps-lb", ground.task, {});
  NodeLoads loads(ground.task);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Bytes least = *std::ranges::min_element(loads.by_machine());
    const DeviceId server = plan[v].parts[0].server;
    EXPECT_EQ(loads.by_machine()[ground.task.machine_of[server.index()]], least) << v;
    loads.add(server, ground.task.variables[v].bytes);
  }
}

TEST(Builders, PartitionedServersAreBalanced) {
  const Ground ground(2, 3);
  for (const char* name : {"ps-partitioned", "ps-partitioned-size", "ps-hierarchical"}) {
    const SyncPlan plan = build(name, ground.task, {});
    const auto loads = loads_of(ground.task, plan).by_machine();
    const auto [low, high] = std::ranges::minmax(loads);
    EXPECT_LT(high.value, 1.3 * static_cast<double>(low.value)) << name;
  }
  const SyncPlan whole = build("ps-lb", ground.task, {});
  EXPECT_GT(std::ranges::max(loads_of(ground.task, whole).by_machine()).value,
            10 * std::ranges::min(loads_of(ground.task, whole).by_machine()).value);
}

TEST(Builders, StationsAreInOtherMachinesWithSeveralReplicas) {
  const Ground ground(3, 2);
  EXPECT_TRUE(stations_for(ground.task, DeviceId(0)).empty());
  const auto stations = stations_for(ground.task, DeviceId(4));
  ASSERT_EQ(stations.size(), 1u);
  EXPECT_EQ(ground.task.machine_of[stations[0].index()], 0u);
}

TEST(Builders, ParallaxGoesBySparsity) {
  const Ground ground(lookup_problem(toy::small_cluster(2, 2), 100'000, 64));
  const SyncPlan plan = build("parallax", ground.task, {});
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (const SyncPart& part : plan[v].parts) {
      const bool sparse = ground.task.variables[v].sparse;
      EXPECT_EQ(part.synchroniser == Synchroniser::Ps, sparse);
      EXPECT_EQ(part.encoding == Encoding::SparseRows, sparse);
    }
  const Ground dense;
  for (const VariableSync& sync : build("parallax", dense.task, {}))
    EXPECT_EQ(sync.parts.at(0).synchroniser, Synchroniser::AllReduce);
}

TEST(Builders, RandomOnesDependOnTheSeedAlone) {
  const Ground ground(4, 4);
  BuilderOptions one, two;
  two.seed = 2;
  for (const char* name : {"random-axis", "ps-partitioned-random"})
    EXPECT_EQ(build(name, ground.task, one), build(name, ground.task, one));
  bool differ = false;
  for (; two.seed < 20; ++two.seed)
    differ |= build("random-axis", ground.task, one) != build("random-axis", ground.task, two);
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace strato::autodist
