// Offload: what goes to the host and comes back, when, what that saves and costs; what the verifier
// refuses; and which ops are chosen for it.
#include "core/program/value/offload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/program/delta/delta_lower.h"
#include "core/program/lower/verify.h"
#include "core/program/project/rank_programs.h"
#include "core/sim/explain/dump.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/why.h"
#include "tests/core/program/toy.h"
#include "tests/core/sim/most_at_once.h"

namespace strato {
namespace {

using toy::Bench;

constexpr std::int64_t kHostBytes = 1'000'000'000;  // bytes of host memory

class Offloading : public testing::Test {
 protected:
  // A copy of one tensor of activations takes less than an op, 240 ns.
  static constexpr std::int64_t kSamples = 24, kWide = 2, kTensor = kSamples * kWide * 4;
  static constexpr int kDepth = 8;

  // A chain whose updates have a state as large as the parameter.
  static std::shared_ptr<const Graph> chain_with_states() {
    toy::Model model(kSamples);
    const TensorId w = model.parameter("w", kWide);
    const TensorId y = model.layer("f", {model.input("x", kWide), w}, kWide);
    const OpId f = model.last();
    const TensorId seed = model.seed("seed", y);
    const TensorId gradient = model.gradient("gw", f, 1, seed, {y});
    Tensor state;
    state.name = "m";
    state.role = TensorRole::OptimizerState;
    state.shape = {kWide};
    const TensorId m = model.builder().add_tensor(std::move(state));
    model.update("u", w, gradient, {m});
    return std::move(model).build();
  }

  // Layers 1 to 4 are of group 1, the others of group 0.
  static std::vector<std::pair<std::string, int>> halves() {
    std::vector<std::pair<std::string, int>> result;
    for (int layer = 1; layer <= kDepth / 2; ++layer)
      for (const char* op : {"f", "gw", "gx", "u"})
        if (layer > 1 || std::string(op) != "gx")
          result.emplace_back(op + std::to_string(layer), 1);
    return result;
  }
  static Bench chain(std::int64_t host = kHostBytes) {
    return {toy::training_chain(kSamples, kDepth, kWide), toy::cluster(1, 4, host), halves()};
  }

  static Strategy on(const Bench& bench, std::vector<int> devices,
                     const std::vector<std::string>& offloaded) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, std::move(devices));
    for (const std::string& op : offloaded) strategy.offloaded.push_back(bench.graph->find_op(op));
    std::ranges::sort(strategy.offloaded);
    return strategy;
  }
  static std::vector<std::string> layers(int first, int last) {
    std::vector<std::string> names;
    for (int layer = first; layer <= last; ++layer) names.push_back("f" + std::to_string(layer));
    return names;
  }
  static std::int64_t peak(const Timeline& timeline, std::size_t device = 0) {
    const DeviceUse& use = timeline.devices[DeviceId(device)];
    return use.peak.value - use.resident.value;
  }
  static Nanos busy(const Timeline& timeline, const std::string& link) {
    const Cluster& cluster = *timeline.program->cluster;
    const auto at = std::ranges::find(cluster.links(), link, &Link::name);
    return timeline.link_busy[LinkId(static_cast<std::size_t>(at - cluster.links().begin()))];
  }
  static TaskTimes times(const Timeline& timeline, const std::string& name) {
    const TaskId id = toy::find(*timeline.program, name);
    EXPECT_TRUE(id.valid()) << name;
    return id.valid() ? timeline.tasks[id] : TaskTimes();
  }

  Bench bench = chain();
};

// ---- activations

// At the loss all activations and its gradient are there; without the first layer's one less.
TEST_F(Offloading, PeakFallsByJustWhatIsOnTheHost) {
  const Timeline plain = bench.run(on(bench, {0}, {})), less = bench.run(on(bench, {0}, {"f1"}));
  EXPECT_EQ(peak(plain), (kDepth + 1) * kTensor);
  EXPECT_EQ(peak(less), kDepth * kTensor);
  EXPECT_EQ(less.hosts[MachineId(0)].peak, Bytes(kTensor));
  EXPECT_EQ(plain.hosts[MachineId(0)].peak, Bytes(0));
  EXPECT_EQ(peak(bench.run(on(bench, {0}, layers(1, 3)))), (kDepth - 2) * kTensor);
}

// What is ahead of the backward pass is what two readers read.
TEST_F(Offloading, DeepChainsKeepWhatIsInUse) {
  const Timeline timeline = bench.run(on(bench, {0}, layers(1, kDepth - 1)));
  // The last layer's, its gradient, two brought ahead, and the gradients of two parameters.
  EXPECT_EQ(peak(timeline), 4 * kTensor + 2 * kWide * 4);
  EXPECT_EQ(timeline.hosts[MachineId(0)].peak, Bytes((kDepth - 1) * kTensor));
}

// Copies that are faster than ops cost nothing, and are on the link in their direction alone.
TEST_F(Offloading, CopiesGoOnBesideComputing) {
  const Timeline plain = bench.run(on(bench, {0}, {}));
  const Timeline timeline = bench.run(on(bench, {0}, layers(1, kDepth - 1)));
  EXPECT_EQ(timeline.step_time, plain.step_time);
  EXPECT_EQ(timeline.devices[DeviceId(0)].compute_busy, plain.devices[DeviceId(0)].compute_busy);
  EXPECT_EQ(busy(timeline, "m0:0>fabric"), Nanos((kDepth - 1) * kTensor));
  EXPECT_EQ(busy(timeline, "fabric>m0:0"), Nanos((kDepth - 1) * kTensor));
  EXPECT_EQ(busy(plain, "m0:0>fabric"), Nanos(0));
}

// A slow way is waited for: from the last but one task before the reader on.
TEST_F(Offloading, SlowCopiesAreWaitedFor) {
  constexpr std::int64_t kWider = 10, kCopy = kSamples * kWider * 4, kOp = 10 * kSamples;
  static_assert(kCopy > 3 * kOp);  // what else there is to do: gx3, gx2, gw1
  Bench slow(toy::training_chain(kSamples, kDepth, kWider), toy::cluster(1, 1, kHostBytes));
  const Nanos plain = slow.run(on(slow, {0}, {})).step_time;
  const Timeline timeline = slow.run(on(slow, {0}, {"f1"}));
  EXPECT_EQ(timeline.step_time, times(timeline, "gw3").end + Nanos(kCopy + kOp + 7));
  EXPECT_GT(timeline.step_time, plain);
}

TEST_F(Offloading, WhatIsBroughtComesJustBeforeItIsRead) {
  const Timeline timeline = bench.run(on(bench, {0}, {"f1"}));
  EXPECT_EQ(times(timeline, "Offload f1:0").start, times(timeline, "f1 ").end);
  const TaskTimes fetch = times(timeline, "Fetch f1:0");
  EXPECT_EQ(fetch.start, times(timeline, "gw3").end);  // of gw3, gx3, gw2
  EXPECT_LE(fetch.end, times(timeline, "gw2").start);
  EXPECT_EQ(toy::count(*timeline.program, TaskKind::Fetch), 1u);
}

TEST_F(Offloading, EntriesThatMeanNothingChangeNothing) {
  const auto program = bench.lower(on(bench, {0}, {"u1"}));  // it has no state
  EXPECT_EQ(program->tasks.size(), bench.lower(on(bench, {0}, {}))->tasks.size());
  EXPECT_EQ(bench.lower(on(bench, {0}, {"f8"}))->tasks.size(), program->tasks.size() + 2);
}

// Each device has its own part on the host that both share.
TEST_F(Offloading, HostsKeepWhatAllTheirDevicesSend) {
  const Timeline timeline = bench.run(on(bench, {0, 1}, {"f1", "f2"}));
  EXPECT_EQ(timeline.hosts[MachineId(0)].peak, Bytes(2 * kTensor));
  EXPECT_EQ(toy::count(*timeline.program, TaskKind::Offload), 4u);
}

int most_here(const Timeline& timeline, const std::string& tensor, bool on_host) {
  return most_at_once(timeline, [&](const Buffer& buffer, const Task&) {
    return buffer.on_host == on_host &&
           timeline.program->graph->tensor(buffer.tensor).name == tensor;
  });
}

// GPipe keeps what all micro-batches make; now on the host.
TEST_F(Offloading, PipelinesKeepWhatIsUnderWayOnTheHost) {
  Strategy strategy = on(bench, {1}, {});
  strategy.groups[bench.group("f1")] = Bench::decision(Mode::ReplicateAllReduce, {0});
  strategy.micro_batches = {4, PipelineSchedule::Gpipe};
  EXPECT_EQ(most_here(bench.run(strategy), "f1:0", false), 4);
  strategy.offloaded = {bench.graph->find_op("f1")};
  const Timeline timeline = bench.run(strategy);
  EXPECT_LE(most_here(timeline, "f1:0", false), 2);
  EXPECT_EQ(most_here(timeline, "f1:0", true), 4);
  EXPECT_EQ(toy::count(*timeline.program, TaskKind::Fetch), 4u);
}

// An op that is computed again reads what has come back.
TEST_F(Offloading, ItComposesWithRecomputation) {
  Strategy strategy = on(bench, {0}, {"f1"});
  strategy.recomputed = {bench.graph->find_op("f2")};
  const Timeline timeline = bench.run(strategy);
  EXPECT_LE(times(timeline, "Fetch f1:0").end, times(timeline, "f2 @m0:0 again").start);
  EXPECT_LT(peak(timeline), peak(bench.run(on(bench, {0}, {"f1"}))));
}

// ---- optimizer states

TEST_F(Offloading, StatesRestOnTheHost) {
  Bench states(chain_with_states(), toy::cluster(1, 1, kHostBytes));
  constexpr Bytes kState(kWide * 4);
  const Timeline plain = states.run(on(states, {0}, {}));
  const Timeline timeline = states.run(on(states, {0}, {"u"}));
  EXPECT_EQ(plain.devices[DeviceId(0)].resident - timeline.devices[DeviceId(0)].resident, kState);
  EXPECT_EQ(timeline.hosts[MachineId(0)].resident, kState);
  EXPECT_EQ(timeline.hosts[MachineId(0)].peak, kState);
  // It comes when the gradient is there, and goes back behind the update.
  EXPECT_EQ(times(timeline, "Fetch m").start, times(timeline, "gw").end);
  EXPECT_EQ(times(timeline, "Offload m").start, times(timeline, "u ").end);
  EXPECT_EQ(timeline.step_time - plain.step_time, Nanos(2 * kState.value));
}

// ---- what does not fit, or is refused

TEST_F(Offloading, HostsThatAreTooSmallAreToldOf) {
  Bench small = chain(kTensor - 1);
  const Timeline timeline = small.run(on(small, {0}, {"f1"}));
  EXPECT_FALSE(timeline.feasible);
  EXPECT_FALSE(timeline.hosts[MachineId(0)].fits());
  EXPECT_TRUE(bench.run(on(bench, {0}, {"f1"})).feasible);
}

std::string refusal(Bench& bench, const Strategy& strategy) {
  try {
    bench.lower(strategy);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_F(Offloading, MachinesWithoutHostMemoryAreNamed) {
  Bench none = chain(0);
  const std::string text = refusal(none, on(none, {0}, {"f1"}));
  EXPECT_NE(text.find("machine \"m0\": has no \"host_memory_bytes\""), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_EQ(refusal(none, on(none, {0}, {"u1"})), "accepted");  // nothing is kept there
}

TEST_F(Offloading, NvLinkAloneIsNoWayToTheHost) {
  const auto cluster = [](const std::string& more) {
    return std::make_shared<const Cluster>(parse_cluster(
        R"({"format":"stratoscope-cluster","version":1,"name":"toy","machines":[{"name":"m0",)"
        R"("gpus":[{"type":"V100","count":2}],"host_memory_bytes":1000000,)" +
            more + R"("fabric":{"kind":"nvlink2","bandwidth_GBps":150}}]})",
        "toy.json", GpuCatalogue::bundled()));
  };
  const auto graph = toy::training_chain(kSamples, kDepth, kWide);
  Bench without(graph, cluster("")),
      with(graph, cluster(R"("host_link":{"bandwidth_GBps":12,"latency_us":1},)"));
  const std::string text = refusal(without, on(without, {0}, {"f1"}));
  EXPECT_NE(text.find("machine \"m0\": has no \"host_link\""), std::string::npos) << text;
  const Timeline timeline = with.run(on(with, {0}, {"f1"}));
  EXPECT_EQ(busy(timeline, "m0:0>host"), Nanos(kTensor));
  EXPECT_EQ(busy(timeline, "m0:0>fabric"), Nanos(0));
}

TEST_F(Offloading, OpsOfTheBackwardPassAreRefused) {
  const std::string text = refusal(bench, on(bench, {0}, {"gx3"}));
  EXPECT_NE(text.find("op \"gx3\": is offloaded, and is of the backward pass"), std::string::npos)
      << text;
}

TEST_F(Offloading, RecomputedOpsAreRefused) {
  Strategy strategy = on(bench, {0}, {"f1"});
  strategy.recomputed = strategy.offloaded;
  EXPECT_THROW(validate(strategy, *bench.grouping, *bench.cluster), InputError);
  strategy.recomputed = {bench.graph->find_op("f2")};
  EXPECT_NO_THROW(validate(strategy, *bench.grouping, *bench.cluster));
  strategy.offloaded.push_back(strategy.offloaded.front());
  EXPECT_THROW(validate(strategy, *bench.grouping, *bench.cluster), InputError);
}

TEST_F(Offloading, TheVerifierRefusesWhatReadsAtTheWrongEnd) {
  const Program good = *bench.lower(on(bench, {0}, {"f1"}));
  const std::size_t out = toy::find(good, "Offload f1:0").index(),
                    back = toy::find(good, "Fetch f1:0").index();
  EXPECT_NO_THROW(verify(good));
  Program bad = good;
  bad.buffers[bad.writes[out].front()].on_host = false;
  EXPECT_THROW(verify(bad), InvariantError);
  bad = good;
  bad.buffers[bad.writes[back].front()].on_host = true;
  EXPECT_THROW(verify(bad), InvariantError);
  bad = good;
  bad.buffers[bad.writes[back].front()].part =
      bad.parts.next_id();  // another part than what went out
  bad.parts.push_back(Part::samples(0, 3));
  EXPECT_THROW(verify(bad), InvariantError);
  bad = good;
  bad.resources.mutable_row(out).front() = bad.resources[back].front();
  EXPECT_THROW(verify(bad), InvariantError);
}

// ---- ranks and other readers

// What went out is released by the next copy: its memory is free while the others go.
TEST_F(Offloading, RanksCopyAndRelease) {
  const Timeline timeline = bench.run(on(bench, {0}, layers(1, 4)));
  const RankPrograms ranks = rank_programs(*timeline.program, execution_order(timeline));
  check_termination(ranks, "plan");
  const RankProgram& rank = ranks.ranks.front();
  int copies = 0, released = 0;
  ValueId before;
  for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
    const Instruction& what = rank.instructions[i];
    if (!is_host_copy(what.kind)) continue;
    ++copies;
    const bool out = what.kind == InstructionKind::Offload;
    EXPECT_EQ(rank.values[rank.reads[i][0]].on_host, !out);
    EXPECT_EQ(rank.values[rank.writes[i][0]].on_host, out);
    EXPECT_EQ(what.bytes, Bytes(kTensor));
    const auto releases = rank.releases[i];
    if (out && before.valid()) released += std::ranges::count(releases, before) > 0;
    before = out ? rank.reads[i][0] : ValueId();
    EXPECT_TRUE(out || std::ranges::count(releases, rank.reads[i][0]) == 1);
  }
  EXPECT_EQ(copies, 8);
  EXPECT_EQ(released, 3);
}

TEST_F(Offloading, ItIsToldInDumps) {
  const std::string dump = dump_tasks(bench.run(on(bench, {0}, {"f1"})));
  EXPECT_NE(dump.find("Offload f1:0 @m0:0"), std::string::npos) << dump;
  EXPECT_NE(dump.find("Fetch f1:0 @m0:0"), std::string::npos) << dump;
}

TEST_F(Offloading, ItsCopiesAreExplained) {
  const Timeline timeline = bench.run(on(bench, {0}, {"f1"}));
  const double share = 2 * kTensor / static_cast<double>(timeline.step_time.value);
  const std::string text = why(timeline, {}, error_bar(timeline, *bench.costs)).text();
  EXPECT_NE(text.find(fmt::format("Copies to and from host memory keep the host link busy for "
                                  "{:.0f} % of the step, 0 % of it not hidden behind computing.",
                                  100 * share)),
            std::string::npos)
      << text;
  EXPECT_EQ(why(bench.run(on(bench, {0}, {})), {}, {}).text().find("host memory"),
            std::string::npos);
}

// A copy on the critical path takes what a transfer takes.
TEST_F(Offloading, CopiesOnThePathHaveTheirCosts) {
  Bench states(chain_with_states(), toy::cluster(1, 1, kHostBytes));
  const Timeline timeline = states.run(on(states, {0}, {"u"}));
  const TaskId copy = toy::find(*timeline.program, "Fetch m");
  EXPECT_EQ(explain_task(timeline, copy, *states.costs).time, Nanos(kWide * 4));
  EXPECT_NEAR(error_bar(timeline, *states.costs).analytic, 1, 1e-9);
}

TEST_F(Offloading, DeltaEvaluationLeavesItToWholeLowering) {
  const Strategy plain = on(bench, {0}, {}), other = on(bench, {0}, {"f1"});
  EXPECT_FALSE(DeltaLowering::are_near(plain, other, *bench.grouping));
  EXPECT_NE(plain.digest(), other.digest());
}

// ---- which ops

TEST_F(Offloading, OpsAreThoseWithSomethingToKeep) {
  const auto graph = toy::training_chain(kSamples, 3, kWide);
  EXPECT_TRUE(may_offload(*graph, graph->find_op("f1")));
  EXPECT_FALSE(may_offload(*graph, graph->find_op("gw1")));
  EXPECT_FALSE(may_offload(*graph, graph->find_op("u1")));
  EXPECT_TRUE(offloaded_ops(*graph, Offload::None).empty());
  EXPECT_TRUE(offloaded_ops(*graph, Offload::States).empty());
  // The backward pass begins with what the last layer made.
  EXPECT_EQ(offloaded_ops(*graph, Offload::Activations),
            (std::vector{graph->find_op("f1"), graph->find_op("f2")}));
  const auto states = chain_with_states();
  EXPECT_EQ(offloaded_ops(*states, Offload::States), std::vector{states->find_op("u")});
}

}  // namespace
}  // namespace strato
