// The guided sampler keeps to its three constraints; changes keep to them, too.
#include "plugins/planners/learned/autodist/search/sampler.h"

#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

constexpr int kSamples = 300;

std::vector<Ground> grounds() {
  std::vector<Ground> all;
  all.emplace_back(2, 2);
  all.emplace_back(4, 0);
  all.emplace_back(1, 6);
  all.emplace_back(lookup_problem(toy::small_cluster(2, 2), 20'000, 128));
  return all;
}

void expect_divided_by_size(const SyncTask& task, const SyncPlan& plan,
                            const SamplerOptions& options) {
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task.variables[v];
    if (variable.bytes < options.small) {
      EXPECT_EQ(plan[v].parts.size(), 1u);
    }
    if (variable.bytes >= options.large) {
      EXPECT_TRUE(plan[v].parts.size() > 1 || plan[v].sharded);
    }
  }
}

TEST(Sampler, EverySampleIsSoundAndDividesBySize) {
  for (const Ground& ground : grounds()) {
    Random random(3);
    for (int i = 0; i < kSamples; ++i) {
      const SyncPlan plan = sample_plan(ground.task, {}, random);
      expect_sound(ground.task, plan);
      expect_divided_by_size(ground.task, plan, {});
    }
  }
}

TEST(Sampler, ServersHaveBalancedLoads) {
  const Ground ground(make_problem(toy::chain(60, 8, 64), toy::small_cluster(2, 3), {}));
  Random random(5);
  int seen = 0;
  for (int i = 0; i < kSamples; ++i) {
    const auto loads = loads_of(ground.task, sample_plan(ground.task, {}, random)).by_machine();
    const auto [low, high] = std::ranges::minmax(loads);
    const Bytes one = ground.task.variables[0].bytes;
    if (high < 4 * one) continue;  // hardly anything is served
    ++seen;
    EXPECT_LE(high - low, 2 * one);
  }
  EXPECT_GT(seen, kSamples / 4);
}

TEST(Sampler, GroupsAreOfSimilarSize) {
  const Ground ground(make_problem(toy::chain(60, 8, 64), toy::small_cluster(2, 3), {}));
  for (std::int64_t count = 1; count <= 60; count += 7) {
    Random random(static_cast<std::uint64_t>(count));
    SyncPlan plan = plain_plan(ground.task);
    merge_randomly(ground.task, plan, count, random);
    std::map<std::int32_t, std::int64_t> sizes;
    for (const VariableSync& sync : plan) ++sizes[sync.parts[0].merge_group];
    ASSERT_EQ(std::ssize(sizes), count);
    const auto size = [](const auto& entry) { return entry.second; };
    EXPECT_LE(std::ranges::max_element(sizes, {}, size)->second -
                  std::ranges::min_element(sizes, {}, size)->second,
              1);
  }
}

TEST(Sampler, KeepsRunsInPartsWhereItMay) {
  const Ground ground(make_problem(toy::chain(40, 64, 256), toy::small_cluster(2, 3), {}));
  SamplerOptions options;
  const auto count = [&](Random& random) {
    const SyncPlan plan = sample_plan(ground.task, options, random);
    return std::ranges::count(plan, true, &NodeConfig::sharded);
  };
  Random random(1);
  std::set<std::int64_t> counts;
  for (int i = 0; i < kSamples; ++i) counts.insert(count(random));
  EXPECT_TRUE(counts.contains(0));
  EXPECT_GT(counts.size(), 10u);
  options.sharded = 0;
  SyncPlan plan = plain_plan(ground.task);
  for (int i = 0; i < kSamples; ++i) {
    EXPECT_EQ(count(random), 0);
    plan = changed_plan(ground.task, plan, options, random);
    EXPECT_EQ(std::ranges::count(plan, true, &NodeConfig::sharded), 0);
  }
}

TEST(Sampler, DependsOnTheSeedAlone) {
  const Ground ground;
  Random a(1), b(1), c(2);
  bool differ = false;
  for (int i = 0; i < 20; ++i) {
    const SyncPlan plan = sample_plan(ground.task, {}, a);
    EXPECT_EQ(plan, sample_plan(ground.task, {}, b));
    differ |= plan != sample_plan(ground.task, {}, c);
  }
  EXPECT_TRUE(differ);
}

TEST(Sampler, ReachesEveryAspect) {
  const Ground ground(lookup_problem(toy::small_cluster(3, 2), 200'000, 64));
  Random random(11);
  bool served = false, reduced = false, rows = false, stations = false, alone = false,
       merged = false;
  std::set<int> axes;
  for (int i = 0; i < kSamples; ++i)
    for (const VariableSync& sync : sample_plan(ground.task, {}, random)) {
      if (sync.parts.size() > 1) axes.insert(sync.axis);
      for (const SyncPart& part : sync.parts) {
        (part.synchroniser == Synchroniser::Ps ? served : reduced) = true;
        rows |= part.encoding == Encoding::SparseRows;
        stations |= !part.stations.empty();
        (part.merge_group >= 0 ? merged : alone) = true;
      }
    }
  EXPECT_TRUE(served && reduced && rows && stations && alone && merged);
  EXPECT_EQ(axes.size(), 2u);
}

TEST(Changes, AreSoundDifferentAndKeepToTheSizes) {
  for (const Ground& ground : grounds()) {
    Random random(7);
    SyncPlan plan = sample_plan(ground.task, {}, random);
    int same = 0;
    for (int i = 0; i < kSamples; ++i) {
      SyncPlan next = changed_plan(ground.task, plan, {}, random);
      expect_sound(ground.task, next);
      expect_divided_by_size(ground.task, next, {});
      same += next == plan;
      plan = std::move(next);
    }
    EXPECT_EQ(same, 0);
  }
}

TEST(Changes, OfBuildersAreSound) {
  const Ground ground(lookup_problem(toy::small_cluster(2, 3), 20'000, 128));
  Random random(9);
  for (const BuiltPlan& built : all_builds(ground.task, 1))
    for (int i = 0; i < 20; ++i)
      expect_sound(ground.task, changed_plan(ground.task, built.plan, {}, random));
}

TEST(Changes, CrossingsTakeEachVariableFromOneOfTheTwo) {
  for (const Ground& ground : grounds()) {
    Random random(13);
    for (int i = 0; i < kSamples; ++i) {
      const SyncPlan a = sample_plan(ground.task, {}, random),
                     b = sample_plan(ground.task, {}, random);
      const SyncPlan crossed = crossed_plan(ground.task, a, b, random);
      expect_sound(ground.task, crossed);
      for (std::size_t v = 0; v < a.size(); ++v) {
        VariableSync like = crossed[v], of_a = a[v], of_b = b[v];
        for (auto* sync : {&like, &of_a, &of_b})
          for (SyncPart& part : sync->parts) part.merge_group = part.merge_group < 0 ? -1 : 0;
        EXPECT_TRUE(like == of_a || like == of_b);
      }
    }
  }
}

// Over many generations: they would double in each.
TEST(Changes, CrossingsKeepMergeGroupsFew) {
  for (const Ground& ground : grounds()) {
    Random random(17);
    SyncPlan a = sample_plan(ground.task, {}, random), b = sample_plan(ground.task, {}, random);
    for (int i = 0; i < 200; ++i) {
      SyncPlan crossed = crossed_plan(ground.task, a, b, random);
      a = std::exchange(b, std::move(crossed));
    }
    std::int32_t most = -1, parts = 0;
    for (const NodeConfig& sync : b)
      for (const SyncPart& part : sync.parts) most = std::max(most, part.merge_group), ++parts;
    EXPECT_LT(most, parts);
  }
}

TEST(Changes, OneVariableIsEnough) {
  const Ground ground(make_problem(toy::chain(1, 8, 64), toy::small_cluster(2, 0), {}));
  Random random(1);
  const SyncPlan plan = plain_plan(ground.task);
  for (int i = 0; i < 50; ++i)
    expect_sound(ground.task, changed_plan(ground.task, plan, {}, random));
  const Ground nothing(make_problem(toy::chain(1, 8, 64), toy::small_cluster(1, 0), {}));
  expect_sound(nothing.task, changed_plan(nothing.task, plain_plan(nothing.task), {}, random));
}

}  // namespace
}  // namespace strato::autodist
