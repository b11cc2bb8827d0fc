// Two disciplines, one schedule: list scheduling against events, on programs from random strategies
// and on programs that no lowering would make.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/program/lower/lower.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/engine/simulation_engine.h"
#include "core/sim/memory/memory_account.h"
#include "core/sim/timeline/timeline.h"
#include "tests/property/random_problem.h"
#include "tests/property/random_program.h"

namespace strato {
namespace {

// The peak by definition: all that is taken and released, sorted; within a moment releases first.
template <class Use, class IsThere>
void expect_peak(const Timeline& timeline, const Use& use, const IsThere& is_there) {
  const auto lives = lifetimes(timeline);
  std::vector<std::tuple<Nanos, bool, Bytes>> events;  // time, taken, bytes
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Buffer& buffer = timeline.program->buffers[BufferId(i)];
    if (!is_there(buffer)) continue;
    events.emplace_back(timeline.tasks[lives[BufferId(i)].taken_by].start, true, buffer.bytes);
    events.emplace_back(timeline.tasks[lives[BufferId(i)].released_by].end, false, buffer.bytes);
  }
  std::sort(events.begin(), events.end());
  Bytes used = use.resident, peak = used;
  Nanos peak_at;
  for (const auto& [time, taken, bytes] : events) {
    taken ? used += bytes : used -= bytes;
    if (used > peak) peak = used, peak_at = time;
  }
  EXPECT_EQ(use.peak, peak);
  EXPECT_EQ(use.peak_at, peak_at);
}

void expect_peaks(const Timeline& timeline) {
  const Cluster& cluster = *timeline.program->cluster;
  for (const DeviceId device : timeline.devices.ids()) {
    SCOPED_TRACE("device " + std::to_string(device.value()));
    expect_peak(timeline, timeline.devices[device],
                [&](const Buffer& buffer) { return !buffer.on_host && buffer.device == device; });
  }
  for (const MachineId machine : timeline.hosts.ids()) {
    SCOPED_TRACE("host " + std::to_string(machine.value()));
    expect_peak(timeline, timeline.hosts[machine], [&](const Buffer& buffer) {
      return buffer.on_host && cluster.device(buffer.device).machine == machine;
    });
  }
}

void expect_equal(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  for (std::size_t i = 0; i < a.tasks.size(); ++i) {
    const TaskTimes &x = a.tasks[TaskId(i)], &y = b.tasks[TaskId(i)];
    ASSERT_TRUE(x.ready == y.ready && x.start == y.start && x.end == y.end) << "task " << i;
  }
  EXPECT_EQ(a.step_time, b.step_time);
  for (std::size_t d = 0; d < a.devices.size(); ++d) {
    const DeviceUse &x = a.devices[DeviceId(d)], &y = b.devices[DeviceId(d)];
    EXPECT_EQ(x.resident, y.resident);
    EXPECT_EQ(x.peak, y.peak) << "device " << d;
    EXPECT_EQ(x.peak_at, y.peak_at) << "device " << d;
    EXPECT_EQ(x.compute_busy, y.compute_busy);
    EXPECT_EQ(x.communication_busy, y.communication_busy);
  }
  EXPECT_EQ(a.link_busy, b.link_busy);
}

class BothDisciplines {
 public:
  void expect_same(Program given) {
    const auto program = std::make_shared<const Program>(std::move(given));
    const SimulateOptions options = {.priorities = false};
    engine_.run(*program, options, lists_);
    engine_.run_by_events(*program, options, events_);
    expect_equal(timeline(program, lists_), timeline(program, events_));
  }

 private:
  Timeline timeline(const std::shared_ptr<const Program>& program, const TaskSchedule& schedule) {
    Timeline result;
    result.program = program;
    result.tasks = schedule.times;
    reset_devices(*program->cluster, result);
    for (const Resident& resident : program->residents)
      (resident.on_host ? result.hosts[program->cluster->device(resident.device).machine].resident
                        : result.devices[resident.device].resident) += resident.bytes;
    take_figures(TaskRows(*program), schedule, memory_, result);
    expect_peaks(result);
    return result;
  }

  SimulationEngine engine_;
  TaskSchedule lists_, events_;
  MemoryAccount memory_;
};

TEST(Engines, AgreeOnProgramsOfRandomStrategies) {
  BothDisciplines both;
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    Strategy strategy = random_strategy(problem, random);
    if (seed % 3 == 0) strategy.offloaded = random_offloaded(*problem.graph, {}, random);
    both.expect_same(lowering.lower(strategy));
  }
}

TEST(Engines, AgreeOnAnyProgram) {
  BothDisciplines both;
  for (std::uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    RandomProgramOptions options;
    options.tasks = random.below(300);
    options.longest = random.below(10) == 0 ? 1'000'000'000'000'000'000 / 300 : 1 + random.below(9);
    options.recent = 1 + random.below(60);
    options.priorities = 3;  // the engine is told that they do not count
    if (seed % 2 == 1) options.issue = 1 + static_cast<std::int64_t>(random.below(9));
    options.awaits_transfers = seed % 4 == 1;
    both.expect_same(random_program(problem.graph, problem.cluster, options, random));
  }
}

// A reused simulator and a reused timeline give what fresh ones give.
TEST(Engines, ReuseLeavesNothingBehind) {
  Simulator reused;
  Timeline timeline;
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    RandomProgramOptions options;
    options.tasks = random.below(100);
    options.priorities = seed % 2 == 0 ? 1 : 4;
    const auto program = std::make_shared<const Program>(
        random_program(problem.graph, problem.cluster, options, random));
    const SimulateOptions how = {random.below(2) == 0, random.below(2) == 0};
    reused.simulate(program, how, timeline);
    const Timeline fresh = Simulator().simulate(program, how);
    expect_equal(timeline, fresh);
    expect_peaks(timeline);
    EXPECT_EQ(timeline.feasible, fresh.feasible);
  }
}

}  // namespace
}  // namespace strato
