// Fair links against closed forms, beside exclusive links where both have one. Devices 0 to 2 are
// in machine "a" (2 GB/s to the network), 3 to 5 in "b" (4 GB/s); 8 GB/s inside.
#include <gtest/gtest.h>

#include "tests/core/sim/hand_made.h"

namespace strato {
namespace {

using toy::HandMade;

std::int64_t end(const Timeline& timeline, TaskId task) { return timeline.tasks[task].end.value; }
std::int64_t start(const Timeline& timeline, TaskId task) {
  return timeline.tasks[task].start.value;
}

TEST(FairLinks, OneFlowTakesItsDuration) {
  HandMade made;
  const TaskId a = made.transfer(0, 3, 123, {.latency = 23});
  EXPECT_EQ(end(made.fair(), a), 123);
  const TaskId b = made.transfer(1, 4, 50, {.after = {a}, .latency = 50});  // latency alone
  EXPECT_EQ(end(made.fair(), b), 173);
}

TEST(FairLinks, TwoFlowsOnOneLinkTakeTwiceAsLong) {
  HandMade made;
  const auto link = made.links(0, 1);
  const TaskId a = made.on_links(link, 100), b = made.on_links(link, 100);
  const TaskId c = made.transfer(1, 2, 100), d = made.on_links(made.links(1, 2), 100);
  const Timeline fair = made.fair();
  for (const TaskId task : {a, b, c, d}) EXPECT_EQ(end(fair, task), 200);
  EXPECT_EQ(end(made.exclusive(), a), 100);
  EXPECT_EQ(end(made.exclusive(), b), 200);
}

// Messages between the same two devices go one after the other, their latencies at once.
TEST(FairLinks, MessagesOfOneConnectionKeepTheirOrder) {
  HandMade made;
  const TaskId a = made.transfer(0, 1, 100, {.latency = 10});
  const TaskId b = made.transfer(0, 1, 50, {.latency = 10});
  const TaskId back = made.transfer(1, 0, 70, {.latency = 10});
  const Timeline fair = made.fair(), exclusive = made.exclusive();
  EXPECT_EQ(end(fair, a), 100);
  EXPECT_EQ(end(fair, b), 140);
  EXPECT_EQ(end(fair, back), 70);
  EXPECT_EQ(end(exclusive, b), 150);
}

// Four messages of one connection get as much of the link as one of another connection.
TEST(FairLinks, ConnectionsShareALinkNotMessages) {
  HandMade made;
  std::vector<TaskId> many;
  for (int i = 0; i < 4; ++i) many.push_back(made.transfer(1, 0, 100));
  const TaskId other = made.transfer(2, 0, 100);
  const TaskId late = made.transfer(1, 0, 100, {.after = {other}});
  const Timeline fair = made.fair();
  EXPECT_EQ(end(fair, many[0]), 200);
  EXPECT_EQ(end(fair, other), 200);
  EXPECT_EQ(end(fair, many[1]), 300);  // alone from here on
  EXPECT_EQ(end(fair, many[3]), 500);
  EXPECT_EQ(end(fair, late), 600);
}

TEST(FairLinks, ThreeFlowsDoNotCostANanosecondOfRounding) {
  HandMade made;
  for (int i = 0; i < 3; ++i) made.transfer(0, 1, 1'000'000'000);
  EXPECT_EQ(made.fair().step_time, Nanos(3'000'000'000));
}

TEST(FairLinks, ALateFlowSharesFromThenOn) {
  HandMade made;
  const TaskId work = made.compute(0, 40);
  const TaskId first = made.transfer(0, 1, 100);
  const TaskId second = made.on_links(made.links(0, 1), 100, {.after = {work}});
  const Timeline fair = made.fair();
  EXPECT_EQ(end(fair, first), 160);   // 40 alone, then 60 at half speed
  EXPECT_EQ(end(fair, second), 200);  // 60 of 100 at 160, then alone
  const Nanos busy = fair.link_busy[made.program().link_of(made.links(0, 1)[0])];
  EXPECT_EQ(busy, Nanos(200));
  EXPECT_EQ(end(made.exclusive(), second), 200);
}

// Max-min: the flow through both links gets a third on the second link, and leaves two thirds of
// the first to the other flow there.
TEST(FairLinks, AFlowAcrossTwoBottlenecksGetsTheSmallerShare) {
  HandMade made;
  const ResourceId one = made.links(0, 1)[0], two = made.links(1, 2)[0];
  const TaskId across = made.on_links({one, two}, 300);
  const TaskId beside = made.on_links({one}, 300);
  const TaskId c = made.on_links({two}, 300), d = made.on_links({two}, 300);
  const Timeline fair = made.fair();
  EXPECT_EQ(end(fair, beside), 450);
  EXPECT_EQ(end(fair, across), 900);
  EXPECT_EQ(end(fair, c), 900);
  EXPECT_EQ(end(fair, d), 900);
}

// A flow uses the links that are not its bottleneck in part: 2 + 4 of 8 GB/s fit.
TEST(FairLinks, SlowFlowsFitTogetherIntoAFastLink) {
  HandMade made;
  const ResourceId fast = made.links(0, 1)[0];
  const auto path_a = made.links(0, 3), path_b = made.links(3, 0);
  ResourceId slow_a, slow_b;
  for (const ResourceId link : path_a) slow_a = std::max(slow_a, link);
  for (const ResourceId link : path_b) slow_b = std::max(slow_b, link);
  const TaskId a = made.on_links({fast, slow_a}, 100), b = made.on_links({fast, slow_b}, 100);
  EXPECT_EQ(end(made.fair(), a), 100);
  EXPECT_EQ(end(made.fair(), b), 100);
  EXPECT_EQ(end(made.exclusive(), b), 200);
}

// Ring all-reduce: 2 (n - 1) / n of the bytes over the slowest link, n hops of latency.
std::int64_t ring_time(std::int64_t members, std::int64_t bytes, std::int64_t gigabytes_per_s) {
  return 2 * (members - 1) * bytes / members / gigabytes_per_s;
}

TEST(FairLinks, RingsOnAUniformRing) {
  HandMade made;
  const std::int64_t time = ring_time(3, 2400, 8);
  const TaskId first = made.ring({0, 1, 2}, time), second = made.ring({0, 1, 2}, time);
  for (const Timeline& timeline : {made.fair(), made.exclusive()}) {
    EXPECT_EQ(end(timeline, first), 400);
    EXPECT_EQ(end(timeline, second), 800);  // the members' streams are exclusive
  }
}

TEST(FairLinks, ARingWithOneSlowLinkLeavesTheRestOfTheFastLinks) {
  HandMade made;
  const std::int64_t time = ring_time(4, 2400, 2);
  const TaskId ring = made.ring({0, 1, 3, 4}, time);  // 2 GB/s between the machines
  const TaskId transfer = made.on_links({made.links(0, 1)[0]}, 300);
  const Timeline fair = made.fair();
  EXPECT_EQ(end(fair, ring), 1800);
  EXPECT_EQ(end(fair, transfer), 400);  // at 6 of 8 GB/s
  EXPECT_EQ(end(made.exclusive(), transfer), 1800 + 300);
}

TEST(FairLinks, TwoRingsOverOneNicShareIt) {
  HandMade made;
  const std::int64_t time = ring_time(2, 1000, 2);
  const TaskId first = made.ring({0, 3}, time), second = made.ring({1, 4}, time);
  const Timeline fair = made.fair(), exclusive = made.exclusive();
  EXPECT_EQ(end(fair, first), 2 * time);
  EXPECT_EQ(end(fair, second), 2 * time);
  EXPECT_EQ(end(exclusive, first), time);
  EXPECT_EQ(end(exclusive, second), 2 * time);
}

// Inside both machines, between their first devices, inside again: the sum of three closed forms.
TEST(FairLinks, HierarchicalAllReduceOverTwoMachines) {
  HandMade made;
  const std::int64_t inside = ring_time(3, 2400, 8), between = ring_time(2, 2400, 2);
  const TaskId a = made.ring({0, 1, 2}, inside), b = made.ring({3, 4, 5}, inside);
  const TaskId middle = made.ring({0, 3}, between, {.after = {a, b}});
  const TaskId last_a = made.ring({0, 1, 2}, inside, {.after = {middle}});
  const TaskId last_b = made.ring({3, 4, 5}, inside, {.after = {middle}});
  for (const Timeline& timeline : {made.fair(), made.exclusive()}) {
    EXPECT_EQ(end(timeline, b), inside);
    EXPECT_EQ(end(timeline, middle), inside + between);
    EXPECT_EQ(end(timeline, last_a), 2 * inside + between);
    EXPECT_EQ(end(timeline, last_b), 2 * inside + between);
  }
  const TaskId disturbing = made.transfer(1, 4, between / 2, {.after = {a, b}});
  const Timeline fair = made.fair();
  EXPECT_EQ(end(fair, disturbing), inside + between);
  EXPECT_EQ(end(fair, middle), inside + between + between / 2);
}

TEST(FairLinks, IncastAtAParameterServer) {
  HandMade made;
  const TaskId one = made.transfer(1, 0, 100), two = made.transfer(2, 0, 100);
  const TaskId sum = made.compute(0, 7, {.after = {one, two}});
  const Timeline fair = made.fair(), exclusive = made.exclusive();
  EXPECT_EQ(end(fair, one), 200);
  EXPECT_EQ(end(fair, two), 200);
  EXPECT_EQ(end(exclusive, one), 100);
  EXPECT_EQ(end(exclusive, two), 200);
  EXPECT_EQ(end(fair, sum), 207);
  EXPECT_EQ(end(exclusive, sum), 207);
}

TEST(FairLinks, StreamsStayExclusiveAndHoldTheirQueues) {
  HandMade made;
  made.ring({0, 1}, 100);
  const TaskId second = made.ring({1, 2}, 100);
  const TaskId third = made.ring({2, 0}, 100);
  const Timeline fair = made.fair();
  EXPECT_EQ(start(fair, second), 100);
  EXPECT_EQ(start(fair, third), 200);  // its streams are free at 0, but second is first at one
  EXPECT_EQ(fair.devices[DeviceId(1)].communication_busy, Nanos(200));
}

TEST(Priorities, ASmallerOneGoesFirstButInterruptsNothing) {
  HandMade made;
  const TaskId running = made.compute(0, 10);
  const TaskId low = made.compute(0, 10, {.priority = 5});
  const TaskId trigger = made.compute(1, 5);
  const TaskId high = made.compute(0, 10, {.after = {trigger}, .priority = -1});
  const Timeline timeline = made.exclusive();
  EXPECT_EQ(start(timeline, running), 0);
  EXPECT_EQ(start(timeline, high), 10);
  EXPECT_EQ(start(timeline, low), 20);
  const Timeline fifo = made.run({.priorities = false, .fair_links = false});
  EXPECT_EQ(start(fifo, low), 10);
  EXPECT_EQ(start(fifo, high), 20);
}

TEST(Priorities, TheFirstOfAQueueIsNotOvertakenWhileItWaitsElsewhere) {
  HandMade made;
  const TaskId holds = made.ring({1, 2}, 100, {.priority = -2});
  const TaskId high = made.ring({0, 1}, 10, {.priority = -1});
  const TaskId low = made.ring({0, 3}, 10);
  const Timeline timeline = made.exclusive();
  EXPECT_EQ(start(timeline, holds), 0);
  EXPECT_EQ(start(timeline, high), 100);
  EXPECT_EQ(start(timeline, low), 110);
  EXPECT_EQ(start(made.fair(), low), 110);
  EXPECT_EQ(timeline.step_time, Nanos(120));
}

TEST(Priorities, EqualOnesAreFirstInFirstOut) {
  HandMade made;
  for (int i = 0; i < 3; ++i) made.compute(0, 10, {.priority = 7});
  const Timeline timeline = made.exclusive();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(start(timeline, TaskId(i)), 10 * static_cast<int>(i));
}

}  // namespace
}  // namespace strato
