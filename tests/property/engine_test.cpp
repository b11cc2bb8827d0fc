// Two engines, one schedule: list scheduling against events, on programs from random strategies and
// on programs that no lowering would make.
#include <gtest/gtest.h>

#include "core/program/lower/lower.h"
#include "core/sim/engine/event_engine.h"
#include "core/sim/engine/fifo_engine.h"
#include "tests/property/random_problem.h"
#include "tests/property/random_program.h"

namespace strato {
namespace {

template <class Engine>
struct Result {
  explicit Result(const Program& program, Engine& engine) {
    timeline.devices.resize(program.cluster->device_count());
    timeline.options.priorities = false;
    engine.run(program, timeline, busy);
  }
  Timeline timeline;
  std::vector<Nanos> busy;
};

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
  }
}

TEST(Engines, AgreeOnProgramsOfRandomStrategies) {
  FifoEngine fifo;
  EventEngine events;
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const Program program = lowering.lower(random_strategy(problem, random));
    const Result<FifoEngine> a(program, fifo);
    const Result<EventEngine> b(program, events);
    expect_equal(a.timeline, b.timeline);
    EXPECT_EQ(a.busy, b.busy);
  }
}

TEST(Engines, AgreeOnAnyProgram) {
  FifoEngine fifo;
  EventEngine events;
  for (std::uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    RandomProgramOptions options;
    options.tasks = random.below(300);
    options.longest = random.below(10) == 0 ? 1'000'000'000'000'000'000 / 300 : 1 + random.below(9);
    options.recent = 1 + random.below(60);
    options.priorities = 3;  // the engines are told that they do not count
    const Program program = random_program(problem.graph, problem.cluster, options, random);
    const Result<FifoEngine> a(program, fifo);
    const Result<EventEngine> b(program, events);
    expect_equal(a.timeline, b.timeline);
    EXPECT_EQ(a.busy, b.busy);
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
    EXPECT_EQ(timeline.link_busy, fresh.link_busy);
    EXPECT_EQ(timeline.feasible, fresh.feasible);
  }
}

}  // namespace
}  // namespace strato
