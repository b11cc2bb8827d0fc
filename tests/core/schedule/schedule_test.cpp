#include "core/schedule/list/schedule.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "tests/core/schedule/dag_cases.h"
#include "tests/core/schedule/schedule_check.h"

namespace strato {
namespace {

using dag_cases::random_dag;
constexpr DeviceId kFirst(0), kSecond(1), kThird(2);

// The busy intervals in a list, every moment tried.
class PlainTimeline {
 public:
  bool is_idle(std::int64_t from, std::int64_t to) const {
    for (const auto& [start, end] : busy_)
      if (from < end && start < to) return false;
    return true;
  }
  std::int64_t earliest(std::int64_t ready, std::int64_t duration, bool insert) const {
    if (duration == 0) return ready;
    if (!insert) return std::max(ready, end());
    while (!is_idle(ready, ready + duration)) ++ready;
    return ready;
  }
  void occupy(std::int64_t start, std::int64_t duration) {
    if (duration > 0) busy_.emplace_back(start, start + duration);
  }
  std::int64_t end() const {
    std::int64_t end = 0;
    for (const auto& interval : busy_) end = std::max(end, interval.second);
    return end;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> busy_;
};

TEST(DeviceTimeline, IsAListOfIntervals) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    DeviceTimeline timeline;
    PlainTimeline plain;
    const std::uint64_t horizon = 1 + random.below(2000), longest = 1 + random.below(12);
    for (int step = 0; step < 300; ++step) {
      const auto ready = static_cast<std::int64_t>(random.below(horizon));
      const auto duration = static_cast<std::int64_t>(random.below(longest));
      const bool insert = random.below(8) > 0;
      const Nanos start = timeline.earliest(Nanos(ready), Nanos(duration), insert);
      ASSERT_EQ(start.value, plain.earliest(ready, duration, insert));
      if (random.below(4) == 0) continue;
      timeline.occupy(start, Nanos(duration));
      plain.occupy(start.value, duration);
      ASSERT_EQ(timeline.end().value, plain.end());
    }
  }
}

TEST(DeviceTimeline, IsBusyOnce) {
  DeviceTimeline timeline;
  timeline.occupy(Nanos(10), Nanos(10));
  EXPECT_THROW(timeline.occupy(Nanos(15), Nanos(1)), InvariantError);
  EXPECT_THROW(timeline.occupy(Nanos(5), Nanos(6)), InvariantError);
  timeline.occupy(Nanos(5), Nanos(5));
  EXPECT_EQ(timeline.earliest(Nanos(0), Nanos(5)), Nanos(0));
  EXPECT_EQ(timeline.earliest(Nanos(0), Nanos(6)), Nanos(20));
  EXPECT_EQ(timeline.earliest(Nanos(0), Nanos(5), false), Nanos(20));
}

struct ScheduleCase {
  Dag dag;
  std::shared_ptr<const Cluster> cluster;
  TransferTimes transfers;
  ScheduleCase(Dag dag_, std::shared_ptr<const Cluster> cluster_)
      : dag(std::move(dag_)),
        cluster(std::move(cluster_)),
        transfers(dag, *cluster, dag_cases::ByteCost()) {}
  Scheduling scheduling(const Scheduling::Options& options = {}) const {
    return Scheduling(dag, transfers, *cluster, options);
  }
  std::string problem(const Schedule& schedule) const {
    return problem_with(schedule, dag, transfers, *cluster);
  }
};

// Nodes by rank, each where it finishes first among the devices with room.
Schedule heft(const ScheduleCase& c, const Scheduling::Options& options) {
  Scheduling scheduling = c.scheduling(options);
  for (const NodeIndex node : cpd_topo(c.dag, longest_weights(c.dag, c.transfers))) {
    DeviceId best;
    for (std::size_t d = 0; d < c.cluster->device_count(); ++d)
      if (scheduling.has_room(node, DeviceId(d)) &&
          (!best.valid() ||
           scheduling.earliest_finish(node, DeviceId(d)) < scheduling.earliest_finish(node, best)))
        best = DeviceId(d);
    if (!best.valid()) best = scheduling.demanded(node).value_or(scheduling.emptiest());
    const Nanos start = scheduling.earliest_start(node, best);
    scheduling.place(node, best);
    EXPECT_EQ(scheduling.start(node), start);
  }
  return std::move(scheduling).finished();
}

TEST(Scheduling, MakesValidSchedules) {
  Random random(8);
  for (int round = 0; round < 400; ++round) {
    const ScheduleCase c(random_dag(random, {.nodes = random.below(40),
                                             .types = 2,
                                             .bytes = 1 + random.below(20),
                                             .one_edge_in = 1 + random.below(12),
                                             .groups = random.below(6)}),
                         dag_cases::cluster(1 + static_cast<int>(random.below(3)), 2));
    const Scheduling::Options options{.insert = random.below(3) > 0,
                                      .transfers_are_tasks = random.below(2) > 0};
    EXPECT_EQ(c.problem(heft(c, options)), "");
  }
}

// Times 2 5 1 1 3; on one device 12; the two short ones wait, unless a second device takes them.
TEST(Scheduling, ForkJoin) {
  const ScheduleCase c(
      dag_cases::dag({2, 5, 1, 1, 3},
                     {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 4, 1}, {2, 4, 1}, {3, 4, 1}}),
      dag_cases::cluster(2));
  Scheduling scheduling = c.scheduling();
  scheduling.place(0, kFirst);
  scheduling.place(1, kFirst);
  EXPECT_EQ(scheduling.inputs_at(2, kSecond), Nanos(3));
  EXPECT_EQ(scheduling.earliest_start(2, kFirst), Nanos(7));
  EXPECT_EQ(scheduling.earliest_finish(2, kSecond), Nanos(4));
  scheduling.place(2, kSecond);
  scheduling.place(3, kSecond);
  EXPECT_EQ(scheduling.finish(3), Nanos(5));
  scheduling.place(4, kFirst);
  const Schedule schedule = std::move(scheduling).finished();
  EXPECT_EQ(schedule.makespan, Nanos(10));
  EXPECT_EQ(c.problem(schedule), "");
}

TEST(Scheduling, InsertsIntoIdleTime) {
  const ScheduleCase c(dag_cases::dag({1, 5, 3, 4}, {{0, 1, 4}}), dag_cases::cluster(2));
  for (const bool insert : {true, false}) {
    Scheduling scheduling = c.scheduling({.insert = insert});
    scheduling.place(0, kFirst);
    scheduling.place(1, kSecond);  // from 5 to 10
    EXPECT_EQ(scheduling.earliest_start(2, kSecond), insert ? Nanos(0) : Nanos(10));
    scheduling.place(2, kSecond);  // leaves two of the five
    EXPECT_EQ(scheduling.earliest_start(3, kSecond), insert ? Nanos(10) : Nanos(13));
  }
}

// One sender to three receivers, and three senders to one receiver: one transfer at a time.
TEST(Scheduling, TransfersOccupyStreams) {
  const auto cluster = dag_cases::cluster(4);
  for (const bool tasks : {true, false}) {
    const ScheduleCase out(dag_cases::dag({1, 1, 1, 1}, {{0, 1, 10}, {0, 2, 10}, {0, 3, 10}}),
                           cluster);
    Scheduling scheduling = out.scheduling({.transfers_are_tasks = tasks});
    for (NodeIndex i = 0; i < 4; ++i) scheduling.place(i, DeviceId(static_cast<std::size_t>(i)));
    EXPECT_EQ(scheduling.start(2), tasks ? Nanos(21) : Nanos(11));
    EXPECT_EQ(scheduling.start(3), tasks ? Nanos(31) : Nanos(11));

    const ScheduleCase in(dag_cases::dag({3, 1, 2, 1}, {{0, 3, 10}, {1, 3, 10}, {2, 3, 10}}),
                          cluster);
    Scheduling fan = in.scheduling({.transfers_are_tasks = tasks});
    for (NodeIndex i = 0; i < 3; ++i) fan.place(i, DeviceId(static_cast<std::size_t>(i)));
    EXPECT_EQ(fan.inputs_at(3, DeviceId(3)), tasks ? Nanos(31) : Nanos(13));
    EXPECT_EQ(fan.inputs_at(3, kFirst), tasks ? Nanos(21) : Nanos(12));
  }
}

TEST(Scheduling, AGroupIsOnOneDeviceAndTakesItsMemoryAtOnce) {
  const std::int64_t half = 16'000'000'000;  // of a V100
  const ScheduleCase c(dag_cases::dag({1, 1, 1, 1}, {}, {0, 0, 0, -1}, {half, half, half, half}),
                       dag_cases::cluster(2));
  Scheduling scheduling = c.scheduling();
  EXPECT_FALSE(scheduling.demanded(0).has_value());
  EXPECT_FALSE(scheduling.has_room(0, kFirst));  // with the other two
  EXPECT_TRUE(scheduling.has_room(3, kFirst));
  scheduling.place(0, kSecond);
  EXPECT_LT(scheduling.room(kSecond), Bytes(0));
  EXPECT_EQ(scheduling.emptiest(), kFirst);
  EXPECT_EQ(scheduling.demanded(1), kSecond);
  EXPECT_TRUE(scheduling.has_room(1, kSecond));
  EXPECT_FALSE(scheduling.has_room(1, kFirst));
  EXPECT_FALSE(scheduling.has_room(3, kSecond));
  EXPECT_THROW(scheduling.place(1, kFirst), InvariantError);
  for (const NodeIndex node : {1, 2}) scheduling.place(node, kSecond);
  scheduling.place(3, kFirst);
  const Schedule schedule = std::move(scheduling).finished();
  EXPECT_FALSE(schedule.fits);
  EXPECT_EQ(c.problem(schedule), "");
}

TEST(Scheduling, PartOfTheMemory) {
  const ScheduleCase c(dag_cases::dag({1}, {}, {}, {20'000'000'000}), dag_cases::cluster(1));
  EXPECT_TRUE(c.scheduling().has_room(0, kFirst));
  EXPECT_FALSE(c.scheduling({.memory = 0.5}).has_room(0, kFirst));
}

TEST(Scheduling, RefusesWrongOrders) {
  const ScheduleCase c(dag_cases::chain(2), dag_cases::cluster(1));
  Scheduling scheduling = c.scheduling();
  EXPECT_THROW(scheduling.place(1, kFirst), InvariantError);
  scheduling.place(0, kFirst);
  EXPECT_THROW(scheduling.place(0, kFirst), InvariantError);
  EXPECT_THROW(std::move(scheduling).finished(), InvariantError);
}

TEST(Scheduling, NothingToDo) {
  const ScheduleCase c(DagBuilder(1).build(), dag_cases::cluster(1));
  EXPECT_EQ(c.problem(c.scheduling().finished()), "");
}

TEST(Scheduling, LongChainsAndLargeStars) {
  for (const std::int32_t nodes : {100'000}) {
    for (Dag dag : {dag_cases::chain(nodes), dag_cases::star(nodes)}) {
      const ScheduleCase c(std::move(dag), dag_cases::cluster(4));
      EXPECT_EQ(c.problem(heft(c, {})), "");
    }
  }
}

// Every other nanosecond of a device is taken by others; nothing longer fits in between.
TEST(Scheduling, ManyGapsThatNobodyFits) {
  constexpr std::int64_t kGaps = 100'000;
  DeviceTimeline timeline;
  for (std::int64_t i = 0; i < kGaps; ++i) timeline.occupy(Nanos(2 * i + 1), Nanos(1));
  for (std::int64_t i = 0; i < kGaps; ++i) {
    ASSERT_EQ(timeline.earliest(Nanos(i % 7), Nanos(2)), timeline.end());
    timeline.occupy(timeline.end(), Nanos(2));
  }
}

TEST(ProblemWith, FindsWhatIsWrong) {
  // 0 -> 1 over ten bytes, 2 and 3 together, all of 2 ns.
  const ScheduleCase c(dag_cases::dag({2, 2, 2, 2}, {{0, 1, 10}}, {-1, -1, 0, 0}, {1, 1, 1, 1}),
                       dag_cases::cluster(2, 1));
  Scheduling scheduling = c.scheduling();
  scheduling.place(0, kFirst);
  scheduling.place(1, kSecond);
  scheduling.place(2, kFirst);
  scheduling.place(3, kFirst);
  const Schedule good = std::move(scheduling).finished();
  ASSERT_EQ(c.problem(good), "");
  const auto complaint = [&](auto&& change) {
    Schedule bad = good;
    change(bad);
    return c.problem(bad);
  };
  const auto shift = [](Schedule& s, std::size_t node, std::int64_t by) {
    s.start[node] += Nanos(by);
    s.finish[node] += Nanos(by);
  };
  const auto says = [](const std::string& problem, const std::string& part) {
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  };
  says(complaint([&](Schedule& s) { s.device[1] = kThird; }), "its input from node 0");
  says(complaint([&](Schedule& s) { s.device[1] = DeviceId(7); }), "which there is not");
  says(complaint([&](Schedule& s) { s.device[1] = DeviceId(); }), "which there is not");
  says(complaint([&](Schedule& s) { shift(s, 1, -1); }), "node 1 starts at 11 ns");
  says(complaint([&](Schedule& s) { shift(s, 0, -1); }), "before the step");
  says(complaint([&](Schedule& s) { shift(s, 3, -1); }), "nodes 2 and 3 overlap");
  says(complaint([&](Schedule& s) { s.finish[1] += Nanos(1); }), "runs for 3 ns");
  says(complaint([&](Schedule& s) { s.device[3] = kSecond; }), "belong together");
  says(complaint([&](Schedule& s) { s.makespan += Nanos(1); }), "makespan is 14 ns");
  says(complaint([&](Schedule& s) { s.memory[1] += Bytes(1); }), "memory");
  says(complaint([&](Schedule& s) { s.memory.clear(); }), "memory");
  says(complaint([&](Schedule& s) { s.fits = false; }), "it fits");
  says(complaint([&](Schedule& s) { s.start.pop_back(); }), "the dag of 4");
}

// Nearly every change of a start or a device of a schedule without idle time breaks it; the others
// change the sums.
TEST(ProblemWith, RandomMutations) {
  Random random(9);
  for (int round = 0; round < 300; ++round) {
    const ScheduleCase c(random_dag(random, {.nodes = 2 + random.below(12), .one_edge_in = 2}),
                         dag_cases::cluster(2));
    Schedule schedule = heft(c, {});
    ASSERT_EQ(c.problem(schedule), "");
    const std::size_t node = random.below(c.dag.size());
    schedule.finish[node] += Nanos(1);
    EXPECT_NE(c.problem(schedule), "");
    schedule.finish[node] -= Nanos(1);
    schedule.makespan -= Nanos(1);
    EXPECT_NE(c.problem(schedule), "");
    schedule.makespan += Nanos(1);
    for (const DagEdge& edge : c.dag.predecessors(static_cast<NodeIndex>(node))) {
      const auto from = static_cast<std::size_t>(edge.node);
      const Nanos late = schedule.finish[from] - schedule.start[node] - Nanos(1);
      Schedule early = schedule;
      early.start[node] += late;
      early.finish[node] += late;
      EXPECT_NE(c.problem(early), "");
    }
  }
}

}  // namespace
}  // namespace strato
