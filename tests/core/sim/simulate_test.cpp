#include "core/sim/engine/simulate.h"

#include <gtest/gtest.h>

#include "core/sim/explain/critical_path.h"
#include "core/sim/explain/dump.h"
#include "core/sim/timeline/feedback.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::find;

TaskTimes times(const Timeline& timeline, const std::string& name, int n = 0) {
  const TaskId id = find(*timeline.program, name, n);
  EXPECT_TRUE(id.valid()) << name;
  return id.valid() ? timeline.tasks[id] : TaskTimes{};
}

TEST(Simulate, AChainOnOneDeviceIsTheSumOfItsOps) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 1));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0}));
  EXPECT_EQ(timeline.step_time, Nanos(3 * 40 + 7));
  const DeviceUse& use = timeline.devices[DeviceId(0)];
  EXPECT_EQ(use.compute_busy, Nanos(127));
  EXPECT_EQ(use.communication_busy, Nanos(0));
  // Resident: the batch (128) and w1 (32). f1:0 lives in [0,80), seed:0 in [40,120), gw1:0 in
  // [80,127).
  EXPECT_EQ(use.resident, Bytes(160));
  EXPECT_EQ(use.peak, Bytes(160 + 128 + 128));
  EXPECT_EQ(use.peak_at, Nanos(40));
  EXPECT_TRUE(timeline.feasible);
}

TEST(Simulate, AllReduceOverlapsComputationAndCollectivesQueueUp) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_EQ(times(timeline, "gw2 @m0:0").end, Nanos(80));
  EXPECT_EQ(times(timeline, "gw1 @m0:1").end, Nanos(120));
  EXPECT_EQ(times(timeline, "AllReduce gw2:0").start, Nanos(80));
  EXPECT_EQ(times(timeline, "AllReduce gw2:0").end, Nanos(212));
  EXPECT_EQ(times(timeline, "AllReduce gw1:0").ready, Nanos(120));
  EXPECT_EQ(times(timeline, "AllReduce gw1:0").start, Nanos(212));
  EXPECT_EQ(times(timeline, "u2 @m0:0").start, Nanos(212));
  EXPECT_EQ(timeline.step_time, Nanos(212 + 132 + 7));
  EXPECT_EQ(timeline.devices[DeviceId(1)].communication_busy, Nanos(264));
}

// a and b in group 0 and 1, c (reads both or one) in group 2, d in group 3.
TEST(Simulate, TransfersOnOneLinkSerialise) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  const TensorId a = model.layer("a", {x}, 8), b = model.layer("b", {x}, 8);
  model.layer("c", {a, b}, 8);
  Bench bench(std::move(model).build(), toy::cluster(1, 2), {{"c", 1}});
  Strategy strategy = bench.everywhere(Mode::ModelParallel, {0});
  strategy.groups[bench.group("c")] = Bench::decision(Mode::ModelParallel, {1});
  const Timeline timeline = bench.run(strategy);
  EXPECT_EQ(times(timeline, "Transfer a:0").start, Nanos(40));
  EXPECT_EQ(times(timeline, "Transfer b:0").ready, Nanos(80));
  EXPECT_EQ(times(timeline, "Transfer b:0").start, Nanos(168));
  EXPECT_EQ(timeline.step_time, Nanos(296 + 40));
  EXPECT_EQ(timeline.link_busy[bench.cluster->path(DeviceId(0), DeviceId(1)).links[0]], Nanos(256));
}

TEST(Simulate, TransfersOnDisjointLinksRunInParallel) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  const TensorId a = model.layer("a", {x}, 8), b = model.layer("b", {x}, 8);
  model.layer("c", {a}, 8);
  model.layer("d", {b}, 8);
  Bench bench(std::move(model).build(), toy::cluster(1, 4), {{"b", 1}, {"c", 2}, {"d", 3}});
  Strategy strategy = bench.everywhere(Mode::ModelParallel, {0});
  strategy.groups[bench.group("c")] = Bench::decision(Mode::ModelParallel, {1});
  strategy.groups[bench.group("b")] = Bench::decision(Mode::ModelParallel, {2});
  strategy.groups[bench.group("d")] = Bench::decision(Mode::ModelParallel, {3});
  const Timeline timeline = bench.run(strategy);
  EXPECT_EQ(times(timeline, "Transfer a:0").start, Nanos(40));
  EXPECT_EQ(times(timeline, "Transfer b:0").start, Nanos(40));
  EXPECT_EQ(timeline.step_time, Nanos(40 + 128 + 40));
}

TEST(Simulate, AParameterServerIsAnIncast) {
  Bench bench(toy::training_chain(3, 1, 8), toy::cluster(1, 3));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicatePs, {0, 1, 2}));
  EXPECT_EQ(times(timeline, "Transfer gw1:0 @m0:1>m0:0").start, Nanos(30));
  EXPECT_EQ(times(timeline, "Transfer gw1:0 @m0:2>m0:0").start, Nanos(62));
  EXPECT_EQ(times(timeline, "Sum gw1:0").start, Nanos(94));
  EXPECT_EQ(times(timeline, "Sum gw1:0").end, Nanos(102));
  EXPECT_EQ(times(timeline, "Transfer w1 @m0:0>m0:2").end, Nanos(109 + 2 * 32));
  EXPECT_EQ(timeline.step_time, Nanos(173));
}

TEST(Simulate, DuplicateAfterReplicateWaitsForOneGather) {
  toy::Model model(4);
  const TensorId y = model.layer("f", {model.input("x", 8)}, 8);
  model.layer("g", {y}, 8);
  Bench bench(std::move(model).build(), toy::cluster(1, 2), {{"g", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("g")] = Bench::decision(Mode::Duplicate, {0, 1});
  const Timeline timeline = bench.run(strategy);
  EXPECT_EQ(timeline.step_time, Nanos(20 + 228 + 40));
  // Resident 64; a slice of 64 until the gather ends, the whole 128 from its start to g's end, g's
  // 128.
  EXPECT_EQ(timeline.devices[DeviceId(0)].peak, Bytes(64 + 128 + 128));
  EXPECT_EQ(timeline.devices[DeviceId(0)].peak_at, Nanos(248));
}

TEST(Simulate, UnevenSharesTakeUnevenTime) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}, {3, 1}));
  EXPECT_EQ(times(timeline, "gw1 @m0:0").end, Nanos(90));
  EXPECT_EQ(times(timeline, "gw1 @m0:1").end, Nanos(30));
  EXPECT_EQ(timeline.step_time, Nanos(90 + 132 + 7));
}

TEST(Simulate, AStepThatDoesNotFitIsInfeasibleWithItsTensors) {
  Bench bench(toy::training_chain(1, 1, 1'500'000'000), toy::cluster(1, 1));  // 6 GB each
  const Timeline timeline = bench.run(bench.everywhere(Mode::Duplicate, {0}));
  const DeviceUse& use = timeline.devices[DeviceId(0)];
  EXPECT_FALSE(timeline.feasible);
  EXPECT_FALSE(use.fits());
  EXPECT_EQ(use.peak, Bytes(24'000'000'000));
  const auto alive = timeline.alive_at(DeviceId(0), use.peak_at);
  Bytes sum;
  for (const auto& tensor : alive) sum += tensor.bytes;
  EXPECT_EQ(sum, use.peak);
  EXPECT_EQ(alive.size(), 4u);
  EXPECT_TRUE(alive[0].resident);
}

TEST(Simulate, TheSameProgramGivesTheSameTimeline) {
  Bench bench(toy::training_chain(8, 3, 8), toy::cluster(2, 2), {{"f2", 1}, {"gw2", 1}, {"u2", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::ReplicatePs, {1, 3});
  const auto program = bench.lower(strategy);
  const std::string first = dump_tasks(bench.simulator.simulate(program));
  bench.run(bench.everywhere(Mode::Duplicate, {0, 3}));
  EXPECT_EQ(dump_tasks(bench.simulator.simulate(program)), first);
  EXPECT_EQ(dump_tasks(Simulator().simulate(bench.lower(strategy))), first);
}

TEST(CriticalPath, FollowsWhatEachTaskWaitedForLast) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const auto path = critical_path(timeline);
  std::vector<std::string> names;
  for (const CriticalStep& step : path) names.push_back(timeline.program->task_name(step.task));
  EXPECT_EQ(names, (std::vector<std::string>{"f1 @m0:0 [0,2)", "f2 @m0:0 [0,2)", "seed @m0:0 [0,2)",
                                             "gw2 @m0:0 [0,2)", "AllReduce gw2:0",
                                             "AllReduce gw1:0", "u1 @m0:0"}));
  EXPECT_EQ(path[0].why, CriticalStep::Why::Start);
  EXPECT_EQ(path[4].why, CriticalStep::Why::Dependency);
  EXPECT_EQ(path[5].why, CriticalStep::Why::Resource);
  Nanos sum;
  for (const CriticalStep& step : path) sum += timeline.program->tasks[step.task].duration;
  EXPECT_EQ(sum, timeline.step_time);
}

TEST(Feedback, SaysHowGroupsDevicesAndLinksWereUsed) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(2, 1));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const Feedback told = feedback(timeline, *bench.grouping);
  ASSERT_EQ(told.groups.size(), 1u);
  EXPECT_EQ(told.groups[GroupId(0)].makespan, timeline.step_time);
  EXPECT_EQ(told.groups[GroupId(0)].idle_before_transfer, Nanos((212 - 120) / 2));
  ASSERT_EQ(told.device_groups.size(), 2u);
  EXPECT_DOUBLE_EQ(told.device_groups[DeviceGroupId(0)].idle, 1.0 - (6 * 20 + 14) / 351.0);
  EXPECT_EQ(told.device_groups[DeviceGroupId(1)].peak, timeline.devices[DeviceId(1)].peak);
  ASSERT_EQ(told.link_idle.size(), 4u);
  EXPECT_DOUBLE_EQ(told.link_idle[0], 1.0);
  EXPECT_DOUBLE_EQ(told.link_idle[1], 1.0 - 264 / 351.0);
}

TEST(Dump, ABufferIsFreedByItsLastReaderAndByTheLargerIdOnATie) {
  toy::Model model(4);
  const TensorId a = model.layer("a", {model.input("x", 5)}, 5);
  model.layer("b", {a}, 5);   // 40 to 80
  model.layer("b2", {a}, 5);  // 80 to 120
  model.layer("c", {a}, 5);   // elsewhere: the transfer takes 40 to 120
  Bench bench(std::move(model).build(), toy::cluster(1, 2), {{"c", 1}});
  Strategy strategy = bench.everywhere(Mode::Duplicate, {0});
  strategy.groups[bench.group("c")] = Bench::decision(Mode::Duplicate, {1});
  EXPECT_NE(dump_tasks(bench.run(strategy))
                .find(R"~("end_ns":120,"alloc":[["a:0 from m0:0","m0:1",80]],)~"
                      R"~("free":[["a:0","m0:0"]],"stream":"links"})~"),
            std::string::npos);
}

TEST(Dump, NamesEveryBufferOnceOnADevice) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 2));
  const std::string text =
      dump_tasks(bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1})));
  EXPECT_EQ(text.substr(0, text.find('\n')), R"~({"resident":{"m0:0":96,"m0:1":96}})~");
  EXPECT_NE(
      text.find(
          R"~({"id":0,"name":"f1 @m0:0 [0,2)","kind":"Compute","op":"f1",)~"
          R"~("resources":["m0:0 compute"],"duration_ns":20,"priority":0,"deps":[],)~"
          R"~("ready_ns":0,"start_ns":0,"end_ns":20,"alloc":[["f1:0[0,2)","m0:0",64]],"free":[],)~"
          R"~("stream":"compute","part":"samples [0,2)"})~"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"~("alloc":[["gw1:0 partial[0,2)","m0:0",32]])~"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace strato
