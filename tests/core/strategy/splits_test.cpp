// Split ops in strategies: checks, files, digests.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/graph/train/training_graph.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/plan_file.h"
#include "core/strategy/file/rebind.h"
#include "tests/core/cost/toy.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// A perceptron: op 0 is a product that splits along axis 1, and so does its Relu.
class Splits : public testing::Test {
 protected:
  Splits() : cluster(toy::sample_cluster("tag-testbed")) {
    ModelKit kit(8);
    const TensorId x = kit.input("x", {8, 20});
    const TensorId hidden = kit.op("Relu", {kit.op("MatMul", {x, kit.weight("w", {20, 30})})});
    kit.op("MatMul", {hidden, kit.weight("v", {30, 10})});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
    std::vector<std::int32_t> group_of(graph->op_count());
    for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<int>(i % 2);
    times.assign(graph->op_count(), Nanos(10));
    grouping = Grouping(*graph, group_of, times);
    strategy.groups.resize(grouping.size());
    strategy.groups[GroupId(0)] = decision_on_device(DeviceId(0));
    strategy.splits = {{OpId(0), 1, parts({"v100:0", "v100:1"})},
                       {OpId(1), 1, {{DeviceId(0), 3}, {DeviceId(2), 1}, {DeviceId(5), 7}}}};
  }

  std::vector<DeviceShare> parts(std::initializer_list<const char*> names) const {
    std::vector<DeviceShare> shares;
    for (const char* name : names) shares.push_back({cluster->find_device(name), 1});
    return shares;
  }
  std::string complaint(std::vector<OpSplit> splits) {
    strategy.splits = std::move(splits);
    try {
      validate(strategy, grouping, *cluster);
    } catch (const InputError& error) {
      return error.place() + ": " + error.problem();
    }
    return "";
  }
  Rebound bind(const std::string& splits) const {
    return bind_strategy(parse_strategy(R"({"format": "stratoscope-strategy", "version": 1,
                                            "groups": [], "splits": )" +
                                            splits + "}",
                                        "s.json"),
                         *graph, grouping, *cluster, times);
  }
  static bool mentions(const Rebound& rebound, const std::string& line) {
    return std::ranges::find(rebound.unmatched, line) != rebound.unmatched.end();
  }
  std::string error_of(const std::string& splits) const {
    try {
      bind(splits);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::vector<Nanos> times;
  Grouping grouping;
  Strategy strategy;
};

TEST_F(Splits, AreChecked) {
  const std::vector<DeviceShare> two = {{DeviceId(0), 1}, {DeviceId(1), 1}};
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({{OpId(0), 1, two}, {OpId(1), 0, two}}), "");
  EXPECT_EQ(complaint({{OpId(1), 1, two}, {OpId(1), 0, two}}), "split ops: have op number 1 twice");
  EXPECT_EQ(complaint({{OpId(1), 1, two}, {OpId(0), 0, two}}),
            "split ops: have op number 0 out of order");
  const std::string ops = std::to_string(graph->op_count());
  EXPECT_EQ(complaint({{OpId(graph->op_count()), 1, two}}),
            "split ops: have op number " + ops + ", the model has " + ops + " ops");
  EXPECT_EQ(complaint({{OpId(), 1, two}}),
            "split ops: have op number -1, the model has " + ops + " ops");
  EXPECT_EQ(complaint({{OpId(0), -1, two}}), "split of op number 0: is along axis -1");
  EXPECT_EQ(complaint({{OpId(0), 1, {}}}), "split of op number 0: has 0 parts");
  EXPECT_EQ(complaint({{OpId(0), 1, {two[0]}}}), "split of op number 0: has 1 parts");
  EXPECT_EQ(
      complaint({{OpId(0), 1, {two[1], two[0]}}}),
      "split of op number 0: has device " + cluster->device(DeviceId(0)).name + " out of order");
  EXPECT_EQ(complaint({{OpId(0), 1, {two[0], two[0]}}}),
            "split of op number 0: repeats device " + cluster->device(DeviceId(0)).name);
  EXPECT_EQ(
      complaint({{OpId(0), 1, {two[0], {DeviceId(1), 0}}}}),
      "split of op number 0: gives device " + cluster->device(DeviceId(1)).name + " the weight 0");
  EXPECT_EQ(complaint({{OpId(0), 1, {two[0], {DeviceId(99), 1}}}}),
            "split of op number 0: names device number 99, which the cluster does not have");
}

TEST_F(Splits, RoundTripInAStrategyFile) {
  const NamedStrategy named = name_strategy(strategy, *graph, grouping, *cluster);
  ASSERT_EQ(named.splits.size(), 2u);
  EXPECT_EQ(named.splits[0].op, graph->op(OpId(0)).name);
  const NamedStrategy read = parse_strategy(strategy_json(named), "s.json");
  EXPECT_EQ(read, named);
  const Rebound rebound = bind_strategy(read, *graph, grouping, *cluster, times);
  EXPECT_EQ(rebound.strategy, strategy);
  EXPECT_EQ(rebound.strategy.digest(), strategy.digest());
  EXPECT_TRUE(rebound.unmatched.empty());
  strategy.splits.clear();
  EXPECT_EQ(strategy_json(name_strategy(strategy, *graph, grouping, *cluster)).find("splits"),
            std::string::npos);
}

TEST_F(Splits, AreBoundByName) {
  const std::string op = graph->op(OpId(0)).name, relu = graph->op(OpId(1)).name;
  const Rebound bound = bind(R"([{"op": ")" + relu + R"(", "axis": 1, "devices": {"v100": 2}},
                                 {"op": "gone", "axis": 1, "devices": {"v100": 1}},
                                 {"op": ")" +
                             op + R"(", "axis": 1,
                                  "devices": {"v100:1": 1, "v100:0": 3, "h100": 1}}])");
  ASSERT_EQ(bound.strategy.splits.size(), 2u);
  EXPECT_EQ(bound.strategy.splits[0].op, OpId(0));
  EXPECT_EQ(bound.strategy.splits[0].parts.size(), 2u);
  EXPECT_EQ(bound.strategy.splits[0].parts[0].weight, 3);
  EXPECT_GT(bound.strategy.splits[1].parts.size(), 2u);  // a device group stands for its devices
  validate(bound.strategy, grouping, *cluster);
  EXPECT_TRUE(mentions(bound, "splits: 1 of its 3 ops are not in the model, such as \"gone\""));
  EXPECT_TRUE(mentions(bound, "device \"h100\" is not in the cluster, dropped"));
}

TEST_F(Splits, WhatDoesNotFitIsDroppedInWords) {
  const std::string op = graph->op(OpId(0)).name;
  const auto split = [&](int axis, const std::string& devices) {
    return bind(R"([{"op": ")" + op + R"(", "axis": )" + std::to_string(axis) + R"(, "devices": )" +
                devices + "}]");
  };
  Rebound bound = split(0, R"({"v100:0": 1, "v100:1": 1})");  // the batch
  EXPECT_TRUE(bound.strategy.splits.empty());
  EXPECT_TRUE(mentions(bound, "split of \"" + op + "\": axis 0 does not divide it, dropped"));
  bound = split(1, R"({"v100:0": 1, "h100:1": 1})");
  EXPECT_TRUE(bound.strategy.splits.empty());
  EXPECT_TRUE(mentions(
      bound, "split of \"" + op + "\": fewer than two of its devices are in the cluster, dropped"));
}

TEST_F(Splits, BadFilesAreToldThePlace) {
  const auto starts = [&](const std::string& splits, const std::string& with) {
    const std::string error = error_of(splits);
    EXPECT_TRUE(error.starts_with(with)) << error;
  };
  starts("[]", "no error");
  starts(R"("all")", "s.json: splits: is not a list");
  starts("[7]", "s.json: splits[0]");
  starts(R"([{"op": "a", "axis": 1}])", "s.json: splits[0]");
  starts(R"([{"op": "a", "devices": {"x": 1}}])", "s.json: splits[0]");
  starts(R"([{"op": "a", "axis": -1, "devices": {"x": 1}}])", "s.json: splits[0].axis");
  starts(R"([{"op": "a", "axis": 99999999999, "devices": {"x": 1}}])", "s.json: splits[0].axis");
  starts(R"([{"op": "a", "axis": 1, "devices": {}}])", "s.json: splits[0].devices");
  starts(R"([{"op": "a", "axis": 1, "devices": {"x": 0}}])", "s.json: splits[0].devices");
  starts(R"([{"op": "a", "axis": 1, "devices": {"x": 1}, "parts": 2}])", "s.json: splits[0]");
  starts(R"([{"op": "a", "axis": 1, "devices": {"x": 1}},
             {"op": "a", "axis": 2, "devices": {"x": 1}}])",
         "s.json: splits[1].op: \"a\" is there twice; split each op once");
}

TEST_F(Splits, MakeAnotherStrategy) {
  Strategy after = strategy;
  EXPECT_TRUE(after == strategy);
  const auto differs = [&] { return after.digest() != strategy.digest() && !(after == strategy); };
  after.splits.pop_back();
  EXPECT_TRUE(differs());
  after.splits = strategy.splits;
  after.splits[0].parts[0].weight = 2;
  EXPECT_TRUE(differs());
  after.splits = {{OpId(2), 1, strategy.splits[0].parts}};
  EXPECT_TRUE(differs());
}

// Files of before had what is ZeRO's stages now as split updates, and a word for all of them.
TEST_F(Splits, OfUpdatesThatWereGatheredEachPassAreZeroThree) {
  strategy = {};
  strategy.groups.assign(grouping.size(), Decision{Mode::ReplicateAllReduce, {}});
  for (std::optional<Decision>& group : strategy.groups)
    for (std::size_t d = 0; d < 4; ++d) group->devices.push_back({DeviceId(d), 1});
  Bytes smallest{1 << 30};
  std::vector<OpId> updates;
  for (const OpId op : graph->ops().ids()) {
    if (graph->op(op).phase != Phase::Update) continue;
    updates.push_back(op);
    smallest = std::min(smallest, graph->tensor(graph->op(op).inputs[0]).bytes());
    strategy.splits.push_back({op, 0, strategy.groups.front()->devices});
  }
  ASSERT_EQ(updates.size(), 2u);
  const auto read = [&](bool each_pass) {
    NamedStrategy named = name_strategy(strategy, *graph, grouping, *cluster);
    named.gathers_each_pass = each_pass;
    const std::string text = strategy_json(named);
    EXPECT_EQ(text.find("\"gather\": \"each-pass\"") != std::string::npos, each_pass);
    return bind_strategy(parse_strategy(text, "s.json"), *graph, grouping, *cluster, times);
  };
  const Rebound each = read(true);
  EXPECT_TRUE(each.unmatched.empty());
  EXPECT_TRUE(each.strategy.splits.empty());
  Bytes least{1 << 30};
  for (const OpId update : updates) {
    const auto& decision = each.strategy.groups[grouping.group_of(update)];
    EXPECT_EQ(decision->roles.states.stage, 3);
    EXPECT_EQ(state_rows_of(*decision), 4u);
    least = std::min(least, decision->roles.states.smallest);
  }
  EXPECT_EQ(least, smallest);
  EXPECT_EQ(read(false).strategy, strategy) << "split updates are legal by themselves";
  for (std::optional<Decision>& group : strategy.groups) group->roles.tensor = 2;
  const Strategy on_rows = read(false).strategy;
  EXPECT_TRUE(on_rows.splits.empty()) << "its rows share what its columns have";
  EXPECT_EQ(on_rows.groups[grouping.group_of(updates[0])]->roles.states.stage, 1);
  // Updates on other devices stay split.
  strategy.splits[0].parts.pop_back();
  EXPECT_EQ(read(true).strategy.splits.size(), 1u);
}

}  // namespace
}  // namespace strato
