#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/graph/group/metis_grouping.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// `layers` products, each with a shortcut around it.
Graph deep_model(int layers) {
  ModelKit kit(8);
  TensorId h = kit.input("x", {8, 64});
  for (int i = 0; i < layers; ++i) {
    const TensorId w = kit.weight("layer" + std::to_string(i) + ".w", {64, 64});
    h = kit.op("Add", {kit.op("Relu", {kit.op("MatMul", {h, w})}), h});
  }
  return make_training_graph(kit.build(), Optimizer::Adam);
}

// Ops and edges at random, some ops without any neighbour.
Graph random_graph(std::uint64_t seed, int ops) {
  Random random(seed);
  ModelKit kit(4);
  std::vector<TensorId> made = {kit.input("x", {4, 8})};
  for (int i = 0; i < ops; ++i) {
    const TensorId a = made[random.below(made.size())], b = made[random.below(made.size())];
    made.push_back(random.below(4) == 0 ? kit.op("Tanh", {kit.weight("w", {4, 8})})
                                        : kit.op("Mul", {a, b}));
  }
  return kit.build();
}

std::vector<Nanos> random_times(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Nanos> times;
  for (std::size_t i = 0; i < count; ++i) {
    times.push_back(Nanos(static_cast<std::int64_t>(random.below(4) == 0 ? random.below(100'000'000)
                                                                         : random.below(1'000))));
  }
  return times;
}

void check_grouping(const Graph& graph, const Grouping& grouping, int most) {
  EXPECT_LE(grouping.size(), static_cast<std::size_t>(most));
  std::vector<int> seen(graph.op_count(), 0);
  std::set<std::string> names;
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const OpGroup& group = grouping.group(GroupId(g));
    EXPECT_FALSE(group.ops.empty());
    EXPECT_TRUE(std::is_sorted(group.ops.begin(), group.ops.end()));
    EXPECT_TRUE(names.insert(group.name).second) << group.name;
    EXPECT_EQ(grouping.find(group.name), GroupId(g));
    if (g > 0) {
      EXPECT_GE(grouping.group(GroupId(g - 1)).compute_time, group.compute_time);
    }
    for (const OpId id : group.ops) {
      ++seen[id.index()];
      EXPECT_EQ(grouping.group_of(id), GroupId(g));
    }
  }
  for (const int times : seen) EXPECT_EQ(times, 1);
}

TEST(Grouping, SortsAndNamesAndMeasures) {
  const Graph graph = deep_model(2);
  std::vector<Nanos> times(graph.op_count(), Nanos(1));
  std::vector<std::int32_t> group_of(graph.op_count(), 7);
  group_of[0] = 900;
  const Grouping grouping(graph, group_of, times);
  check_grouping(graph, grouping, 2);
  ASSERT_EQ(grouping.size(), 2u);
  EXPECT_EQ(grouping.group(GroupId(1)).ops, std::vector<OpId>{OpId(0)});
  EXPECT_EQ(grouping.group(GroupId(0)).parameter_bytes, graph.parameter_bytes());
  // The product's result goes to the rest once, although two ops there read it or its like.
  ASSERT_EQ(grouping.edges().size(), 1u);
  EXPECT_EQ(grouping.edges()[0].from, GroupId(1));
  EXPECT_EQ(grouping.edges()[0].bytes, graph.tensor(graph.op(OpId(0)).outputs[0]).bytes());
}

TEST(Grouping, GroupsAreRenamedByHand) {
  const Graph graph = deep_model(2);
  const std::vector<Nanos> times(graph.op_count(), Nanos(1));
  std::vector<std::int32_t> group_of(graph.op_count(), 7);
  group_of[0] = 900;
  const Grouping plain(graph, group_of, times);
  const GroupId id(1);
  const std::string own = plain.group(id).name;
  const std::string name = "\u05d0\u05d1 \U0001F680 encoder";  // right to left, and an emoji
  const Grouping named = plain.renamed(id, name);
  EXPECT_EQ(named.group(id).name, name);
  EXPECT_EQ(named.group(id).own_name, own);
  EXPECT_TRUE(named.is_renamed(id));
  EXPECT_FALSE(named.is_renamed(GroupId(0)));
  EXPECT_EQ(named.find(name), id);
  EXPECT_FALSE(named.find(own).valid());
  EXPECT_EQ(named.digest(), plain.digest());
  EXPECT_FALSE(named == plain);
  EXPECT_EQ(plain.group(id).name, own);  // the one that it was made of stays
  EXPECT_EQ(named.renamed(id, ""), plain);
  EXPECT_EQ(named.renamed(id, own), plain);
  EXPECT_EQ(named.renamed(id, std::string(kLongestGroupName, 'x')).group(id).name.size(),
            kLongestGroupName);
  for (const std::string& bad : {std::string(kLongestGroupName + 1, 'x'), std::string("a\nb"),
                                 std::string(" a"), std::string("a "), std::string("a\0b", 3),
                                 std::string(" "), plain.group(GroupId(0)).name}) {
    EXPECT_THROW(static_cast<void>(plain.renamed(id, bad)), InputError) << bad;
  }
  // A name that another group has given up stays its own.
  EXPECT_THROW(static_cast<void>(named.renamed(GroupId(0), own)), InputError);
}

TEST(Grouping, MetisBalancesAndIsDeterministic) {
  const Graph graph = deep_model(120);
  std::vector<Nanos> times;
  for (const Op& op : graph.ops())
    times.push_back(Nanos(1 + static_cast<std::int64_t>(op.work.flops)));
  const Grouping grouping = group_by_metis(graph, times, {});
  check_grouping(graph, grouping, 60);
  EXPECT_GE(grouping.size(), 30u);
  Nanos total;
  for (const OpGroup& group : grouping.groups()) total += group.compute_time;
  EXPECT_LE(grouping.group(GroupId(0)).compute_time.value, 2 * total.value / 60);
  EXPECT_EQ(grouping.digest(), group_by_metis(graph, times, {}).digest());

  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const OpId forward = graph.op(OpId(i)).forward;
    if (forward.valid()) {
      EXPECT_EQ(grouping.group_of(OpId(i)), grouping.group_of(forward));
    }
  }
}

TEST(Grouping, SmallGraphsHaveFewGroups) {
  ModelKit kit(2);
  kit.op("Relu", {kit.input("x", {2, 2})});
  const Graph graph = kit.build();
  const Grouping grouping = group_by_metis(graph, std::vector<Nanos>{Nanos(0)}, {});
  check_grouping(graph, grouping, 1);

  ModelKit empty(2);
  empty.input("x", {2});
  const Graph nothing = empty.build();
  EXPECT_EQ(group_by_metis(nothing, std::vector<Nanos>{}, {}).size(), 0u);
}

RC_GTEST_PROP(GroupingProperty, CoversAnyGraphWithoutAWord, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const int ops = *rc::gen::inRange(1, 120), most = *rc::gen::inRange(1, 70);
  const Graph graph = random_graph(seed, ops);
  const std::vector<Nanos> times = random_times(seed, graph.op_count());
  MetisOptions options;
  options.max_groups = most;
  testing::internal::CaptureStdout();
  const Grouping grouping = group_by_metis(graph, times, options);
  const std::string printed = testing::internal::GetCapturedStdout();
  RC_ASSERT(printed.empty());
  check_grouping(graph, grouping, most);
  RC_ASSERT(grouping.digest() == group_by_metis(graph, times, options).digest());
}

TEST(PartitionOps, SplitsASubsetEvenly) {
  const Graph graph = deep_model(40);
  std::vector<Nanos> times;
  for (const Op& op : graph.ops())
    times.push_back(Nanos(1 + static_cast<std::int64_t>(op.work.flops)));
  std::vector<OpId> some;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (i % 7 != 0) some.push_back(OpId(i));
  }
  const std::vector<std::int32_t> part = partition_ops(graph, some, times, 4);
  ASSERT_EQ(part.size(), some.size());
  std::map<std::int32_t, std::int64_t> load;
  for (std::size_t i = 0; i < part.size(); ++i) {
    ASSERT_GE(part[i], 0);
    ASSERT_LT(part[i], 4);
    load[part[i]] += times[some[i].index()].value;
  }
  ASSERT_EQ(load.size(), 4u);
  for (const auto& [index, sum] : load) EXPECT_LT(sum, load[0] * 2);
  EXPECT_EQ(part, partition_ops(graph, some, times, 4));
}

}  // namespace
}  // namespace strato
