// The parts of the simulation engine: the tasks that wait, the account of memory, and the replay
// from any checkpoint.
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/random.h"
#include "core/sim/engine/simulation_engine.h"
#include "core/sim/memory/memory_account.h"
#include "tests/core/sim/hand_made.h"

namespace strato {
namespace {

TEST(MemoryPeak, ReleasesComeFirstWithinAMoment) {
  std::vector<MemoryEvent> events = {MemoryEvent::take(Nanos(5), Bytes(30)),
                                     MemoryEvent::release(Nanos(5), Bytes(20)),
                                     MemoryEvent::take(Nanos(0), Bytes(20))};
  std::sort(events.begin(), events.end());
  MemoryPeak peak(Bytes(100));
  for (const MemoryEvent& event : events) peak.add(event);
  EXPECT_EQ(peak.bytes(), Bytes(130));
  EXPECT_EQ(peak.at(), Nanos(5));
}

TEST(MemoryPeak, IsWhatIsResidentWhenNothingIsTaken) {
  EXPECT_EQ(MemoryPeak(Bytes(7)).bytes(), Bytes(7));
  EXPECT_EQ(MemoryPeak(Bytes(7)).at(), Nanos(0));
}

// Compute and transfers at random, each after up to two tasks before it.
Program random_tasks(int count) {
  Random random(1);
  toy::HandMade program;
  std::vector<TaskId> tasks;
  for (int i = 0; i < count; ++i) {
    toy::Extra extra;
    for (std::uint64_t n = tasks.empty() ? 0 : random.below(3); n > 0; --n)
      extra.after.push_back(tasks[tasks.size() - 1 - random.below(std::min(tasks.size(), 20ul))]);
    std::sort(extra.after.begin(), extra.after.end());
    extra.after.erase(std::unique(extra.after.begin(), extra.after.end()), extra.after.end());
    const int from = static_cast<int>(random.below(6)), to = static_cast<int>(random.below(5));
    const auto duration = static_cast<std::int64_t>(1 + random.below(9));
    tasks.push_back(random.below(3) > 0
                        ? program.compute(from, duration, extra)
                        : program.transfer(from, to < from ? to : to + 1, duration, extra));
  }
  return program.program();
}

TEST(PendingTasks, KnowWhoWaitsForThem) {
  toy::HandMade made;
  const TaskId a = made.compute(0, 3), b = made.compute(1, 4, {.after = {a}});
  made.transfer(0, 3, 5, {.after = {a, b}});
  PendingTasks tasks;
  const Program program = made.program();
  tasks.load(program);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks.duration(), 12);
  EXPECT_EQ(tasks[2].waiting, 2);
  EXPECT_EQ(tasks[2].stream, -1);
  EXPECT_EQ(tasks[1].stream, program.compute_stream(DeviceId(1)).value());
  const auto after = tasks.dependents(a.index());
  EXPECT_EQ(std::vector<TaskId>(after.begin(), after.end()), (std::vector<TaskId>{b, TaskId(2)}));
  EXPECT_TRUE(tasks.dependents(2).empty());
}

TEST(SimulationEngine, GoesOnFromAnyCheckpointAsFromTimeZero) {
  const Program program = random_tasks(2000);
  SimulationEngine engine;
  TaskSchedule whole;
  whole.keeps_checkpoints = true;
  engine.run(program, {}, whole);
  std::vector<std::int32_t> rows(program.tasks.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t taken = 0; taken <= 1792; taken += TaskSchedule::kStride) {
    TaskSchedule replayed = whole;
    std::vector<std::int32_t> places(rows.size(), -1);
    for (std::size_t i = 0; i < taken; ++i)
      places[static_cast<std::size_t>(whole.order[i].task)] = static_cast<std::int32_t>(i);
    std::vector<TaskId> rest;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0) continue;
      places[i] = static_cast<std::int32_t>(taken + rest.size());
      rest.emplace_back(i);
      replayed.times[TaskId(i)] = {};
    }
    engine.replay({program, rows}, rest, places, taken, replayed);
    EXPECT_EQ(replayed.step_time, whole.step_time);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(replayed.order[i].task, whole.order[i].task);
      EXPECT_EQ(replayed.times[TaskId(i)].start, whole.times[TaskId(i)].start);
      EXPECT_EQ(replayed.times[TaskId(i)].end, whole.times[TaskId(i)].end);
    }
    for (std::size_t r = 0; r < whole.resources.size(); ++r)
      EXPECT_EQ(replayed.resources[r].busy, whole.resources[r].busy);
  }
}

// A chain of equal tasks whose process needs `issue` for each.
Nanos step_of_chain(int tasks, std::int64_t duration, std::int32_t issue) {
  toy::HandMade program;
  toy::Extra extra;
  extra.issue = issue;
  for (int i = 0; i < tasks; ++i) extra.after = {program.compute(0, duration, extra)};
  return program.exclusive().step_time;
}

TEST(Processes, AreTheBottleneckWhereTheyNeedLongerThanTheDevice) {
  EXPECT_EQ(step_of_chain(10, 5, 0), Nanos(50));
  EXPECT_EQ(step_of_chain(10, 5, 8), Nanos(10 * 8 + 5)) << "the last task runs behind its start";
  EXPECT_EQ(step_of_chain(10, 8, 5), Nanos(5 + 10 * 8)) << "then the process is ahead";
}

// What it starts early it has behind it: short tasks after a long one wait for nothing.
TEST(Processes, RunAheadOfALongTask) {
  toy::HandMade program;
  const TaskId first = program.compute(0, 100, {.issue = 4});
  TaskId last = first;
  for (int i = 0; i < 20; ++i) last = program.compute(0, 1, {.after = {last}, .issue = 4});
  EXPECT_EQ(program.exclusive().step_time, Nanos(4 + 100 + 20));
}

// Ahead of what is sent the receiver's tasks are started while it is on its way; else then.
TEST(Processes, MayAwaitTransfers) {
  for (const bool awaits : {false, true}) {
    toy::HandMade program;
    if (awaits) program.issue_after_transfers();
    const TaskId sent = program.transfer(0, 2, 100, {.after = {program.compute(0, 1)}});
    TaskId last = program.compute(2, 1, {.after = {sent}, .issue = 10});
    for (int i = 0; i < 2; ++i) last = program.compute(2, 1, {.after = {last}, .issue = 10});
    const Nanos all(awaits ? 101 + 3 * 10 + 1 : 101 + 3 * 1);
    EXPECT_EQ(program.exclusive().step_time, all) << awaits;
    EXPECT_EQ(program.fair().step_time, all) << awaits;
  }
}

TEST(Processes, OfOtherDevicesAreOthers) {
  toy::HandMade program;
  for (const int device : {0, 1})
    for (int i = 0; i < 3; ++i) program.compute(device, 1, {.issue = 10});
  EXPECT_EQ(program.exclusive().step_time, Nanos(31));
}

TEST(Processes, StartACollectiveOnEachMember) {
  toy::HandMade program;
  const TaskId one = program.compute(0, 1, {.issue = 10});
  const TaskId other = program.compute(1, 1, {.issue = 30});
  program.ring({0, 1}, 5, {.after = {one, other}, .issue = 10});
  EXPECT_EQ(program.exclusive().step_time, Nanos(30 + 10 + 5));
  EXPECT_EQ(program.fair().step_time, Nanos(30 + 10 + 5));
}

}  // namespace
}  // namespace strato
