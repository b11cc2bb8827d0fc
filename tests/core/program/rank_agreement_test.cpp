// Ranks agree exactly when their programs meet as check_termination() wants it.
#include "core/program/rank/rank_agreement.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/graph/train/training_graph.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/core/strategy/random_variables.h"

namespace strato {
namespace {

std::optional<Disagreement> compared(const RankPrograms& programs) {
  std::vector<DeviceId> devices;
  for (const RankProgram& rank : programs.ranks) devices.push_back(rank.device);
  std::vector<RankShares> all;
  for (const RankProgram& rank : programs.ranks)
    all.push_back(shares_of(*programs.graph, rank, devices));
  return find_disagreement(all);
}

RankPrograms programs_of(Mode mode) {
  toy::Bench bench(toy::training_chain(8, 4, 8), toy::cluster(2, 2));
  const Timeline timeline = bench.run(bench.everywhere(mode, {0, 1, 2, 3}, {1, 2, 3, 2}));
  return rank_programs(*timeline.program, execution_order(timeline));
}

std::shared_ptr<const Graph> three_matrices() {
  ModelKit kit(8);
  TensorId x = kit.input("x", {8, 6});
  for (const char* name : {"w1", "w2", "w3"})
    x = kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name, {6, 6})})});
  return std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
}

TEST(RankAgreement, ProgramsOfOnePlanAgree) {
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel})
    EXPECT_FALSE(compared(programs_of(mode)).has_value()) << name_of(mode);
  toy::Bench bench(three_matrices(), toy::cluster(2, 2));
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    Strategy strategy = bench.everywhere(
        round % 2 == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs, {0, 1, 2, 3});
    RandomVariables variables{*bench.graph, *bench.grouping, *bench.cluster, random};
    variables.lossy = round % 3 == 0;
    strategy.variables = variables.variables(strategy);
    const Timeline timeline = bench.run(strategy);
    const auto found = compared(rank_programs(*timeline.program, execution_order(timeline)));
    EXPECT_FALSE(found.has_value()) << "round " << round << ": " << found->problem;
  }
}

// The first two instructions of rank 1 for which this holds.
std::vector<std::size_t> two_of(const RankProgram& program,
                                const std::function<bool(const Instruction&)>& holds) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < program.instructions.size() && found.size() < 2; ++i)
    if (holds(program.instructions[i])) found.push_back(i);
  return found;
}

TEST(RankAgreement, WhatOneRankDoesOtherwiseIsFound) {
  const auto reduces = [](const Instruction& what) {
    return what.kind == InstructionKind::AllReduce;
  };
  RankPrograms programs = programs_of(Mode::ReplicateAllReduce);
  const auto at = two_of(programs.ranks[1], reduces);
  ASSERT_EQ(at.size(), 2u);
  const auto expect_found = [&](const std::function<void(RankProgram&)>& change, int rank,
                                const std::string& words) {
    RankPrograms changed = programs;
    change(changed.ranks[1]);
    EXPECT_THROW(check_termination(changed, "x"), InputError);
    const auto found = compared(changed);
    ASSERT_TRUE(found.has_value()) << words;
    EXPECT_EQ(found->rank, rank) << found->problem;
    EXPECT_NE(found->problem.find(words), std::string::npos) << found->problem;
  };
  expect_found(
      [&](RankProgram& rank) { std::swap(rank.instructions[at[0]], rank.instructions[at[1]]); }, 1,
      "has other collectives of 4 ranks from rank 0 to rank 3");
  expect_found([&](RankProgram& rank) { rank.instructions[at[0]].task = TaskId(1); }, 1,
               "than rank 0 (4, digest ");
  expect_found(
      [&](RankProgram& rank) { rank.instructions[at[0]].stream = Stream::TensorCommunication; }, 1,
      "than rank 0 (4, digest ");
  expect_found(
      [&](RankProgram& rank) {
        Rows<DeviceId> members;
        for (std::size_t i = 0; i < rank.instructions.size(); ++i)
          members.push_row(i == at[0] ? std::span<const DeviceId>() : rank.members[i]);
        rank.instructions[at[0]].stream = Stream::Compute;
        rank.members = members;
      },
      1, "(3, digest ");
}

TEST(RankAgreement, AMessageThatNobodyTakesIsFound) {
  RankPrograms programs = programs_of(Mode::ReplicatePs);
  ASSERT_FALSE(compared(programs).has_value());
  const auto sends = two_of(programs.ranks[1], [](const Instruction& what) {
    return what.kind == InstructionKind::Send;
  });
  ASSERT_FALSE(sends.empty());
  const DeviceId to = programs.ranks[1].instructions[sends[0]].peer;
  // To a rank that has no other message from this one: all of its instructions go.
  for (RankProgram& rank : programs.ranks) {
    if (rank.device != to) continue;
    for (Instruction& what : rank.instructions)
      if (what.kind == InstructionKind::Receive && what.peer == DeviceId(1))
        what.stream = Stream::Compute;
  }
  const auto found = compared(programs);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 1);
  EXPECT_NE(found->problem.find("has transfers from rank 1 to rank " + std::to_string(to.value()) +
                                ", of which only 1 of 2 ranks know"),
            std::string::npos)
      << found->problem;
}

// Just what is said to others, in another order: instruction i is order[i] of before.
RankProgram in_order(const RankProgram& program, const std::vector<std::size_t>& order) {
  RankProgram ordered = program;
  ordered.instructions.clear();
  ordered.reads = ordered.writes = ordered.releases = {};
  ordered.waits = {};
  ordered.members = {};
  ordered.cuts = {};
  for (const std::size_t i : order) {
    ordered.instructions.push_back(program.instructions[i]);
    ordered.reads.push_row(program.reads[i]);
    ordered.writes.push_row(program.writes[i]);
    ordered.releases.push_row({});
    ordered.waits.push_row({});
    ordered.members.push_row(program.members[i]);
    ordered.cuts.push_row(program.cuts[i]);
  }
  return ordered;
}

std::vector<std::size_t> communication_of(const RankProgram& program) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].stream != Stream::Compute) found.push_back(i);
  return found;
}

bool ends(const RankPrograms& programs) {
  try {
    check_termination(programs, "x");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// The digests of each set and pair stay the same where what is moved is shared with others.
TEST(RankAgreement, OrdersAgreeExactlyWhenAllEnd) {
  toy::Bench bench(three_matrices(), toy::cluster(2, 2));
  std::mt19937_64 random(7);
  int waits_in_a_circle = 0, harmless = 0;
  for (int round = 0; round < 400; ++round) {
    Strategy strategy = bench.everywhere(
        round % 2 == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs, {0, 1, 2, 3});
    RandomVariables variables{*bench.graph, *bench.grouping, *bench.cluster, random};
    strategy.variables = variables.variables(strategy);
    const Timeline timeline = bench.run(strategy);
    RankPrograms programs = rank_programs(*timeline.program, execution_order(timeline));
    const std::size_t moved = round % programs.ranks.size();
    for (std::size_t r = 0; r < programs.ranks.size(); ++r) {
      RankProgram& rank = programs.ranks[r];
      std::vector<std::size_t> order = communication_of(rank);
      const auto below = [&](std::size_t end) { return random() % end; };
      if (r == moved && order.size() > 1) {
        const std::size_t from = below(order.size()), to = below(order.size());
        const std::size_t what = order[from];
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), what);
      }
      rank = in_order(rank, order);
    }
    const auto found = compared(programs);
    EXPECT_EQ(!found.has_value(), ends(programs))
        << "round " << round << ": " << (found ? found->problem : "they agree");
    waits_in_a_circle += found && found->problem.starts_with("comes to ");
    harmless += !found;
  }
  EXPECT_GT(waits_in_a_circle, 20);
  EXPECT_GT(harmless, 20);
}

RankShares told(std::map<std::string, RankShare> by_name, std::vector<RankShares::Run> order) {
  return {std::move(by_name), std::move(order)};
}

TEST(RankAgreement, WhoWaitsForWhomIsTold) {
  const RankShare two{2, 3, "0123456789"};
  // Each of three comes first to what it shares with the next.
  const std::vector<RankShares> circle = {told({{"a", two}, {"c", two}}, {{0, 3}, {1, 3}}),
                                          told({{"a", two}, {"b", two}}, {{1, 3}, {0, 3}}),
                                          told({{"b", two}, {"c", two}}, {{1, 3}, {0, 3}})};
  const auto found = find_disagreement(circle);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 0);
  EXPECT_EQ(found->problem, "comes to a before c, at which rank 2 waits for it");
  // They take turns, in pieces of other sizes.
  const std::vector<RankShares> turns = {
      told({{"a", two}, {"c", two}}, {{0, 1}, {1, 2}, {0, 2}, {1, 1}}),
      told({{"a", two}, {"b", two}}, {{0, 2}, {1, 3}, {0, 1}}),
      told({{"b", two}, {"c", two}}, {{1, 2}, {0, 3}, {1, 1}})};
  EXPECT_FALSE(find_disagreement(turns).has_value());
}

TEST(RankAgreement, AnOrderOfOtherMessagesIsRefused) {
  const RankShare two{2, 3, "0123456789"};
  const auto of = [&](std::vector<RankShares::Run> order) {
    return told({{"a", two}, {"b", two}}, std::move(order));
  };
  const RankShares whole = of({{0, 3}, {1, 3}});
  for (const RankShares& other :
       {of({}), of({{0, 3}}), of({{0, 3}, {1, 4}}), of({{0, 3}, {1, 3}, {1, 1}}),
        of({{0, 3}, {2, 3}}), of({{0, 3}, {-1, 3}}), of({{0, 3}, {1, 0}, {1, 3}}),
        of({{0, 3}, {1, -1}, {1, 4}}), of({{0, std::numeric_limits<std::int64_t>::max()}})}) {
    const auto found = find_disagreement(std::vector{whole, other});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->rank, 1);
    EXPECT_EQ(found->problem, "tells another order than it has messages");
  }
  EXPECT_FALSE(find_disagreement(std::vector{whole, whole}).has_value());
}

}  // namespace
}  // namespace strato
