// What must hold for every explanation, on random problems: first in first out, with priorities,
// with shared links.
#include <gtest/gtest.h>

#include "core/program/lower/lower.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/explain/memory_report.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "core/sim/explain/why.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

void check_pieces(const Timeline& timeline) {
  Nanos at;
  for (const PathPiece& piece : path_pieces(timeline)) {
    EXPECT_EQ(piece.begin, at);
    EXPECT_LT(piece.begin, piece.end);
    at = piece.end;
    const TaskTimes& runs = timeline.tasks[piece.task];
    EXPECT_LE(runs.start, piece.begin);
    if (piece.reason != Reason::LinkBusy || !timeline.options.fair_links) {
      EXPECT_GE(runs.end, piece.end);
    }
    const bool waits = piece.reason == Reason::DeviceBusy || piece.reason == Reason::LinkBusy ||
                       piece.reason == Reason::Straggler;
    ASSERT_EQ(waits, piece.waiting.valid());
    if (!waits) continue;
    const TaskTimes& waiting = timeline.tasks[piece.waiting];
    if (piece.reason == Reason::Straggler) {
      EXPECT_LE(piece.end, waiting.start);
    } else {
      EXPECT_LE(waiting.ready, piece.begin);
    }
  }
  EXPECT_EQ(at, timeline.step_time);
}

void check_gaps(const Timeline& timeline) {
  const auto all = gaps(timeline);
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    Nanos idle, at;
    for (const Gap& gap : all[DeviceId(d)]) {
      EXPECT_LE(at, gap.begin);
      EXPECT_LT(gap.begin, gap.end);
      at = gap.end;
      idle += gap.end - gap.begin;
      EXPECT_TRUE(gap.cause.valid());
      if (!gap.next.valid()) continue;
      EXPECT_GE(timeline.tasks[gap.next].start, gap.end);
    }
    EXPECT_LE(at, timeline.step_time);
    EXPECT_EQ(idle + timeline.devices[DeviceId(d)].compute_busy, timeline.step_time);
  }
}

void check_memory(const Timeline& timeline) {
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const MemoryReport report = memory_report(timeline, DeviceId(d));
    Bytes sum;
    for (Bytes bytes : report.by_role) sum += bytes;
    EXPECT_EQ(sum, timeline.devices[DeviceId(d)].peak);
  }
}

bool is_op(const Task& task) {
  return task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
}

// The durations edited by hand.
Nanos by_hand(const Timeline& timeline, const WhatIf& change, bool free) {
  auto program = std::make_shared<Program>(*timeline.program);
  for (Task& task : program->tasks) {
    const bool moves = is_communication(task.kind);
    bool touched = false;
    if (change.what == WhatIf::What::Op) touched = is_op(task) && task.op == change.op;
    if (change.what == WhatIf::What::Device) touched = !moves && task.device == change.device;
    if (change.what == WhatIf::What::Devices) touched = !moves;
    if (!touched) continue;
    task.duration = free ? Nanos(1) : task.duration - Nanos(task.duration.value / 10);
  }
  return Simulator().simulate(program, timeline.options).step_time;
}

void check_what_ifs(const Timeline& timeline) {
  WhatIfOptions options;
  options.ops = 3;
  options.links = false;
  options.threads = 1;
  for (const WhatIf& each : what_if(timeline, options)) {
    if (each.what == WhatIf::What::GpuType) continue;
    EXPECT_EQ(each.faster, by_hand(timeline, each, false)) << each.name;
    EXPECT_EQ(each.free, by_hand(timeline, each, true)) << each.name;
  }
}

// What the verdict names alone saves more than anything else would.
void check_verdict(const Timeline& timeline) {
  WhatIfOptions options;
  options.ops = 0;
  options.threads = 1;
  const std::vector<WhatIf> what_ifs = what_if(timeline, options);
  const auto without = [&](WhatIf::What what) {
    const auto found = std::ranges::find(what_ifs, what, &WhatIf::what);
    return found == what_ifs.end() ? timeline.step_time : found->free;
  };
  const Nanos computing = std::min(without(WhatIf::What::Devices), without(WhatIf::What::Device));
  const Nanos bandwidth = without(WhatIf::What::Network);
  const Nanos latency = without(WhatIf::What::Latency);
  const std::string verdict = why(timeline, what_ifs, {}).verdict;
  const auto names = [&](const char* limit) {
    return verdict.find(std::string(limit) + " limits it") != std::string::npos;
  };
  if (names("and computing")) {
    EXPECT_LE(computing, std::min(bandwidth, latency)) << verdict;
  }
  if (names("and bandwidth")) {
    EXPECT_LE(bandwidth, latency) << verdict;
  }
  if (names("and latency")) {
    EXPECT_LE(latency, bandwidth) << verdict;
  }
}

TEST(Explain, HoldsOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const auto program =
        std::make_shared<Program>(lowering.lower(random_strategy(problem, random)));
    for (int variant = 0; variant < 4; ++variant) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " variant " + std::to_string(variant));
      auto ordered = std::make_shared<Program>(*program);
      for (Task& task : ordered->tasks) {
        if (variant % 2 == 1) task.priority = static_cast<std::int32_t>(random.below(4));
        // Small costs are all latency: fair links need something to share.
        if (variant >= 2) task.latency = task.duration / 4;
      }
      SimulateOptions options;
      options.fair_links = variant >= 2;
      const Timeline timeline = Simulator().simulate(ordered, options);
      check_pieces(timeline);
      check_gaps(timeline);
      check_memory(timeline);
      if (seed % 5 == 0) check_what_ifs(timeline);
      const ErrorBar bar = error_bar(timeline, *problem.cost);
      EXPECT_NEAR(bar.analytic + bar.fit + bar.profile, 1, 1e-9);
      EXPECT_FALSE(why(timeline, {}, bar).verdict.empty());
      if (seed % 5 == 0) check_verdict(timeline);
    }
  }
}

}  // namespace
}  // namespace strato
