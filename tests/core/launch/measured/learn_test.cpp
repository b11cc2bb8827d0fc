// Measured times become a profile, and a strategy a job.
#include <gtest/gtest.h>

#include "core/cost/value/profile.h"
#include "core/launch/measured/make_job.h"
#include "core/launch/measured/measured.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;

Timeline slower(Timeline timeline, std::int64_t times) {
  for (TaskTimes& task : timeline.tasks) {
    task.start = task.start * times;
    task.end = task.end * times;
  }
  timeline.step_time = timeline.step_time * times;
  return timeline;
}

const OpProfile* find(const Profile& profile, const std::string& signature) {
  for (const OpProfile& op : profile.ops)
    if (op.signature == signature) return &op;
  return nullptr;
}

TEST(Learned, OpsUnderTheirGpuWithTheirSamples) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const Profile profile = learned_profile(slower(timeline, 3));
  const Graph& graph = *timeline.program->graph;
  std::size_t checked = 0;
  for (const Task& task : timeline.program->tasks) {
    if (task.kind != TaskKind::Compute && task.kind != TaskKind::Update) continue;
    const OpProfile* op = find(profile, op_signature(graph, task.op));
    ASSERT_TRUE(op) << graph.op(task.op).name;
    EXPECT_EQ(op->gpu, timeline.program->cluster->gpu(task.device).name);
    ASSERT_EQ(op->measurements.size(), 1u);
    EXPECT_EQ(op->measurements[0].samples, follows_batch(graph, task.op) ? 2 : 1);
    EXPECT_EQ(op->measurements[0].time, task.duration * 3) << graph.op(task.op).name;
    EXPECT_GE(op->measurements[0].repetitions, 2);  // on both devices
    ++checked;
  }
  EXPECT_GT(checked, 4u);
  EXPECT_EQ(parse_profile(profile_json(profile), "learned").digest(), profile.digest());
}

TEST(Learned, WhatWasNotTimedTeachesNothing) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_TRUE(learned_profile(slower(timeline, 0)).empty());
}

// Ops of a few nanoseconds; as they are, and a million times as long.
TEST(Learned, SaysWhyNothingCanBe) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const Timeline longer = slower(timeline, 1'000'000);
  EXPECT_EQ(why_not_learned(longer, "torch"), "");
  EXPECT_NE(why_not_learned(timeline, "torch").find("less than 1 µs"), std::string::npos);
  EXPECT_NE(why_not_learned(slower(timeline, 0), "torch").find("No op"), std::string::npos);
  for (const char* engine : {"replay", "replay-cuda"})
    EXPECT_NE(why_not_learned(longer, engine).find("simulated"), std::string::npos) << engine;
}

TEST(Learned, CommunicationNeedsTwoSizes) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const Profile equal = learned_profile(timeline);
  std::vector<Bytes> sizes;
  for (const Task& task : timeline.program->tasks)
    if (task.kind == TaskKind::AllReduce) sizes.push_back(task.bytes);
  ASSERT_GE(sizes.size(), 2u);
  const bool two = sizes.front() != sizes.back();
  EXPECT_EQ(equal.collectives.size(), two ? 1u : 0u);
  Timeline other = timeline;
  auto program = std::make_shared<Program>(*timeline.program);
  for (Task& task : program->tasks) {
    if (task.kind != TaskKind::AllReduce) continue;
    task.bytes = task.bytes * 2;
    break;
  }
  other.program = program;
  const Profile varied = learned_profile(other);
  ASSERT_EQ(varied.collectives.size(), 1u);
  EXPECT_EQ(varied.collectives[0].devices, (std::vector<std::string>{"m0:0", "m0:1"}));
}

TEST(Learned, MessagesUnderWayTogetherShareTheTime) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  auto program = std::make_shared<Program>(*timeline.program);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < program->tasks.size(); ++i) {
    Task& task = program->tasks[TaskId(i)];
    timeline.tasks[TaskId(i)].start = timeline.tasks[TaskId(i)].end = Nanos(0);
    if (task.kind != TaskKind::AllReduce) continue;
    task.bytes = Bytes(++count * 1000);
    timeline.tasks[TaskId(i)] = {Nanos(100), Nanos(100), Nanos(100 + 50 * count)};
  }
  timeline.program = program;
  const Profile profile = learned_profile(timeline);
  ASSERT_EQ(profile.collectives.size(), 1u);
  EXPECT_EQ(profile.collectives[0].measurements.size(), static_cast<std::size_t>(count));
  for (const SizedMeasurement& point : profile.collectives[0].measurements)
    EXPECT_EQ(point.time, Nanos(50));
}

Profile profile_of(std::vector<OpMeasurement> ops, std::vector<SizedMeasurement> transfers) {
  Profile profile;
  if (!ops.empty()) profile.ops.push_back({"Relu", "Fast", std::move(ops)});
  if (!transfers.empty()) profile.transfers.push_back({"a", "b", std::move(transfers)});
  return profile;
}

TEST(WithLearned, OtherSizesMoveWithWhatWasMeasuredAgain) {
  const Profile known =
      profile_of({{8, Nanos(100), Nanos(10), 50}, {16, Nanos(200), Nanos(0), 50}},
                 {{Bytes(100), Nanos(10), Nanos(0)}, {Bytes(300), Nanos(30), Nanos(0)}});
  const Profile learned =
      profile_of({{12, Nanos(450), Nanos(0), 1}},
                 {{Bytes(100), Nanos(5), Nanos(0)}, {Bytes(200), Nanos(10), Nanos(0)}});
  const Profile both = with_learned(known, learned);
  ASSERT_EQ(both.ops.size(), 1u);
  const auto& points = both.ops[0].measurements;
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].time, Nanos(300));
  EXPECT_EQ(points[0].spread, Nanos(30));
  EXPECT_EQ(points[1].time, Nanos(450));
  EXPECT_EQ(points[2].time, Nanos(600));
  ASSERT_EQ(both.transfers.size(), 1u);
  const auto& sizes = both.transfers[0].measurements;
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[0].time, Nanos(5));
  EXPECT_EQ(sizes[2].time, Nanos(15));
}

TEST(WithLearned, SizesThatNothingRelatesAreLeftOut) {
  const Profile known =
      profile_of({{8, Nanos(100), Nanos(0), 50}, {16, Nanos(200), Nanos(0), 50}}, {});
  const Profile both = with_learned(known, profile_of({{64, Nanos(100), Nanos(0), 1}}, {}));
  ASSERT_EQ(both.ops[0].measurements.size(), 1u);
  EXPECT_EQ(both.ops[0].measurements[0].samples, 64);
}

TEST(WithLearned, NothingLearnedOrKnownChangesNothing) {
  const Profile some = profile_of({{8, Nanos(100), Nanos(0), 5}},
                                  {{Bytes(1), Nanos(1), Nanos(0)}, {Bytes(2), Nanos(3), Nanos(0)}});
  EXPECT_EQ(with_learned(some, {}).digest(), some.digest());
  EXPECT_EQ(with_learned({}, some).digest(), some.digest());
  EXPECT_EQ(with_learned(some, some).digest(), some.digest());
}

TEST(Retimed, HasTheOtherCostsAndTheSameTasks) {
  class Slower final : public toy::Costs {
   public:
    using Costs::Costs;
    Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
      return Costs::compute(op, gpu, samples) * 3;
    }
  };
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  for (const Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::ModelParallel}) {
    const auto program = bench.lower(bench.everywhere(mode, {0, 1}));
    const Slower slower(bench.graph, bench.cluster);
    const auto same = retimed(*program, *bench.costs, *bench.costs);
    const auto other = retimed(*program, *bench.costs, slower);
    EXPECT_EQ(change_of_times(*program, *same), 0);
    EXPECT_GT(change_of_times(*program, *other), 0);
    for (std::size_t i = 0; i < program->tasks.size(); ++i) {
      const Task &before = program->tasks[TaskId(i)], &after = other->tasks[TaskId(i)];
      EXPECT_EQ(same->tasks[TaskId(i)].duration, before.duration);
      const bool computes = before.kind == TaskKind::Compute || before.kind == TaskKind::Update;
      EXPECT_EQ(after.duration, before.duration * (computes ? 3 : 1))
          << program->task_name(TaskId(i));
    }
  }
}

TEST(MadeJob, HasARankForEachDeviceWithATask) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(2, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {1, 2}));
  JobOptions options;
  options.steps = 7;
  const Job job = make_job(timeline, "chain", options);
  EXPECT_EQ(job.name, "chain");
  EXPECT_EQ(job.options.steps, 7);
  EXPECT_EQ(job.devices, (std::vector<std::string>{"m0:1", "m1:0"}));
  EXPECT_EQ(job.machines, (std::vector<int>{0, 1}));
  EXPECT_EQ(job.predicted, timeline.step_time);
  EXPECT_EQ(devices_of(job), (std::vector<DeviceId>{DeviceId(1), DeviceId(2)}));
}

}  // namespace
}  // namespace strato
