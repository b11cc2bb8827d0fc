// Upward ranks, and what priorities do to tasks.
#include "core/program/rank/upward_ranks.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::find;

TEST(Ranks, OfAChainCountDown) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0}));
  const auto ranks = upward_ranks(*program);
  // f1 f2 seed gx2 gw1 u1 at 40 ns each, an update 7.
  EXPECT_EQ(ranks[find(*program, "u1")], Nanos(7));
  EXPECT_EQ(ranks[find(*program, "gw1")], Nanos(47));
  EXPECT_EQ(ranks[find(*program, "gw2")], Nanos(47));
  EXPECT_EQ(ranks[find(*program, "f1")], Nanos(5 * 40 + 7));
  const auto priorities = upward_rank_priorities(*program);
  EXPECT_EQ(priorities[bench.graph->find_op("f1").index()], 0);
  EXPECT_EQ(priorities[bench.graph->find_op("f2").index()], 1);
  EXPECT_LT(priorities[bench.graph->find_op("gx2").index()],
            priorities[bench.graph->find_op("gw2").index()]);
}

TEST(Ranks, CountCommunication) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_EQ(upward_ranks(*program)[find(*program, "gw1 @m0:1")], Nanos(20 + 132 + 7));
}

TEST(Ranks, BoundTheStepFromBelow) {
  Bench bench(toy::training_chain(4, 5, 8), toy::cluster(2, 2), {{"f2", 1}, {"gw3", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::ModelParallel, {1, 3});
  const Timeline timeline = bench.run(strategy);
  const auto ranks = upward_ranks(*timeline.program);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    EXPECT_LE(timeline.tasks[TaskId(i)].start + ranks[TaskId(i)], timeline.step_time);
}

TEST(Priorities, AreOfTheOpAndOfTheFirstReaderOfWhatMoves) {
  Bench bench(toy::training_chain(4, 3, 8), toy::cluster(1, 2), {{"f2", 1}, {"gw2", 1}, {"u2", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::ReplicateAllReduce, {1});
  const auto of = [&](const char* op) { return bench.graph->find_op(op).index(); };
  for (std::size_t i = 0; i < bench.graph->op_count(); ++i)
    strategy.priorities.push_back(100 + static_cast<std::int32_t>(i));
  strategy.priorities[of("f2")] = 5;
  strategy.priorities[of("gw2")] = -3;
  const auto program = bench.lower(strategy);
  EXPECT_EQ(program->tasks[find(*program, "f2")].priority, 5);
  EXPECT_EQ(program->tasks[find(*program, "u1")].priority,
            100 + static_cast<std::int32_t>(of("u1")));
  // f1's output goes to f2 (5) and to gw2 (-3), which share the transfer.
  EXPECT_EQ(program->tasks[find(*program, "Transfer f1:0 @m0:0>m0:1")].priority, -3);
  EXPECT_EQ(program->tasks[find(*program, "Transfer f2:0 @m0:1>m0:0")].priority,
            std::min(strategy.priorities[of("f3")], strategy.priorities[of("gw3")]));
}

TEST(Priorities, DecideWhatRunsFirst) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 1));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
  const Timeline first = bench.run(strategy);
  const auto starts = [&](const Timeline& timeline, const char* name) {
    return timeline.tasks[find(*timeline.program, name)].start;
  };
  const bool before = starts(first, "gw2") < starts(first, "gx2");
  strategy.priorities.assign(bench.graph->op_count(), 0);
  strategy.priorities[bench.graph->find_op(before ? "gw2" : "gx2").index()] = 1;
  const Timeline turned = bench.run(strategy);
  EXPECT_NE(starts(turned, "gw2") < starts(turned, "gx2"), before);
}

TEST(Priorities, OfAnotherGraphAreRefused) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 1));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0});
  strategy.priorities = {1, 2};
  EXPECT_THROW(bench.run(strategy), InvariantError);
}

}  // namespace
}  // namespace strato
