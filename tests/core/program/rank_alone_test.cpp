// The program of one rank made alone is, byte for byte, the one that it has among all.
#include <gtest/gtest.h>

#include <random>

#include "core/graph/train/training_graph.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/core/strategy/random_variables.h"

namespace strato {
namespace {

void expect_the_same(toy::Bench& bench, const Strategy& strategy, const std::string& what) {
  const Timeline timeline = bench.run(strategy);
  const std::vector<TaskId> order = execution_order(timeline);
  const Program& program = *timeline.program;
  const RankPrograms all = rank_programs(program, order);
  std::vector<Digest> alone;
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d) {
    const std::optional<RankProgram> one = rank_program_of(program, order, DeviceId(d));
    const int rank = all.rank_of(DeviceId(d));
    ASSERT_EQ(one.has_value(), rank >= 0) << what << ", device " << d;
    if (!one) continue;
    const std::string bytes = write_rank_program(*one);
    EXPECT_EQ(bytes, write_rank_program(all.ranks[static_cast<std::size_t>(rank)]))
        << what << ", device " << d;
    alone.push_back(digest_of(bytes));
  }
  // What the parts say together is what one says of them all.
  EXPECT_EQ(digest_of_ranks(all.graph->digest(), alone), all.digest()) << what;
}

TEST(RankAlone, IsWhatItIsAmongAll) {
  toy::Bench bench(toy::training_chain(8, 4, 8), toy::cluster(2, 2),
                   {{"f2", 1}, {"gw3", 1}, {"f3", 2}});
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const std::string name(label_of(mode));
    expect_the_same(bench, bench.everywhere(mode, {0, 1, 2, 3}), name);
    expect_the_same(bench, bench.everywhere(mode, {0, 1, 2, 3}, {1, 3, 2, 2}), name + " uneven");
    expect_the_same(bench, bench.everywhere(mode, {3}), name + " on one");
    expect_the_same(bench, bench.everywhere(mode, {1, 3}), name + " on two");
  }
  Strategy mixed = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2});
  mixed.groups[bench.group("f2")] = toy::Bench::decision(Mode::ModelParallel, {1, 3});
  mixed.groups[bench.group("f3")] = toy::Bench::decision(Mode::ReplicatePs, {0, 3}, {3, 1});
  expect_the_same(bench, mixed, "mixed");
  mixed.bucket = Bytes(64);
  expect_the_same(bench, mixed, "in buckets");
}

std::shared_ptr<const Graph> matrices() {
  ModelKit kit(8);
  TensorId x = kit.input("x", {8, 6});
  for (const char* name : {"w1", "w2", "w3", "w4"})
    x = kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name, {6, 6})})});
  return std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
}

TEST(RankAlone, WithVariablesOfEveryKind) {
  toy::Bench bench(matrices(), toy::cluster(2, 2));
  std::mt19937_64 random(7);
  int lossy = 0;
  for (int round = 0; round < 60; ++round) {
    Strategy strategy = bench.everywhere(
        round % 2 == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs, {0, 1, 2, 3},
        round % 3 == 0 ? std::vector<int>{1, 2, 3, 2} : std::vector<int>{});
    RandomVariables variables{*bench.graph, *bench.grouping, *bench.cluster, random};
    variables.lossy = round % 3 == 2;
    strategy.variables = variables.variables(strategy);
    for (const VariableSync& variable : strategy.variables)
      for (const SyncPart& part : variable.parts) lossy += is_lossy(part.encoding);
    expect_the_same(bench, strategy, "round " + std::to_string(round));
  }
  EXPECT_GT(lossy, 10);
}

// How many of the devices' programs followed from a program without twins; all of them are right.
int expect_twins_the_same(toy::Bench& bench, const Strategy& strategy, const std::string& what) {
  const Timeline timeline = bench.run(strategy);
  const RankPrograms all = rank_programs(*timeline.program, execution_order(timeline));
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  const auto folded = std::make_shared<const Program>(bench.lowering->lower(strategy, options));
  const auto order = execution_order(bench.simulator.simulate(folded));
  int known = 0;
  for (std::size_t d = 0; d < bench.cluster->device_count(); ++d) {
    const auto one = rank_program_of_twin(*folded, order, fold, strategy, DeviceId(d));
    const int rank = all.rank_of(DeviceId(d));
    if (!one) continue;
    ++known;
    if (rank < 0) {
      ADD_FAILURE() << what << ": device " << d << " has no task";
      continue;
    }
    EXPECT_EQ(write_rank_program(*one),
              write_rank_program(all.ranks[static_cast<std::size_t>(rank)]))
        << what << ", device " << d;
  }
  return known;
}

TEST(RankAlone, FollowsFromItsTwins) {
  for (const auto& graph : {toy::training_chain(16, 4, 8), matrices()}) {
    toy::Bench bench(graph, toy::cluster(2, 4));
    const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
    const auto reduced = Mode::ReplicateAllReduce;
    EXPECT_EQ(expect_twins_the_same(bench, bench.everywhere(reduced, all), "even"), 8);
    EXPECT_EQ(expect_twins_the_same(bench, bench.everywhere(reduced, {1, 2, 5, 7}), "some"), 4);
    EXPECT_EQ(expect_twins_the_same(bench, bench.everywhere(Mode::Duplicate, all), "whole"), 8);
    expect_twins_the_same(bench, bench.everywhere(reduced, all, {1, 1, 2, 2, 1, 1, 3, 1}),
                          "uneven");
    expect_twins_the_same(bench, bench.everywhere(reduced, all, {9, 1, 1, 1, 1, 1, 1, 1}), "odd");
    expect_twins_the_same(bench, bench.everywhere(Mode::ReplicatePs, all), "servers");
    expect_twins_the_same(bench, bench.everywhere(Mode::ModelParallel, all), "model parallel");
    Strategy bucketed = bench.everywhere(reduced, all);
    bucketed.bucket = Bytes(300);
    EXPECT_EQ(expect_twins_the_same(bench, bucketed, "in buckets"), 8);
    Strategy ordered = bench.everywhere(reduced, all);
    for (std::size_t op = 0; op < graph->op_count(); ++op)
      ordered.priorities.push_back(static_cast<std::int32_t>(op * 7 % 5));
    EXPECT_EQ(expect_twins_the_same(bench, ordered, "in another order"), 8);
  }
}

// Nothing is left out of a program with offloaded results.
TEST(RankAlone, FollowsFromAWholeProgramWithOffloadedResults) {
  toy::Bench bench(toy::training_chain(16, 4, 8), toy::cluster(2, 2, 1 << 20));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3});
  strategy.offloaded = {bench.graph->find_op("f1"), bench.graph->find_op("f2")};
  EXPECT_EQ(expect_twins_the_same(bench, strategy, "offloaded"), 4);
}

TEST(RankAlone, FollowsFromItsTwinsInSeveralGroups) {
  toy::Bench bench(toy::training_chain(24, 5, 8), toy::cluster(3, 4),
                   {{"f2", 1}, {"gw2", 1}, {"u2", 1}, {"gw4", 2}, {"u4", 2}});
  std::mt19937_64 random(3);
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  int known = 0;
  for (int round = 0; round < 80; ++round) {
    Strategy strategy;
    for (std::size_t g = 0; g < bench.grouping->size(); ++g) {
      std::vector<int> devices, weights;
      const int kind = below(4);
      for (int d = 0; d < 12; ++d)
        if (kind < 2 || (kind == 2 ? d < 8 : d % 4 != 1)) devices.push_back(d);
      for (std::size_t i = 0; i < devices.size(); ++i)
        weights.push_back(kind == 1 ? 1 + below(2) : 1);
      strategy.groups.push_back(toy::Bench::decision(
          below(6) == 0 ? Mode::Duplicate : Mode::ReplicateAllReduce, devices, weights));
    }
    known += expect_twins_the_same(bench, strategy, "round " + std::to_string(round));
  }
  EXPECT_GT(known, 20);
}

TEST(RankAlone, OfADeviceWithoutTasksThereIsNone) {
  toy::Bench bench(toy::training_chain(4, 2, 4), toy::cluster(1, 3));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 2}));
  const auto order = execution_order(timeline);
  EXPECT_FALSE(rank_program_of(*timeline.program, order, DeviceId(1)).has_value());
  const auto last = rank_program_of(*timeline.program, order, DeviceId(2));
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->rank, 1);
  EXPECT_EQ(last->device, DeviceId(2));
}

}  // namespace
}  // namespace strato
