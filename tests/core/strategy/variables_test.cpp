// How single variables are synchronised, in strategies: checks, files, binding, words.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/base/error.h"
#include "core/graph/train/training_graph.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/plan_file.h"
#include "core/strategy/file/rebind.h"
#include "tests/core/cost/toy.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/strategy/random_variables.h"

namespace strato {
namespace {

// Words are looked up, positions as well, and both meet a product: w [100, 6], p [4, 6], v [6, 10].
class Variables : public testing::Test {
 protected:
  Variables() : cluster(toy::sample_cluster("tag-testbed")) {
    ModelKit kit(8);
    const TensorId ids = kit.input("ids", {8, 4}, DataType::I64);
    const TensorId words = kit.op("Gather", {kit.weight("w", {100, 6}), ids});
    const TensorId places =
        kit.op("Gather", {kit.weight("p", {4, 6}), kit.constant("places", {0, 1, 2, 3})});
    kit.op("MatMul", {kit.op("Add", {words, places}), kit.weight("v", {6, 10})});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
    std::vector<std::int32_t> group_of(graph->op_count());
    for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<int>(i % 2);
    times.assign(graph->op_count(), Nanos(10));
    grouping = Grouping(*graph, group_of, times);
    strategy.groups.assign(
        grouping.size(),
        Decision{Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(5), 2}}});
    for (std::size_t i = 0; i < graph->op_count(); ++i)
      if (const TensorId of = parameter_of(*graph, OpId(i)); of.valid())
        (graph->tensor(of).name == "w" ? w : graph->tensor(of).name == "v" ? v : p) = OpId(i);
  }

  static SyncPart server(int device, std::vector<DeviceId> stations = {}) {
    return {Synchroniser::Ps, Encoding::None, DeviceId(device), std::move(stations), -1, {}};
  }
  static SyncPart group(int number, Encoding encoding = Encoding::None) {
    return {Synchroniser::AllReduce, encoding, {}, {}, number, {}};
  }
  static SyncPart order(std::vector<DeviceId> sequence) {
    return {Synchroniser::AllReduce, Encoding::None, {}, {}, -1, std::move(sequence)};
  }
  std::string complaint(std::vector<VariableSync> variables) {
    std::ranges::sort(variables, {}, &VariableSync::update);
    return complaint_as_is(std::move(variables));
  }
  std::string complaint_as_is(std::vector<VariableSync> variables) {
    strategy.variables = std::move(variables);
    try {
      validate(strategy, grouping, *cluster);
      validate_variables(strategy, *graph);
    } catch (const InputError& error) {
      EXPECT_FALSE(error.remedy().empty());
      return error.problem();
    }
    return "";
  }
  Rebound bind(const std::string& variables, const Cluster& onto) const {
    return bind_strategy(
        parse_strategy(
            R"({"format": "stratoscope-strategy", "version": 1, "groups": [], "variables": )" +
                variables + "}",
            "s.json"),
        *graph, grouping, onto, times);
  }
  std::string name(int device) const { return cluster->device(DeviceId(device)).name; }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::vector<Nanos> times;
  Grouping grouping;
  Strategy strategy;
  OpId w, v, p;
};

TEST_F(Variables, AreChecked) {
  const SyncPart plain;
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({{w, 0, {plain}}, {v, 1, {server(3), group(0), plain}}}), "");
  EXPECT_EQ(complaint_as_is({{w, 0, {plain}}, {w, 0, {plain}}}),
            fmt::format("have op number {} twice", w.value()));
  EXPECT_EQ(complaint_as_is({{std::max(v, w), 0, {plain}}, {std::min(v, w), 0, {plain}}}),
            fmt::format("have op number {} out of order", std::min(v, w).value()));
  EXPECT_EQ(complaint({{OpId(graph->op_count()), 0, {plain}}}),
            fmt::format("have op number {0}, the model has {0} ops", graph->op_count()));
  EXPECT_EQ(complaint({{OpId(), 0, {plain}}}),
            fmt::format("have op number -1, the model has {} ops", graph->op_count()));
  EXPECT_EQ(complaint({{OpId(0), 0, {plain}}}), "is none: the op updates no parameter");
  EXPECT_EQ(complaint({{w, 0, {}}}), "has no part");
  EXPECT_EQ(complaint({{w, -1, {plain}}}), "is divided along axis -1");
  EXPECT_EQ(complaint({{w, 2, {plain, plain}}}), "is divided along axis 2, \"w\" has 2 axes");
  EXPECT_EQ(complaint({{w, 2, {plain}}}), "is divided along axis 2, \"w\" has 2 axes");
  EXPECT_EQ(complaint({{w, 1, std::vector<SyncPart>(6)}}), "");
  EXPECT_EQ(complaint({{w, 1, std::vector<SyncPart>(7)}}),
            "has 7 parts, axis 1 of \"w\" has an extent of 6");
}

TEST_F(Variables, PartitionsAreChecked) {
  const auto divided = [&](std::size_t parts, std::vector<std::int32_t> partition, int axis = 0) {
    return complaint({{w, axis, std::vector<SyncPart>(parts), 0, std::move(partition)}});
  };
  EXPECT_EQ(divided(6, {2, 3}), "");
  EXPECT_EQ(divided(1, {1, 1}), "");
  EXPECT_EQ(divided(6, {1, 6}), "");
  EXPECT_EQ(divided(600, {100, 6}), "");
  EXPECT_EQ(divided(14, {2, 7}), "has 7 parts along an axis, axis 1 of \"w\" has an extent of 6");
  EXPECT_EQ(divided(101, {101, 1}),
            "has 101 parts along an axis, axis 0 of \"w\" has an extent of 100");
  EXPECT_EQ(divided(5, {2, 3}), "has 5 parts, its partition 2x3 makes 6");
  EXPECT_EQ(divided(7, {2, 3}), "has 7 parts, its partition 2x3 makes 6");
  EXPECT_EQ(divided(2, {2147483647, 2147483647, 2147483647}),
            "has 2 parts, its partition 2147483647x2147483647x2147483647 makes 2147483648");
  EXPECT_EQ(divided(4, {2, 0}), "has 0 parts along an axis");
  EXPECT_EQ(divided(4, {2, -2}), "has -2 parts along an axis");
  EXPECT_EQ(divided(4, {2, 1, 2}), "is divided along axis 2, \"w\" has 2 axes");
  EXPECT_EQ(divided(6, {2, 3}, 1), "has a partition along several axes, and axis 1 as well");
  EXPECT_EQ(divided(32, {2, 2, 2, 2, 2}), "is divided along 5 axes");
}

// Row by row, larger ones first; one along a single axis is what it always was.
TEST(Divide, MakesThePartsOfAPartition) {
  VariableSync variable{OpId(0), 0, {SyncPart()}};
  divide(variable, {2, 1, 3});
  EXPECT_EQ(variable.parts.size(), 6u);
  EXPECT_EQ(variable.partition, (std::vector<std::int32_t>{2, 1, 3}));
  const auto part = [&](std::size_t index) {
    return describe(part_box(variable, {5, 9, 7}, index));
  };
  EXPECT_EQ(part(0), "axes 0,2 [0,3)x[0,3)");
  EXPECT_EQ(part(1), "axes 0,2 [0,3)x[3,5)");
  EXPECT_EQ(part(5), "axes 0,2 [3,5)x[5,7)");
  EXPECT_EQ(describe_division(variable), "6 parts, 2x3 along axes 0 and 2");
  divide(variable, {1, 4, 1});
  EXPECT_EQ(variable, (VariableSync{OpId(0), 1, std::vector<SyncPart>(4)}));
  EXPECT_EQ(describe(part_box(variable, {5, 9, 7}, 0)), "axis 1 [0,3)");
  divide(variable, {});
  EXPECT_EQ(variable, (VariableSync{OpId(0), 0, {SyncPart()}}));
  EXPECT_TRUE(part_box(variable, {}, 0).is_whole());
  EXPECT_THROW(divide(variable, {1 << 20, 1 << 20, 1 << 20, 1 << 20}), InputError);
  EXPECT_THROW(divide(variable, {2, 0}), InputError);
}

TEST_F(Variables, ServersAndStationsAreChecked) {
  EXPECT_EQ(complaint({{w, 0, {server(15, {DeviceId(0)})}}}), "");
  EXPECT_EQ(complaint({{w, 0, {server(-1)}}}),
            "has device number -1 as its server, which the cluster does not have");
  EXPECT_EQ(complaint({{w, 0, {server(16)}}}),
            "has device number 16 as its server, which the cluster does not have");
  EXPECT_EQ(complaint({{w, 0, {server(0, {DeviceId(99)})}}}),
            "has device number 99 as its transfer station, which the cluster does not have");
  EXPECT_EQ(complaint({{w, 0, {server(0, {DeviceId(0), DeviceId(1)})}}}),
            "has 2 transfer stations in machine " +
                cluster->machines()[cluster->device(DeviceId(0)).machine].name);
  EXPECT_EQ(complaint({{w, 0, {server(0, {DeviceId(15), DeviceId(0)})}}}),
            "has out of order station " + name(0));
  EXPECT_EQ(complaint({{w, 0, {server(0, {DeviceId(4), DeviceId(4)})}}}),
            "has 2 transfer stations in machine " +
                cluster->machines()[cluster->device(DeviceId(4)).machine].name);
  SyncPart both = server(0);
  both.merge_group = 1;
  EXPECT_EQ(complaint({{w, 0, {both}}}), "has a server, and a merge group or a reduction sequence");
  both = server(0);
  both.sequence = {DeviceId(0)};
  EXPECT_EQ(complaint({{w, 0, {both}}}), "has a server, and a merge group or a reduction sequence");
  both = server(0);
  both.synchroniser = Synchroniser::AllReduce;
  EXPECT_EQ(complaint({{w, 0, {both}}}), "is all-reduced, and has a server or transfer stations");
}

TEST_F(Variables, SequencesAndGroupsAreChecked) {
  const DeviceId a(0), b(1), c(5), d(2);
  EXPECT_EQ(complaint({{w, 0, {order({c, a, b})}}}), "");
  EXPECT_EQ(complaint({{w, 0, {order({c, a})}}}),
            "misses replica " + name(1) + " in its reduction sequence");
  EXPECT_EQ(complaint({{w, 0, {order({c, a, c})}}}),
            "repeats device " + name(5) + " in its reduction sequence");
  EXPECT_EQ(complaint({{w, 0, {order({c, a, b, d})}}}),
            "has device " + name(2) + " in its reduction sequence, which is no replica");
  EXPECT_EQ(complaint({{w, 0, {order({c, a, DeviceId(77)})}}}),
            "has device number 77 as its place in the reduction sequence, which the cluster does "
            "not have");
  EXPECT_EQ(complaint({{w, 0, {group(-2)}}}), "has merge group -2");
  EXPECT_EQ(complaint({{w, 0, {group(3)}}, {v, 0, {group(3), group(4, Encoding::Half)}}}), "");
  const std::string mixed = complaint({{w, 0, {group(3)}}, {v, 0, {group(3, Encoding::Half)}}});
  EXPECT_TRUE(mixed.starts_with("is encoded as ")) << mixed;
  EXPECT_EQ(complaint({{w, 0, {group(3, Encoding::SparseRows)}}}),
            "is in merge group 3 and encoded as sparse-rows, which is gathered alone");
  SyncPart ordered = order({c, a, b});
  ordered.merge_group = 3;
  EXPECT_EQ(complaint({{w, 0, {ordered}}, {v, 0, {ordered}}}), "");
  EXPECT_EQ(complaint({{w, 0, {ordered}}, {v, 0, {group(3)}}}),
            "has another sequence than others in merge group 3");
  // Where a group is not replicated an entry changes nothing: its sequence may be any.
  strategy.groups[grouping.group_of(w)] = decision_on_device(d);
  EXPECT_EQ(complaint({{w, 0, {order({c, a})}}}), "");
}

TEST_F(Variables, OnlyLookUpsAreSparse) {
  SyncPart sparse;
  sparse.encoding = Encoding::SparseRows;
  EXPECT_EQ(complaint({{w, 0, {sparse, server(0)}}, {p, 0, {sparse}}}), "");
  EXPECT_EQ(complaint({{v, 0, {sparse}}}), "sends sparse rows, and \"v\" is not only looked up");
  EXPECT_EQ(looked_up_rows(*graph, w), 32);  // 8 samples of 4 words
  EXPECT_EQ(looked_up_rows(*graph, p), 4);
  EXPECT_EQ(looked_up_rows(*graph, v), 0);
}

TEST_F(Variables, OnlyProductsHaveFactors) {
  SyncPart factors;
  factors.encoding = Encoding::SufficientFactors;
  EXPECT_EQ(complaint({{v, 0, {factors}}}), "");
  EXPECT_EQ(complaint({{w, 0, {factors}}}),
            "sends sufficient factors, and the gradient of \"w\" is no matrix product over the "
            "samples");
  EXPECT_EQ(complaint({{v, 1, {factors, SyncPart()}}}),
            "sends sufficient factors, which are those of the whole variable");
  SyncPart served = server(0);
  served.encoding = Encoding::SufficientFactors;
  EXPECT_EQ(complaint({{v, 0, {served}}}),
            "sends sufficient factors to a server, and every replica multiplies for itself");
  EXPECT_EQ(complaint({{v, 0, {group(1, Encoding::SufficientFactors)}}}),
            "sends sufficient factors, and has a merge group or a reduction sequence");
  factors.sequence = {DeviceId(0), DeviceId(1), DeviceId(5)};
  EXPECT_EQ(complaint({{v, 0, {factors}}}),
            "sends sufficient factors, and has a merge group or a reduction sequence");
  ASSERT_EQ(gradient_products(*graph, v).size(), 1u);
  EXPECT_EQ(graph->op(gradient_products(*graph, v)[0]).type, "MatMulGradB");
  EXPECT_TRUE(gradient_products(*graph, w).empty());
  EXPECT_TRUE(gradient_products(*graph, OpId(0)).empty()) << "it updates nothing";
}

// Of a bias, a convolution of windows and one of points, in one and in two groups, and of a weight
// that is there twice.
TEST(GradientProducts, AreFoundWhereTheyAre) {
  ModelKit kit(4);
  const TensorId image = kit.input("image", {4, 6, 5, 5});
  const TensorId windows = kit.op("Conv", {image, kit.weight("windows", {6, 6, 3, 3})},
                                  {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const TensorId points = kit.op("Conv", {windows, kit.weight("points", {6, 6, 1, 1})});
  const TensorId halves =
      kit.op("Conv", {points, kit.weight("halves", {6, 3, 1, 1})}, {{"group", std::int64_t{2}}});
  const TensorId flat = kit.op("Flatten", {halves}, {{"axis", std::int64_t{1}}});
  const TensorId hidden =
      kit.op("Gemm", {flat, kit.weight("first", {150, 8}), kit.weight("bias", {8})});
  const TensorId twice = kit.weight("twice", {8, 8});
  kit.op("MatMul", {kit.op("MatMul", {hidden, twice}), twice});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Sgd);
  std::map<std::string, std::size_t> products;
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (const TensorId of = parameter_of(graph, OpId(i)); of.valid())
      products[graph.tensor(of).name] = gradient_products(graph, OpId(i)).size();
  EXPECT_EQ(
      products,
      (std::map<std::string, std::size_t>{
          {"windows", 0}, {"points", 1}, {"halves", 0}, {"first", 1}, {"bias", 0}, {"twice", 2}}));
}

TEST_F(Variables, OnlyMatricesHaveALowRank) {
  SyncPart low;
  low.encoding = Encoding::LowRank;
  SyncPart served = server(0);
  served.encoding = Encoding::LowRank;
  EXPECT_EQ(complaint({{w, 1, {low, served}}, {v, 0, {low}}}), "");
  EXPECT_EQ(complaint({{v, 0, {group(1, Encoding::LowRank)}}}),
            "is in merge group 1 and encoded as low-rank, which is gathered alone");
  EXPECT_TRUE(is_matrix(graph->tensor(graph->op(v).inputs[0])));
  Tensor tensor = graph->tensor(graph->op(v).inputs[0]);
  tensor.shape = {60};
  EXPECT_FALSE(is_matrix(tensor));
  tensor.shape = {6, 10};
  tensor.type = DataType::I32;
  EXPECT_FALSE(is_matrix(tensor));
}

TEST_F(Variables, StalenessIsOfServersAndNotBelowZero) {
  VariableSync stale{v, 0, {server(3), server(0, {DeviceId(5)})}, 1};
  EXPECT_EQ(complaint({stale}), "");
  stale.staleness = 1'000'000;
  EXPECT_EQ(complaint({stale}), "");
  stale.staleness = -1;
  EXPECT_EQ(complaint({stale}), "has a staleness of -1");
  stale.staleness = 2;
  stale.parts.push_back(SyncPart());
  EXPECT_EQ(complaint({stale}),
            "has a staleness of 2, and is all-reduced, which all replicas do in the same step");
  stale.parts = {SyncPart()};
  stale.staleness = -3;
  EXPECT_EQ(complaint({stale}), "has a staleness of -3");
  stale.staleness = 0;
  EXPECT_EQ(complaint({stale}), "");
}

TEST_F(Variables, EncodedBytes) {
  const Part whole, half = Part::slice(1, 0, 3), few = Part::slice(0, 0, 10);
  const auto bytes = [&](Encoding encoding, const Part& part, std::int64_t samples) {
    return encoded_bytes(*graph, w, encoding, part, samples).value;
  };
  EXPECT_EQ(bytes(Encoding::None, whole, 8), 100 * 6 * 4);
  EXPECT_EQ(bytes(Encoding::None, half, 8), 100 * 3 * 4);
  EXPECT_EQ(bytes(Encoding::Half, whole, 1), 100 * 6 * 2);
  EXPECT_EQ(bytes(Encoding::SparseRows, whole, 8), 32 * (6 * 4 + 8));
  EXPECT_EQ(bytes(Encoding::SparseRows, whole, 3), 12 * (6 * 4 + 8));
  EXPECT_EQ(bytes(Encoding::SparseRows, half, 3), 12 * (3 * 4 + 8));
  EXPECT_EQ(bytes(Encoding::SparseRows, few, 8), 10 * (6 * 4 + 8));  // no more than there are
  EXPECT_EQ(bytes(Encoding::TopK, whole, 8), 6 * (4 + 8));
  EXPECT_EQ(bytes(Encoding::TopK, few, 8), 1 * (4 + 8));
  EXPECT_EQ(bytes(Encoding::LowRank, whole, 8), 4 * (100 + 6) * 4);
  EXPECT_EQ(bytes(Encoding::LowRank, half, 1), 3 * (100 + 3) * 4);  // no more than columns
  EXPECT_EQ(bytes(Encoding::LowRank, Part::slice(0, 0, 2), 1), 2 * (2 + 6) * 4);
  const Part corner = Part::slice(0, 0, 50).cut({1, 2, 4});
  EXPECT_EQ(bytes(Encoding::None, corner, 8), 50 * 2 * 4);
  EXPECT_EQ(bytes(Encoding::SparseRows, corner, 3), 12 * (2 * 4 + 8));
  EXPECT_EQ(bytes(Encoding::LowRank, corner, 1), 2 * (50 + 2) * 4);
  // What v meets: 4 places of 6 numbers, and of 10 gradients, of each sample.
  EXPECT_EQ(encoded_bytes(*graph, v, Encoding::SufficientFactors, whole, 8).value, 8 * 4 * 16 * 4);
  EXPECT_EQ(encoded_bytes(*graph, v, Encoding::SufficientFactors, whole, 3).value, 3 * 4 * 16 * 4);
  EXPECT_EQ(encoded_bytes(*graph, p, Encoding::SparseRows, whole, 1).value, 4 * (6 * 4 + 8));
}

TEST_F(Variables, RoundTripInStrategyFiles) {
  EXPECT_TRUE(rc::check([&] {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    RandomVariables any{*graph, grouping, *cluster, random, true};
    strategy.variables = any.variables(strategy);
    validate(strategy, grouping, *cluster);
    const NamedStrategy named = name_strategy(strategy, *graph, grouping, *cluster);
    const NamedStrategy read = parse_strategy(strategy_json(named), "s.json");
    RC_ASSERT(read == named);
    const Rebound rebound = bind_strategy(read, *graph, grouping, *cluster, times);
    RC_ASSERT(rebound.unmatched.empty());
    RC_ASSERT(rebound.strategy == strategy);
    RC_ASSERT(rebound.strategy.digest() == strategy.digest());
  }));
  strategy.variables.clear();
  EXPECT_EQ(strategy_json(name_strategy(strategy, *graph, grouping, *cluster)).find("variables"),
            std::string::npos);
}

// What is along one axis is written as before there were partitions, however it was read.
TEST_F(Variables, APartitionAlongOneAxisIsOne) {
  const std::string parts = R"("parts": [{"sync": "allreduce"}, {"sync": "allreduce"}]}])";
  const Rebound one = bind(R"([{"variable": "v", "axis": 1, )" + parts, *cluster);
  const Rebound other = bind(R"([{"variable": "v", "partition": [1, 2], )" + parts, *cluster);
  EXPECT_EQ(one.strategy.variables, other.strategy.variables);
  EXPECT_TRUE(other.strategy.variables.at(0).partition.empty());
  EXPECT_EQ(
      strategy_json(name_strategy(other.strategy, *graph, grouping, *cluster)).find("partition"),
      std::string::npos);
}

// Whatever the cluster, what is bound is valid.
TEST_F(Variables, BindToOtherClusters) {
  const auto other = toy::sample_cluster("tag-2x1080ti");
  std::mt19937_64 random(7);
  RandomVariables any{*graph, grouping, *cluster, random, true};
  for (int i = 0; i < 200; ++i) {
    strategy.variables = any.variables(strategy);
    const NamedStrategy named = name_strategy(strategy, *graph, grouping, *cluster);
    const Rebound rebound = bind_strategy(named, *graph, grouping, *other, times);
    EXPECT_NO_THROW(validate(rebound.strategy, grouping, *other));
    EXPECT_NO_THROW(validate_variables(rebound.strategy, *graph));
  }
}

TEST_F(Variables, WhatDoesNotFitIsDroppedInWords) {
  const auto words = [&](const std::string& text) { return bind(text, *cluster).unmatched; };
  const auto says = [&](const std::string& text, const std::string& line) {
    const std::vector<std::string> lines = words(text);
    EXPECT_NE(std::ranges::find(lines, line), lines.end()) << line;
  };
  const auto part = [](const std::string& body) {
    return R"([{"variable": "v", "parts": [)" + body + "]}]";
  };
  says(R"([{"variable": "gone", "parts": [{"sync": "allreduce"}]}])",
       "variables: 1 of its 1 are not trained in the model, such as \"gone\"");
  says(part(R"({"sync": "ps", "server": "h100:9"})"),
       "variable \"v\": its server \"h100:9\" is not in the cluster, dropped");
  says(part(R"({"sync": "ps", "server": ")" + name(0) + R"(", "stations": ["x", ")" + name(0) +
            R"(", ")" + name(1) + R"("]})"),
       "variable \"v\": its station \"x\" is not in the cluster, dropped");
  says(part(R"({"sync": "ps", "server": ")" + name(0) + R"(", "stations": [")" + name(0) +
            R"(", ")" + name(1) + R"("]})"),
       "variable \"v\": its station \"" + name(1) + "\" is the second in its machine, dropped");
  says(part(R"({"sync": "allreduce", "sequence": ["x", "y"]})"),
       "variable \"v\": its reduction sequence is not of its replicas, dropped");
  says(part(R"({"sync": "allreduce", "encoding": "sparse-rows"})"),
       "variable \"v\": it is not only looked up, its rows are not sent as sparse ones");
  says(R"([{"variable": "w", "parts": [{"sync": "allreduce", "encoding": "sufficient-factors"}]}])",
       "variable \"w\": its gradient is no matrix product, factors of it are not sent");
  says(
      R"([{"variable": "v", "staleness": 1, "parts": [{"sync": "allreduce"}]}])",
      "variable \"v\": has a staleness of 1, and is all-reduced, which all replicas do in the same "
      "step, dropped");
  says(R"([{"variable": "v", "axis": 2, "parts": [{"sync": "allreduce"}, {"sync": "allreduce"}]}])",
       "variable \"v\": is divided along axis 2, \"v\" has 2 axes, dropped");
}

TEST_F(Variables, BadFilesAreToldThePlace) {
  const auto starts = [&](const std::string& text, const std::string& with) {
    try {
      bind(text, *cluster);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(with)) << error.what();
    }
  };
  const auto part = [](const std::string& body) {
    return R"([{"variable": "v", "parts": [)" + body + "]}]";
  };
  starts(R"("all")", "s.json: variables: is not a list");
  starts(R"([{"parts": [{"sync": "allreduce"}]}])", "s.json: variables[0]");
  starts(R"([{"variable": "v"}])", "s.json: variables[0]");
  starts(R"([{"variable": "v", "parts": []}])", "s.json: variables[0].parts: is empty");
  starts(R"([{"variable": "v", "axis": -1, "parts": [{"sync": "allreduce"}]}])",
         "s.json: variables[0].axis");
  starts(R"([{"variable": "v", "staleness": -1, "parts": [{"sync": "ps", "server": "a"}]}])",
         "s.json: variables[0].staleness");
  starts(R"([{"variable": "v", "staleness": 1.5, "parts": [{"sync": "ps", "server": "a"}]}])",
         "s.json: variables[0].staleness");
  starts(
      R"([{"variable": "v", "staleness": 9999999999, "parts": [{"sync": "ps", "server": "a"}]}])",
      "s.json: variables[0].staleness");
  starts(part(R"({})"), "s.json: variables[0].parts[0]");
  starts(part(R"({"sync": "gossip"})"), "s.json: variables[0].parts[0].sync");
  starts(part(R"({"sync": "ps"})"), "s.json: variables[0].parts[0]");
  starts(part(R"({"sync": "ps", "server": ""})"), "s.json: variables[0].parts[0].server");
  starts(part(R"({"sync": "ps", "server": "a", "merge_group": 1})"),
         "s.json: variables[0].parts[0]");
  starts(part(R"({"sync": "allreduce", "server": "a"})"), "s.json: variables[0].parts[0]");
  starts(part(R"({"sync": "allreduce", "merge_group": -1})"),
         "s.json: variables[0].parts[0].merge_group");
  starts(part(R"({"sync": "allreduce", "encoding": "zip"})"),
         "s.json: variables[0].parts[0].encoding");
  starts(part(R"({"sync": "allreduce", "sequence": ["a", "a"]})"),
         "s.json: variables[0].parts[0].sequence[1]");
  const auto cut = [](const std::string& partition, const std::string& more = "") {
    return R"([{"variable": "v", "partition": )" + partition + more +
           R"(, "parts": [{"sync": "allreduce"}, {"sync": "allreduce"}]}])";
  };
  starts(cut("[2, 3]"), "s.json: variables[0].parts: are 2, the partition is into 6");
  starts(cut("[1048576, 1048576, 1048576, 1048576]"),
         "s.json: variables[0].parts: are 2, the partition is into 2147483648");
  starts(cut("[]"), "s.json: variables[0].partition: has 0 axes");
  starts(cut("2"), "s.json: variables[0].partition: is not a list");
  starts(cut("[2, 0]"), "s.json: variables[0].partition[1]");
  starts(cut("[2, 1.5]"), "s.json: variables[0].partition[1]");
  starts(cut("[1, 2]", R"(, "axis": 1)"), "s.json: variables[0].partition: is there beside");
  starts(R"([{"variable": "v", "parts": [{"sync": "allreduce"}]},
             {"variable": "v", "parts": [{"sync": "allreduce"}]}])",
         "s.json: variables[1].variable: \"v\" is there twice");
}

TEST_F(Variables, Words) {
  Strategy after = strategy;
  strategy.variables = {{w, 0, {server(0)}}};
  EXPECT_NE(after.digest(), strategy.digest());
  EXPECT_FALSE(after == strategy);
  after.variables = {{w, 0, {server(1)}}, {v, 0, {SyncPart()}}};
  std::ranges::sort(after.variables, {}, &VariableSync::update);
  EXPECT_NE(after.digest(), strategy.digest());
  EXPECT_EQ(
      describe({w, 1, {server(0, {DeviceId(4)}), group(3, Encoding::Half)}}, *graph, *cluster),
      "w: 2 parts along axis 1: PS on " + name(0) + " by " + name(4) +
          "; AllReduce, half, group 3");
  EXPECT_EQ(describe({v, 0, {order({DeviceId(5), DeviceId(0)})}}, *graph, *cluster),
            "v: AllReduce, in the order " + name(5) + ", " + name(0));
  EXPECT_EQ(describe({v, 0, {server(0)}, 1}, *graph, *cluster),
            "v: PS on " + name(0) + "; 1 step stale");
  EXPECT_EQ(describe({v, 0, {server(0), server(1)}, 2}, *graph, *cluster),
            "v: 2 parts along axis 0: PS on " + name(0) + "; PS on " + name(1) + "; 2 steps stale");
  EXPECT_EQ(describe({v, 0, std::vector<SyncPart>(4), 0, {2, 2}}, *graph, *cluster),
            "v: 4 parts, 2x2 along axes 0 and 1: AllReduce; AllReduce; AllReduce; AllReduce");
  Strategy boxes = after;
  for (VariableSync& variable : boxes.variables) {
    variable.parts.resize(4, variable.parts[0]);
    variable.partition = {2, 2};
  }
  Strategy rows = boxes;
  for (VariableSync& variable : rows.variables) variable.partition.clear();
  EXPECT_NE(rows.digest(), boxes.digest());
  Strategy stale = after;
  for (VariableSync& variable : stale.variables) variable.staleness += variable.update == w;
  EXPECT_NE(stale.digest(), after.digest());
  EXPECT_FALSE(stale == after);
}

}  // namespace
}  // namespace strato
