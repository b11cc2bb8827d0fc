#include <gtest/gtest.h>

#include "core/graph/train/training_graph.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/memory_report.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "core/sim/explain/why.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/core/sim/hand_made.h"

namespace strato {
namespace {

using toy::Bench;
using toy::find;

Nanos time_of(const Timeline& timeline, Reason reason) {
  return time_by_reason(path_pieces(timeline))[static_cast<std::size_t>(reason)];
}

// The piece as text: "LinkBusy [120,212) AllReduce gw2:0 < AllReduce gw1:0".
std::string text(const Timeline& timeline, const PathPiece& piece) {
  const Program& program = *timeline.program;
  return std::string(name_of(piece.reason)) + " [" + std::to_string(piece.begin.value) + "," +
         std::to_string(piece.end.value) + ") " + program.task_name(piece.task) +
         (piece.waiting.valid() ? " < " + program.task_name(piece.waiting) : "");
}
std::vector<std::string> texts(const Timeline& timeline) {
  std::vector<std::string> list;
  for (const PathPiece& piece : path_pieces(timeline)) list.push_back(text(timeline, piece));
  return list;
}
std::vector<std::string> gap_texts(const Timeline& timeline, std::size_t device) {
  std::vector<std::string> list;
  const auto all = gaps(timeline);
  for (const Gap& gap : all[DeviceId(device)])
    list.push_back(std::string(name_of(gap.reason)) + " [" + std::to_string(gap.begin.value) + "," +
                   std::to_string(gap.end.value) + ") " +
                   (gap.next.valid() ? timeline.program->task_name(gap.next) : "-") + " < " +
                   (gap.cause.valid() ? timeline.program->task_name(gap.cause) : "-"));
  return list;
}
using Texts = std::vector<std::string>;

TEST(PathPieces, CollectivesThatQueueUpWaitForTheLink) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  EXPECT_EQ(texts(timeline),
            (Texts{"compute [0,20) f1 @m0:0 [0,2)", "compute [20,40) f2 @m0:0 [0,2)",
                   "compute [40,60) seed @m0:0 [0,2)", "compute [60,80) gw2 @m0:0 [0,2)",
                   "collective [80,120) AllReduce gw2:0",
                   "link busy [120,212) AllReduce gw2:0 < AllReduce gw1:0",
                   "collective [212,344) AllReduce gw1:0", "compute [344,351) u1 @m0:0"}));
  EXPECT_EQ(gap_texts(timeline, 1), (Texts{"collective [120,212) u2 @m0:1 < AllReduce gw2:0",
                                           "collective [219,344) u1 @m0:1 < AllReduce gw1:0"}));
}

TEST(PathPieces, ReadyOpsWaitForTheirDevice) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 1));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0}));
  EXPECT_EQ(texts(timeline),
            (Texts{"compute [0,40) f1 @m0:0", "compute [40,80) f2 @m0:0",
                   "compute [80,120) seed @m0:0", "device busy [120,160) gw2 @m0:0 < gx2 @m0:0",
                   "compute [160,200) gx2 @m0:0", "device busy [200,240) gw1 @m0:0 < u2 @m0:0",
                   "device busy [240,247) u2 @m0:0 < u1 @m0:0", "compute [247,254) u1 @m0:0"}));
  EXPECT_TRUE(gaps(timeline)[DeviceId(0)].empty());
}

TEST(PathPieces, TheLastMemberOfACollectiveIsAStraggler) {
  Bench bench(toy::training_chain(4, 1, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}, {3, 1}));
  EXPECT_EQ(texts(timeline),
            (Texts{"compute [0,30) f1 @m0:0 [0,3)",
                   "straggler [30,60) seed @m0:0 [0,3) < AllReduce gw1:0",
                   "straggler [60,90) gw1 @m0:0 [0,3) < AllReduce gw1:0",
                   "collective [90,222) AllReduce gw1:0", "compute [222,229) u1 @m0:0"}));
  EXPECT_EQ(gap_texts(timeline, 1), (Texts{"straggler [30,90) u1 @m0:1 < seed @m0:0 [0,3)",
                                           "collective [90,222) u1 @m0:1 < AllReduce gw1:0"}));
}

TEST(PathPieces, StragglersCountOnceHalfOfTheMembersAreReady) {
  Bench bench(toy::training_chain(8, 1, 8), toy::cluster(1, 4));
  const Timeline timeline =
      bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}, {1, 1, 3, 3}));
  EXPECT_EQ(time_of(timeline, Reason::Straggler), Nanos(60));  // ready at 30, 30, 90, 90
  const Timeline alike = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  EXPECT_EQ(time_of(alike, Reason::Straggler), Nanos(0));
}

TEST(PathPieces, AnIncastWaitsForItsLinkAndHasNoStraggler) {
  Bench bench(toy::training_chain(3, 1, 8), toy::cluster(1, 3));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicatePs, {0, 1, 2}));
  EXPECT_EQ(time_of(timeline, Reason::Straggler), Nanos(0));
  EXPECT_EQ(time_of(timeline, Reason::Compute), Nanos(30 + 7));
  EXPECT_EQ(time_of(timeline, Reason::Reshuffle), Nanos(8));
  EXPECT_EQ(time_of(timeline, Reason::LinkBusy), Nanos(32 + 32));  // on the way in and back
  EXPECT_EQ(time_of(timeline, Reason::Transfer), Nanos(32 + 32));
}

TEST(PathPieces, SayHowLongDevicesWaitForTheirProcesses) {
  toy::HandMade program;
  toy::Extra extra;
  extra.issue = 8;
  for (int i = 0; i < 10; ++i) extra.after = {program.compute(0, 5, extra)};
  const Timeline timeline = program.exclusive();
  EXPECT_EQ(time_of(timeline, Reason::Compute), Nanos(10 * 5));
  EXPECT_EQ(time_of(timeline, Reason::Process), Nanos(10 * 8 + 5 - 10 * 5));
}

TEST(Why, StartingKernelsLimitsAStepOfSmallOnes) {
  const auto words = [](std::int32_t issue) {
    toy::HandMade program;
    toy::Extra extra;
    extra.issue = issue;
    for (int i = 0; i < 10; ++i) extra.after = {program.compute(0, 5, extra)};
    const Timeline timeline = program.exclusive();
    return why(timeline, what_if(timeline, {}), {}).text();
  };
  EXPECT_NE(words(80).find("starting its kernels limits it"), std::string::npos) << words(80);
  EXPECT_EQ(words(4).find("starting its kernels"), std::string::npos) << words(4);
}

TEST(PathPieces, TheLastTermOfASumIsAStraggler) {
  Bench bench(toy::training_chain(6, 1, 8), toy::cluster(1, 3));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicatePs, {0, 1, 2}, {1, 1, 4}));
  EXPECT_EQ(time_of(timeline, Reason::Straggler), Nanos(90));  // from 30 to 120
}

// a and b on one device, c on another.
Timeline two_transfers(const SimulateOptions& options, std::int64_t width) {
  toy::Model model(4);
  const TensorId x = model.input("x", 8);
  const TensorId a = model.layer("a", {x}, width), b = model.layer("b", {x}, width);
  model.layer("c", {a, b}, 8);
  Bench bench(std::move(model).build(), toy::cluster(1, 2), {{"c", 1}});
  Strategy strategy = bench.everywhere(Mode::ModelParallel, {0});
  strategy.groups[bench.group("c")] = Bench::decision(Mode::ModelParallel, {1});
  return bench.simulator.simulate(bench.lower(strategy), options);
}

TEST(PathPieces, ATransferWaitsForItsLink) {
  const Timeline timeline = two_transfers({}, 8);
  EXPECT_EQ(texts(timeline),
            (Texts{"compute [0,40) a @m0:0", "transfer [40,80) Transfer a:0 @m0:0>m0:1",
                   "link busy [80,168) Transfer a:0 @m0:0>m0:1 < Transfer b:0 @m0:0>m0:1",
                   "transfer [168,296) Transfer b:0 @m0:0>m0:1", "compute [296,336) c @m0:1"}));
  EXPECT_EQ(gap_texts(timeline, 1),
            (Texts{"compute [0,40) c @m0:1 < a @m0:0",
                   "transfer [40,80) c @m0:1 < Transfer a:0 @m0:0>m0:1",
                   "link busy [80,168) c @m0:1 < Transfer a:0 @m0:0>m0:1",
                   "transfer [168,296) c @m0:1 < Transfer b:0 @m0:0>m0:1"}));
  EXPECT_EQ(gap_texts(timeline, 0), (Texts{"straggler [80,336) - < c @m0:1"}));
}

TEST(PathPieces, SharingALinkFairlyIsWaitingForIt) {
  SimulateOptions fair;
  fair.fair_links = true;
  const std::int64_t width = 100'000;
  const Timeline timeline = two_transfers(fair, width);
  const std::int64_t duration = 4 * 4 * width;
  const TaskId b = find(*timeline.program, "Transfer b:0");
  const std::int64_t work = duration - timeline.program->tasks[b].latency.value;
  EXPECT_EQ(time_of(timeline, Reason::Transfer), Nanos(duration));
  EXPECT_EQ(time_of(timeline, Reason::LinkBusy), Nanos(work - 40));
  EXPECT_EQ(time_of(timeline, Reason::DeviceBusy), Nanos(40));
  EXPECT_EQ(time_of(timeline, Reason::Compute), Nanos(80));
  for (const PathPiece& piece : path_pieces(timeline))
    if (piece.reason == Reason::LinkBusy) {
      EXPECT_EQ(piece.waiting, b);
      EXPECT_EQ(piece.task, find(*timeline.program, "Transfer a:0"));
    }
}

const WhatIf& asked(const std::vector<WhatIf>& list, const std::string& name) {
  static const WhatIf none{};
  for (const WhatIf& each : list)
    if (each.name == name) return each;
  ADD_FAILURE() << name << " was not asked";
  return none;
}

TEST(WhatIf, NetworkAndDevices) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const std::vector<WhatIf> list = what_if(timeline, {});
  // u2 follows gw1 on the device.
  EXPECT_EQ(asked(list, "the network").free, Nanos(120 + 7 + 7));
  EXPECT_EQ(asked(list, "the network").faster, Nanos(80 + 119 + 119 + 7));
  // Six ops on the way to the last collective, which waits for the first.
  EXPECT_EQ(asked(list, "all devices").free, Nanos(4 + 132 + 132 + 1));
  EXPECT_EQ(asked(list, "all devices").faster, Nanos(72 + 132 + 132 + 7));
  // All links of the ring are equally slow.
  for (const WhatIf& each : list)
    if (each.what == WhatIf::What::Link) {
      EXPECT_EQ(each.free, timeline.step_time) << each.name;
    }
  EXPECT_EQ(asked(list, "f1").free, Nanos(351 - 19));
  EXPECT_EQ(list[0].name, "the network");
  for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LE(list[i - 1].free, list[i].free);
}

TEST(WhatIf, ALinkHelpsUntilAnotherIsTheSlowest) {
  toy::Model model(4);
  const TensorId a = model.layer("a", {model.input("x", 8)}, 100'000);
  model.layer("c", {a}, 8);
  Bench bench(std::move(model).build(), toy::cluster(2, 1), {{"c", 1}});
  Strategy strategy = bench.everywhere(Mode::ModelParallel, {0});
  strategy.groups[bench.group("c")] = Bench::decision(Mode::ModelParallel, {1});
  for (const bool fair : {false, true}) {
    SimulateOptions options;
    options.fair_links = fair;
    const Timeline timeline = bench.simulator.simulate(bench.lower(strategy), options);
    const TaskId transfer = find(*timeline.program, "Transfer a:0");
    const Task& task = timeline.program->tasks[transfer];
    const Nanos moving = task.duration - task.latency;
    for (const WhatIf& each : what_if(timeline, {})) {
      if (each.what != WhatIf::What::Link) continue;
      // All four links have 12 or 12.5 GB/s: the two of 12 are the slowest, so none helps alone.
      EXPECT_EQ(each.free, timeline.step_time) << each.name;
    }
    const auto list = what_if(timeline, {});
    EXPECT_EQ(asked(list, "the network").faster, timeline.step_time - moving / 10);
    // Nothing but latency; a flow takes a nanosecond where links are shared.
    EXPECT_NEAR(static_cast<double>(asked(list, "the network").free.value),
                static_cast<double>((timeline.step_time - moving).value), 1);
  }
}

TEST(WhatIf, StopsAndDoesNotDependOnThreads) {
  Bench bench(toy::training_chain(8, 3, 8), toy::cluster(2, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(what_if(timeline, {}, stop.get_token()).empty());
  WhatIfOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const auto a = what_if(timeline, one), b = what_if(timeline, three);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].free, b[i].free);
    EXPECT_EQ(a[i].faster, b[i].faster);
  }
}

// Ops are measured to 10 %, collectives fitted to 20 %.
class UnsureCosts : public toy::Costs {
 public:
  using Costs::Costs;
  Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return {compute(op, gpu, samples), CostSource::Profile, 0.1, "measured"};
  }
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override {
    return {collective(kind, devices, bytes).duration, CostSource::Fit, 0.2, "fitted"};
  }
};

TEST(ErrorBar, ErrorsOfOneKindGoTogether) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const UnsureCosts costs(bench.graph, bench.cluster);
  const ErrorBar bar = error_bar(timeline, costs);
  // On the path: f1 f2 seed gw2 u1, all of one family, and both collectives.
  const double ops = 0.1 * 87, collectives = 0.2 * 264;
  EXPECT_NEAR(bar.relative * 351, std::hypot(ops, collectives), 1e-6);
  EXPECT_EQ(bar.high - timeline.step_time, timeline.step_time - bar.low);
  EXPECT_NEAR(bar.profile, 87.0 / 351, 1e-9);
  EXPECT_NEAR(bar.fit, 264.0 / 351, 1e-9);
  EXPECT_NEAR(bar.analytic, 0, 1e-9);
}

TEST(ErrorBar, TasksSayWhatTheyWereLoweredWith) {
  Bench bench(toy::training_chain(6, 2, 8), toy::cluster(2, 2), {{"f2", 1}, {"gw2", 1}, {"u2", 1}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2});
  strategy.groups[bench.group("f2")] = Bench::decision(Mode::ReplicatePs, {1, 3});
  const Timeline timeline = bench.run(strategy);
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i)
    EXPECT_EQ(explain_task(timeline, TaskId(i), *bench.costs).time,
              timeline.program->tasks[TaskId(i)].duration)
        << timeline.program->task_name(TaskId(i));
}

TEST(MemoryReport, PeakByRoleAndLargest) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 1));
  const Timeline timeline = bench.run(bench.everywhere(Mode::Duplicate, {0}));
  const MemoryReport report = memory_report(timeline, DeviceId(0));
  EXPECT_EQ(report.peak, timeline.devices[DeviceId(0)].peak);
  EXPECT_EQ(report.moment, timeline.devices[DeviceId(0)].peak_at);
  Bytes sum;
  for (Bytes bytes : report.by_role) sum += bytes;
  EXPECT_EQ(sum, report.peak);
  EXPECT_EQ(report.by_role[static_cast<std::size_t>(TensorRole::Parameter)], Bytes(64));
  EXPECT_EQ(report.by_role[static_cast<std::size_t>(TensorRole::Input)], Bytes(128));
  EXPECT_TRUE(report.advice.empty());
  for (const auto& held : report.largest)
    EXPECT_EQ(held.resident, !held.made_by.valid()) << held.tensor.value();
}

// f1:0 (3 GB) is kept for gw2 while f2:0 and seed:0 come; 11.8 GB of memory.
TEST(MemoryReport, AdviceHasTrueFigures) {
  Bench bench(toy::training_chain(4, 3, 200'000'000), toy::cluster(1, 2));  // 3.2 GB an activation
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0}));
  const MemoryReport report = memory_report(timeline, DeviceId(0), bench.grouping.get());
  ASSERT_FALSE(timeline.feasible);
  std::string all;
  for (const std::string& advice : report.advice) all += advice + "\n";
  SCOPED_TRACE(all);
  EXPECT_NE(all.find("on this device free"), std::string::npos);
  EXPECT_NE(all.find("computing again what f1"), std::string::npos);
  EXPECT_NE(all.find("on 2 devices instead of 1"), std::string::npos);
  EXPECT_EQ(all.find("optimizer state"), std::string::npos);  // there is none
}

// A parameter of 4.5 GB, with two moments, on two devices of 11.8 GB.
TEST(MemoryReport, WhatIsSharedIsNotToBeShared) {
  ModelKit kit(8);
  kit.op("MatMul", {kit.input("x", {8, 40'000}), kit.weight("w", {40'000, 28'000})});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam));
  Bench bench(graph, toy::cluster(1, 2));
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  const auto advises_sharding = [&] {
    const Timeline timeline = bench.run(strategy);
    EXPECT_FALSE(timeline.feasible);
    const MemoryReport report = memory_report(timeline, DeviceId(0), bench.grouping.get());
    return std::ranges::any_of(report.advice, [](const std::string& advice) {
      return advice.find("sharding the optimizer state") != std::string::npos;
    });
  };
  EXPECT_TRUE(advises_sharding());
  for (std::optional<Decision>& decision : strategy.groups) decision->roles.states.stage = 1;
  EXPECT_FALSE(advises_sharding());
}

TEST(Why, SaysWhatDominates) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  const std::string text = why(timeline, what_if(timeline, {}), {}, Nanos(100)).text();
  EXPECT_NE(text.find("351 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("75 % communication"), std::string::npos) << text;
  EXPECT_NE(text.find("bandwidth limits it"), std::string::npos) << text;
  EXPECT_NE(text.find("The network 10 % faster"), std::string::npos) << text;
  EXPECT_NE(text.find("100 ns"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Why, SaysWhereBothLimitIt) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline =
      bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));  // 351 ns
  const auto text = [&](std::int64_t computing, std::int64_t moving) {
    WhatIf network, devices;
    network.what = WhatIf::What::Network;
    network.faster = network.free = Nanos(computing);
    devices.what = WhatIf::What::Devices;
    devices.faster = devices.free = Nanos(moving);
    return why(timeline, {network, devices}, {}, std::nullopt).text();
  };
  for (const auto& [computing, moving] : {std::pair(300, 280), {280, 300}}) {
    EXPECT_NE(text(computing, moving).find("limit it about equally"), std::string::npos);
    EXPECT_EQ(text(computing, moving).find("nearly as long"), std::string::npos);
  }
  EXPECT_NE(text(300, 250).find("and computing limits it"), std::string::npos) << text(300, 250);
  EXPECT_NE(text(250, 300).find("and bandwidth limits it"), std::string::npos);
}

// A long message of latency, beside a device that works through two short ones: what an infinitely
// fast network would not save, messages without latency do.
TEST(Why, LatencyIsNoBandwidth) {
  toy::HandMade program;
  toy::Extra late;
  late.after = {program.compute(0, 20)};
  late.latency = 90;
  program.compute(1, 10, {.after = {program.transfer(0, 1, 100, late)}});
  const Timeline timeline = program.exclusive();
  ASSERT_EQ(timeline.step_time, Nanos(130));
  const std::vector<WhatIf> what_ifs = what_if(timeline, {});
  EXPECT_EQ(asked(what_ifs, "latencies").free, Nanos(40));
  EXPECT_EQ(asked(what_ifs, "latencies").faster, Nanos(121));
  const Why text = why(timeline, what_ifs, {});
  EXPECT_NE(text.verdict.find("and latency limits it: with messages without latency it would take "
                              "40 ns (31 %)"),
            std::string::npos)
      << text.verdict;
  ASSERT_EQ(text.causes.size(), 3u) << text.text();
  EXPECT_EQ(text.causes[0].find("Latency, up to 69 % to gain."), 0u) << text.causes[0];
  EXPECT_EQ(text.causes[1].find("Computing, up to 22 % to gain."), 0u) << text.causes[1];
  EXPECT_EQ(text.causes[2].find("Bandwidth, up to 8 % to gain."), 0u) << text.causes[2];
}

// Ops that queue for their device wait for nothing but computing.
TEST(Why, ABusyDeviceComputes) {
  toy::HandMade program;
  for (int i = 0; i < 10; ++i) program.compute(0, 5);
  const Timeline timeline = program.exclusive();
  EXPECT_EQ(time_of(timeline, Reason::DeviceBusy), Nanos(45));
  const auto times = time_by_root(path_pieces(timeline));
  EXPECT_EQ(times[static_cast<std::size_t>(Reason::Compute)], Nanos(50));
  EXPECT_EQ(times[static_cast<std::size_t>(Reason::DeviceBusy)], Nanos(0));
  const Why text = why(timeline, what_if(timeline, {}), {});
  EXPECT_NE(text.verdict.find("and computing limits it"), std::string::npos) << text.verdict;
}

TEST(Why, OfOneDeviceIsASentenceToo) {
  Bench bench(toy::training_chain(4, 2, 8), toy::cluster(1, 2));
  const Timeline timeline = bench.run(bench.everywhere(Mode::ModelParallel, {0}));
  WhatIf device;
  device.what = WhatIf::What::Device;
  device.name = "m0:0";
  device.faster = device.free = Nanos(0);
  const std::string text = why(timeline, {device}, {}, std::nullopt).text();
  EXPECT_NE(text.find(" Making m0:0 infinitely fast would save 100 %."), std::string::npos) << text;
}

}  // namespace
}  // namespace strato
