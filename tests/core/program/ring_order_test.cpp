// Reduction sequences of a strategy are the order of members in the programs of ranks.
#include "core/program/project/ring_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/graph/train/training_graph.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_agreement.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/core/strategy/random_variables.h"

namespace strato {
namespace {

std::shared_ptr<const Graph> four_matrices() {
  ModelKit kit(8);
  TensorId x = kit.input("x", {8, 6});
  for (const char* name : {"w1", "w2", "w3", "w4"})
    x = kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name, {6, 6})})});
  return std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
}

std::vector<DeviceId> ids(const std::vector<int>& numbers) {
  std::vector<DeviceId> devices;
  for (const int number : numbers) devices.emplace_back(static_cast<std::size_t>(number));
  return devices;
}

SyncPart ring(const std::vector<int>& order, int merge_group = -1) {
  SyncPart part;
  part.sequence = ids(order);
  part.merge_group = merge_group;
  return part;
}

struct Rings {
  Rings() : bench(four_matrices(), toy::cluster(2, 2)) {
    for (std::size_t i = 0; i < bench.graph->op_count(); ++i) {
      const TensorId parameter = parameter_of(*bench.graph, OpId(i));
      if (parameter.valid()) updates[bench.graph->tensor(parameter).name] = OpId(i);
    }
    strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  }

  void set(const std::string& variable, std::vector<SyncPart> parts) {
    strategy.variables.push_back({updates.at(variable), 0, std::move(parts)});
    std::ranges::sort(strategy.variables, {}, &VariableSync::update);
  }
  RankPrograms ranks() {
    const Timeline timeline = bench.run(strategy);
    RankPrograms all = rank_programs(*timeline.program, execution_order(timeline));
    const RingOrders orders = ring_orders(*timeline.program, strategy);
    for (RankProgram& rank : all.ranks) order_rings(rank, orders);
    check_termination(all, "rings");
    std::vector<RankShares> shares;
    std::vector<DeviceId> devices;
    for (const RankProgram& rank : all.ranks) devices.push_back(rank.device);
    for (RankProgram& rank : all.ranks) {
      shares.push_back(shares_of(*all.graph, rank, devices));
      rank = read_rank_program(write_rank_program(rank), *all.graph, "rank");
    }
    EXPECT_FALSE(find_disagreement(shares).has_value());
    return all;
  }
  // Around whom the part of this variable's gradient that begins there is reduced.
  std::vector<DeviceId> around(const RankProgram& rank, const std::string& variable,
                               std::int32_t begin = 0) const {
    const TensorId gradient = bench.graph->op(updates.at(variable)).inputs[1];
    for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
      if (rank.instructions[i].kind != InstructionKind::AllReduce) continue;
      for (const ValueId read : rank.reads[i]) {
        const Value& value = rank.values[read];
        if (value.tensor == gradient && value.part.cuts().front().begin == begin)
          return {rank.members[i].begin(), rank.members[i].end()};
      }
    }
    return {};
  }

  toy::Bench bench;
  std::map<std::string, OpId> updates;
  Strategy strategy;
};

TEST(RingOrder, PartsAndMergeGroupsGoAroundTheirOwnRings) {
  Rings rings;
  rings.set("w1", {ring({0, 2, 1, 3}), ring({}), ring({3, 1, 0, 2})});
  rings.set("w2", {ring({2, 0, 3, 1}, 4)});
  rings.set("w3", {ring({1, 0, 2, 3}), ring({2, 0, 3, 1}, 4)});
  for (const RankProgram& rank : rings.ranks().ranks) {
    SCOPED_TRACE(rank.rank);
    EXPECT_EQ(rings.around(rank, "w1", 0), ids({2, 1, 3, 0}));
    EXPECT_EQ(rings.around(rank, "w1", 2), ids({0, 1, 2, 3})) << "no order was asked for";
    EXPECT_EQ(rings.around(rank, "w1", 4), ids({2, 3, 1, 0}));
    EXPECT_EQ(rings.around(rank, "w2"), ids({3, 1, 2, 0}));
    EXPECT_EQ(rings.around(rank, "w3", 0), ids({2, 3, 1, 0}));
    EXPECT_EQ(rings.around(rank, "w3", 3), ids({3, 1, 2, 0}));
    EXPECT_EQ(rings.around(rank, "w4"), ids({0, 1, 2, 3}));
  }
}

// An order that is ascending is one, too: it is not left to the transport.
TEST(RingOrder, TheAscendingOneIsTold) {
  Rings rings;
  rings.set("w1", {ring({0, 1, 2, 3})});
  rings.set("w2", {ring({2, 3, 0, 1})});
  for (const RankProgram& rank : rings.ranks().ranks) {
    EXPECT_EQ(rings.around(rank, "w1"), ids({1, 2, 3, 0}));
    EXPECT_EQ(rings.around(rank, "w2"), ids({1, 2, 3, 0}));
  }
}

TEST(RingOrder, GatheredTermsKeepTheirPlaces) {
  Rings rings;
  SyncPart part = ring({0, 3, 1, 2});
  part.encoding = Encoding::TopK;
  rings.set("w1", {part});
  const RankPrograms all = rings.ranks();
  int found = 0;
  for (const RankProgram& rank : all.ranks)
    for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
      if (rank.instructions[i].kind != InstructionKind::AllGather) continue;
      ++found;
      EXPECT_TRUE(std::ranges::equal(rank.members[i], ids({3, 1, 2, 0})));
      const auto own = std::ranges::find(rank.members[i], rank.device) - rank.members[i].begin();
      const auto cuts = rank.cuts[i].subspan(static_cast<std::size_t>(own));
      EXPECT_EQ(cuts[1] - cuts[0], rank.values[rank.reads[i][0]].record_count);
    }
  EXPECT_EQ(found, 4);
}

// As many collectives go around each ring as the strategy has parts, or merge groups, with it.
TEST(RingOrder, OfRandomStrategiesEverySequenceIsFound) {
  std::mt19937_64 random(19);
  std::size_t seen = 0;
  for (int round = 0; round < 60; ++round) {
    Rings rings;
    RandomVariables variables{*rings.bench.graph, *rings.bench.grouping, *rings.bench.cluster,
                              random};
    variables.lossy = round % 2 == 0;
    rings.strategy.variables = variables.variables(rings.strategy);
    std::size_t expected = 0;
    std::set<std::int32_t> groups;
    for (const VariableSync& variable : rings.strategy.variables)
      for (const SyncPart& part : variable.parts)
        if (!part.sequence.empty() &&
            (part.merge_group < 0 || groups.insert(part.merge_group).second))
          ++expected;
    seen += expected;
    for (const RankProgram& rank : rings.ranks().ranks) {
      std::size_t ordered = 0;
      for (std::size_t i = 0; i < rank.instructions.size(); ++i)
        ordered += !std::ranges::is_sorted(rank.members[i]);
      EXPECT_EQ(ordered, expected) << "round " << round << ", rank " << rank.rank;
    }
  }
  EXPECT_GT(seen, 20u);
}

}  // namespace
}  // namespace strato
