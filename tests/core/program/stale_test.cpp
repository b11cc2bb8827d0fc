// Bounded staleness: closed forms of the step, what is kept from step to step, what waits for what.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/error.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/program/rank/rank_program.h"
#include "core/sim/engine/delta.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

constexpr std::int64_t kValue = 1024;                 // of the parameter, and of its gradient
constexpr std::int64_t kCopyValue = 2 * kValue / 16;  // ns that a local copy of it takes
constexpr std::int64_t kSumUp = 3 * kValue / 16;      // of two terms
constexpr std::int64_t kApply = 7;

SyncPart served_by(int device, Encoding encoding = Encoding::None) {
  return {Synchroniser::Ps, encoding, DeviceId(device), {}, -1, {}};
}

// Replicas of one layer on two machines of one GPU each. A transfer takes 1 ns a byte, an op 10 ns
// a sample: three ops come one after the other, the last makes the gradient.
class Stale : public testing::Test {
 protected:
  static Bench bench_of(std::int64_t batch, std::int64_t width = kValue / 4) {
    return Bench(toy::training_chain(batch, 1, width), toy::cluster(2, 1));
  }
  static Strategy strategy_of(const Bench& bench, int staleness,
                              std::vector<SyncPart> parts = {served_by(0)}) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
    strategy.variables = {{bench.graph->find_op("u1"), 0, std::move(parts), staleness}};
    return strategy;
  }
  static Timeline run(Bench& bench, int staleness, std::vector<SyncPart> parts = {served_by(0)}) {
    return bench.run(strategy_of(bench, staleness, std::move(parts)));
  }
  static std::int64_t step(std::int64_t batch, int staleness) {
    Bench bench = bench_of(batch);
    return run(bench, staleness).step_time.value;
  }
  static std::int64_t compute(std::int64_t batch) { return 3 * 10 * batch / 2; }
};

// Little to compute: the network is busy all the time, one way or both.
TEST_F(Stale, ASlowLinkHidesWhatIsComputed) {
  const std::int64_t synchronous = compute(4) + kValue + kSumUp + kApply + kValue;
  EXPECT_EQ(step(4, 0), synchronous);
  EXPECT_EQ(step(4, 1), synchronous - compute(4));
  // The sum waits for the next step; meanwhile the value of the last one comes back.
  EXPECT_EQ(step(4, 2), kValue + kSumUp + kCopyValue);
  EXPECT_EQ(step(4, 3), step(4, 2)) << "there is nothing more to hide";
  EXPECT_EQ(step(4, 1'000'000), step(4, 2));
}

// Much to compute: all of the network's time is hidden. The parameter is copied before, and the
// gradient after; a value that arrives, or a sum, is in nobody's way.
TEST_F(Stale, MuchComputeHidesTheLink) {
  const std::int64_t batch = 1000;
  EXPECT_EQ(step(batch, 0), compute(batch) + 2 * kValue + kSumUp + kApply);
  const std::int64_t alone = kCopyValue + compute(batch) + kCopyValue;
  // The server's stream also copies its own term, sums and updates.
  EXPECT_EQ(step(batch, 1), alone + kCopyValue + kSumUp + kApply);
  EXPECT_EQ(step(batch, 2), alone + kCopyValue + kSumUp + kApply + kCopyValue);
  EXPECT_LT(step(batch, 2), step(batch, 0));
}

TEST_F(Stale, NeverSlowerWithMore) {
  for (const std::int64_t batch : {2, 10, 60, 100, 140, 200, 300}) {
    SCOPED_TRACE(batch);
    const std::int64_t free = step(batch, 0), one = step(batch, 1), two = step(batch, 2);
    EXPECT_LE(one, free);
    EXPECT_LE(two, one + kCopyValue) << "but for the copy of the sum";
    EXPECT_GE(two, std::max(kValue, compute(batch)));
  }
}

// Each of three machines serves one of three variables, on links that carry all at once. With
// little to compute the two ways are all there is: one after the other, as a whole, or both at
// once.
TEST_F(Stale, ManyServersOnFairLinks) {
  Bench bench(toy::training_chain(12, 3, kValue), toy::cluster(3, 1));
  SimulateOptions fair;
  fair.fair_links = true;
  std::vector<Nanos> steps;
  for (const int staleness : {0, 1, 2}) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2});
    for (const int layer : {1, 2, 3})
      strategy.variables.push_back({bench.graph->find_op("u" + std::to_string(layer)),
                                    0,
                                    {served_by(layer - 1)},
                                    staleness});
    steps.push_back(bench.simulator.simulate(bench.lower(strategy), fair).step_time);
  }
  EXPECT_LT(steps[2].value, steps[0].value * 3 / 4);
  EXPECT_LT(steps[2].value, steps[1].value * 3 / 4);
}

TEST_F(Stale, WhatIsKeptIsResident) {
  const auto resident = [](const Timeline& timeline, const char* tensor, int device) {
    std::int64_t bytes = 0;
    for (const Resident& of : timeline.program->residents)
      if (of.device == DeviceId(device) &&
          timeline.program->graph->tensor(of.tensor).name == tensor)
        bytes += of.bytes.value;
    return bytes;
  };
  Bench bench = bench_of(8);
  const Timeline none = run(bench, 0), one = run(bench, 1), two = run(bench, 2);
  for (const int device : {0, 1}) {
    EXPECT_EQ(resident(none, "gw1:0", device), 0);
    EXPECT_EQ(resident(one, "gw1:0", device), kValue);
    EXPECT_EQ(resident(one, "w1", device), kValue);
  }
  EXPECT_EQ(resident(two, "gw1:0", 0), 2 * kValue) << "its own term, and the sum";
  EXPECT_EQ(resident(two, "gw1:0", 1), kValue);
  EXPECT_TRUE(find(*one.program, "Keep gw1:0 @m1:0 [4,8)").valid());
  EXPECT_EQ(none.devices[DeviceId(1)].resident + Bytes(kValue), one.devices[DeviceId(1)].resident);
  // In parts: the servers keep the sums of theirs.
  const Timeline parts = run(bench, 2, {served_by(0), served_by(1), served_by(0)});
  EXPECT_EQ(resident(parts, "gw1:0", 0), kValue + 4 * (86 + 85));
  EXPECT_EQ(resident(parts, "gw1:0", 1), kValue + 4 * 85);
}

// A server that is no replica keeps the sum alone.
TEST_F(Stale, AServerNeedBeNoReplica) {
  Bench bench(toy::training_chain(4, 1, kValue / 4), toy::cluster(3, 1));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 2});
  for (const int staleness : {1, 2}) {
    strategy.variables = {{bench.graph->find_op("u1"), 0, {served_by(1)}, staleness}};
    const Timeline timeline = bench.run(strategy);
    EXPECT_EQ(count(*timeline.program, TaskKind::Update), 1u);
    // Two terms come in one after the other; two values leave alike.
    const std::int64_t in = 2 * kValue + kSumUp, out = 2 * kValue;
    EXPECT_EQ(timeline.step_time.value,
              staleness == 1 ? in + kApply + out : std::max(in + kCopyValue, kApply + out));
  }
}

// Of every parameter that is read, by the op's own copy, whatever reads it in the backward pass.
TEST_F(Stale, AllReadersReadTheCopy) {
  Bench bench(toy::training_chain(4, 3, 8), toy::cluster(2, 1));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  for (const char* name : {"u1", "u2", "u3"})
    strategy.variables.push_back({bench.graph->find_op(name), 0, {served_by(1)}, 1});
  const auto program = bench.lower(strategy);
  std::size_t copies = 0;
  for (const Task& task : program->tasks) {
    const bool parameter = task.tensor.valid() && bench.graph->tensor(task.tensor).name[0] == 'w';
    copies += task.kind == TaskKind::Split && parameter;
  }
  EXPECT_EQ(copies, 6u) << "one of each, on each replica";
  for (std::size_t i = 0; i < program->tasks.size(); ++i) {
    if (program->tasks[TaskId(i)].kind != TaskKind::Update) continue;
    for (const TaskId before : program->dependencies[i])
      EXPECT_NE(program->tasks[before].kind, TaskKind::Compute) << "an update waits for readers";
  }
}

TEST_F(Stale, GroupsThatAreNotReplicatedAreNotStale) {
  Bench bench = bench_of(4);
  for (const Mode mode : {Mode::Duplicate, Mode::ModelParallel}) {
    Strategy strategy = bench.everywhere(mode, {0, 1});
    const Timeline without = bench.run(strategy);
    strategy.variables = {{bench.graph->find_op("u1"), 0, {served_by(0)}, 2}};
    EXPECT_EQ(bench.run(strategy).step_time, without.step_time);
  }
}

TEST_F(Stale, DeltaEvaluationIsTheSame) {
  Bench bench = bench_of(4);
  DeltaEvaluator delta(bench.graph, bench.grouping, bench.cluster, bench.costs);
  for (const int staleness : {0, 1, 2, 1, 0})
    EXPECT_EQ(
        delta.evaluate(CompleteStrategy(strategy_of(bench, staleness), *bench.cluster)).step_time,
        run(bench, staleness).step_time);
}

// The ranks' programs: what is kept is a resident value, read and then overwritten.
TEST_F(Stale, RanksKeepValues) {
  Bench bench = bench_of(8);
  for (const Encoding encoding : {Encoding::None, Encoding::Half, Encoding::TopK}) {
    for (const int staleness : {1, 2}) {
      const Timeline timeline = run(bench, staleness, {served_by(0, encoding)});
      std::vector<TaskId> order;
      for (std::size_t i = 0; i < timeline.program->tasks.size(); ++i) order.push_back(TaskId(i));
      RankPrograms ranks = rank_programs(*timeline.program, order);
      check_termination(ranks, "plan");
      std::size_t carried = 0;
      for (const RankProgram& rank : ranks.ranks) {
        const RankProgram again = read_rank_program(write_rank_program(rank), *ranks.graph, "rank");
        EXPECT_EQ(write_rank_program(again), write_rank_program(rank));
        const auto alone = rank_program_of(*timeline.program, order, rank.device);
        ASSERT_TRUE(alone.has_value());
        EXPECT_EQ(write_rank_program(*alone), write_rank_program(rank));
        for (const Value& value : rank.values)
          carried += value.resident && ranks.graph->tensor(value.tensor).producer.valid();
      }
      EXPECT_EQ(carried, staleness == 1 ? 2u : 3u);
    }
  }
}

// Files that say of other values that they are kept, or are written again.
TEST_F(Stale, RanksThatKeepSomethingElseAreRefused) {
  Bench bench = bench_of(8);
  const Timeline timeline = run(bench, 1);
  std::vector<TaskId> order;
  for (std::size_t i = 0; i < timeline.program->tasks.size(); ++i) order.push_back(TaskId(i));
  const RankPrograms ranks = rank_programs(*timeline.program, order);
  const auto problem = [&](auto&& change) {
    RankProgram rank = ranks.ranks[1];
    change(rank);
    try {
      read_rank_program(write_rank_program(rank), *ranks.graph, "rank");
    } catch (const InputError& error) {
      return error.problem();
    }
    return std::string();
  };
  const auto value = [&](RankProgram& rank, const char* tensor, bool resident) -> Value& {
    for (Value& each : rank.values)
      if (ranks.graph->tensor(each.tensor).name == tensor && each.resident == resident) return each;
    throw std::logic_error("no such value");
  };
  EXPECT_EQ(problem([](RankProgram&) {}), "");
  EXPECT_EQ(problem([&](RankProgram& rank) { value(rank, "f1:0", false).resident = true; }),
            "a tensor is not resident");
  EXPECT_EQ(problem([&](RankProgram& rank) { value(rank, "gw1:0", true).resident = false; }),
            "it reads what is not there");
  EXPECT_EQ(problem([&](RankProgram& rank) {
              value(rank, "gw1:0", false).encoding = Encoding::SufficientFactors;
            }),
            "an encoding is not one of its tensor");
  EXPECT_EQ(problem([&](RankProgram& rank) {
              Value& of = value(rank, "gw1:0", false);
              of.encoding = Encoding::LowRank;  // of a vector
              of.record_count = 1;
            }),
            "an encoding is not one of its tensor");
  EXPECT_EQ(problem([&](RankProgram& rank) { value(rank, "w1", false).resident = true; }),
            "it writes a value again");
}

}  // namespace
}  // namespace strato
