#include "views/models/planning_replay.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <set>

#include "core/base/error.h"
#include "tests/views/models/sample_steps.h"

namespace strato {
namespace {

using Stage = PlanningPhase;

struct PhaseCase {
  const char* name;
  bool fused, ranked;
  std::size_t trials;
  std::size_t size;
  std::vector<Stage> phases;  // of positions 0 .. size
};

class Phases : public ::testing::TestWithParam<PhaseCase> {};

TEST_P(Phases, FollowEachOther) {
  const PhaseCase& expected = GetParam();
  const auto steps = sample_steps(3, 2);
  if (expected.fused) add_fusion(*steps, 2);
  if (!expected.ranked) steps->ranking = {};
  add_trials(*steps, expected.trials);
  const PlanningReplay replay(steps);
  ASSERT_EQ(replay.size(), expected.size);
  for (std::size_t p = 0; p <= replay.size(); ++p) EXPECT_EQ(replay.phase(p), expected.phases[p]);
}

INSTANTIATE_TEST_SUITE_P(
    PlanningReplay, Phases,
    ::testing::Values(
        PhaseCase{"Ranked",
                  false,
                  true,
                  0,
                  4,
                  {Stage::Start, Stage::Rank, Stage::Place, Stage::Place, Stage::Place}},
        PhaseCase{
            "Bare", false, false, 0, 3, {Stage::Start, Stage::Place, Stage::Place, Stage::Place}},
        PhaseCase{"Fused",
                  true,
                  true,
                  0,
                  7,
                  {Stage::Start, Stage::Fuse, Stage::Fuse, Stage::Fuse, Stage::Rank, Stage::Place,
                   Stage::Place, Stage::Place}},
        PhaseCase{"Split",
                  false,
                  true,
                  2,
                  6,
                  {Stage::Start, Stage::Rank, Stage::Place, Stage::Place, Stage::Place,
                   Stage::Split, Stage::Split}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PlanningReplay, NothingAtAll) {
  const PlanningReplay replay(std::make_shared<PlanningSteps>());
  EXPECT_EQ(replay.size(), 0u);
  EXPECT_EQ(replay.phase(0), Stage::Start);
  EXPECT_EQ(replay.step(0), nullptr);
  EXPECT_EQ(replay.ready(0).count, 0u);
  EXPECT_TRUE(replay.breaks(0).empty());
  EXPECT_TRUE(replay.placed_on(DeviceId(3)).empty());
  EXPECT_EQ(replay.makespan(0), Nanos());
}

// Against a simulation that walks forward, asked in a mixed order.
TEST(PlanningReplay, EveryPositionIsWhatWalkingThereTells) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto steps = sample_steps(60, 3, seed);
    std::mt19937 random(seed);
    std::ranges::shuffle(steps->ranking.order, random);
    const PlanningReplay replay(steps);
    struct Expected {
      std::set<NodeIndex> placed, ready_before;
      Nanos makespan;
    };
    std::vector<Expected> expected;
    const auto ready = [&](const std::set<NodeIndex>& placed) {
      std::set<NodeIndex> result;
      for (NodeIndex n = 0; n < 60; ++n) {
        bool all = !placed.contains(n);
        for (const auto& edge : steps->edges) all &= edge.to != n || placed.contains(edge.from);
        if (all) result.insert(n);
      }
      return result;
    };
    Expected now;
    for (const auto& step : steps->steps) {
      now.ready_before = ready(now.placed);
      now.placed.insert(step.node);
      now.makespan = std::max(now.makespan, step.finish);
      expected.push_back(now);
    }
    std::vector<std::size_t> asked(60);
    std::iota(asked.begin(), asked.end(), 0u);
    std::ranges::shuffle(asked, random);
    for (const std::size_t s : asked) {
      const std::size_t position = replay.position_of_step(s);
      EXPECT_EQ(replay.placed(position), s + 1);
      EXPECT_EQ(replay.step(position), &steps->steps[s]);
      EXPECT_EQ(replay.makespan(position), expected[s].makespan);
      const auto queue = replay.ready(position, 1000);
      EXPECT_EQ(std::set<NodeIndex>(queue.first.begin(), queue.first.end()),
                expected[s].ready_before);
      EXPECT_TRUE(std::ranges::is_sorted(queue.first, {},
                                         [&](NodeIndex n) { return replay.place_in_order(n); }));
      EXPECT_EQ(replay.ready(position, 2).count, expected[s].ready_before.size());
      EXPECT_LE(replay.ready(position, 2).first.size(), 2u);
      std::set<NodeIndex> shown;
      for (std::size_t d = 0; d < replay.device_count(); ++d)
        for (const auto& slot : replay.placed_on(DeviceId(d)))
          if (static_cast<std::size_t>(slot.step) < replay.placed(position))
            shown.insert(steps->steps[static_cast<std::size_t>(slot.step)].node);
      EXPECT_EQ(shown, expected[s].placed);
    }
  }
}

TEST(PlanningReplay, SlotsOfADeviceAscend) {
  const PlanningReplay replay(sample_steps(200, 4));
  std::size_t all = 0;
  for (std::size_t d = 0; d < 4; ++d) {
    const auto& row = replay.placed_on(DeviceId(d));
    EXPECT_TRUE(std::ranges::is_sorted(row, {}, &PlanningReplay::Slot::start));
    all += row.size();
  }
  EXPECT_EQ(all, 200u);
}

TEST(PlanningReplay, BreakpointsOfTheCheapestWayAtEveryPlace) {
  const auto steps = sample_steps(10, 2);
  add_fusion(*steps, 4);
  const PlanningReplay replay(steps);
  EXPECT_EQ(replay.breaks(0), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(replay.breaks(3), (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(replay.breaks(4), (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(replay.breaks(6), (std::vector<std::int32_t>{0, 4, 6}));
  EXPECT_EQ(replay.breaks(10), steps->fusion.breaks);
  EXPECT_EQ(replay.fused(0), 0u);
  EXPECT_EQ(replay.fused(6), 6u);
  EXPECT_EQ(replay.fused(replay.size()), 10u);
}

TEST(PlanningReplay, NotesCompareWithTheDeviceTaken) {
  const auto steps = sample_steps(1, 1);
  PlanningSteps::Step& step = steps->steps[0];
  step.device = DeviceId(0);
  step.finish = Nanos(2'000'000);
  const PlanningReplay replay(steps);
  const auto note = [&](std::size_t device, std::int64_t finish, bool fits) {
    return replay.note(step, {DeviceId(device), Nanos(), Nanos(finish), fits}).toStdString();
  };
  EXPECT_EQ(note(0, 2'000'000, true), "finishes first here");
  EXPECT_EQ(note(1, 3'500'000, true), "1.50 ms later");
  EXPECT_EQ(note(1, 1'500'000, true), "500 µs sooner");
  EXPECT_EQ(note(1, 2'000'000, true), "at the same time");
  EXPECT_EQ(note(1, 1'500'000, false), "has no room in memory");
  step.why = PlanningSteps::Why::Colocated;  // then no device was compared with another
  EXPECT_EQ(note(1, 1'500'000, true), "is not allowed");
  EXPECT_EQ(note(1, 1'500'000, false), "is not allowed");
}

TEST(PlanningReplay, TellsTheOpsOfEveryPosition) {
  const auto steps = sample_steps(4, 2);
  steps->nodes[2] = {OpId(2), OpId(9)};
  add_fusion(*steps, 2);
  add_trials(*steps, 1);
  const PlanningReplay replay(steps);
  EXPECT_TRUE(replay.ops(0).empty());
  EXPECT_EQ(replay.ops(3), (std::vector{OpId(2)}));
  EXPECT_TRUE(replay.ops(5).empty());
  EXPECT_EQ(replay.ops(replay.position_of_step(2)), (std::vector{OpId(2), OpId(9)}));
  EXPECT_EQ(replay.ops(replay.size()), (std::vector{OpId(0)}));
}

struct BadCase {
  const char* name;
  void (*spoil)(PlanningSteps&);
};

class BadSteps : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadSteps, AreRefused) {
  const auto steps = sample_steps(5, 2);
  add_fusion(*steps, 2);
  GetParam().spoil(*steps);
  EXPECT_THROW(PlanningReplay{steps}, InputError);
}

INSTANTIATE_TEST_SUITE_P(
    PlanningReplay, BadSteps,
    ::testing::Values(BadCase{"Node", [](PlanningSteps& s) { s.steps[1].node = 5; }},
                      BadCase{"NegativeNode", [](PlanningSteps& s) { s.steps[1].node = -1; }},
                      BadCase{"Device", [](PlanningSteps& s) { s.steps[1].device = {}; }},
                      BadCase{"Times", [](PlanningSteps& s) { s.steps[1].finish = Nanos(-1); }},
                      BadCase{"Names", [](PlanningSteps& s) { s.names.pop_back(); }},
                      BadCase{"Ranks", [](PlanningSteps& s) { s.ranking.value.pop_back(); }},
                      BadCase{"Order", [](PlanningSteps& s) { s.ranking.order[0] = 77; }},
                      BadCase{"Edge", [](PlanningSteps& s) { s.edges[0].to = 77; }},
                      BadCase{"Costs", [](PlanningSteps& s) { s.fusion.cost.pop_back(); }},
                      BadCase{"Breakpoint", [](PlanningSteps& s) { s.fusion.before[2] = 2; }},
                      BadCase{"Break", [](PlanningSteps& s) { s.fusion.breaks[1] = 9; }},
                      BadCase{"Breaks", [](PlanningSteps& s) { s.fusion.breaks.clear(); }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PlanningReplay, StepsOfHugeProblemsAreNotKept) {
  EXPECT_TRUE(steps_fit_memory(0, 16));
  EXPECT_TRUE(steps_fit_memory(36'000, 4));
  EXPECT_TRUE(steps_fit_memory(36'000, 8));
  EXPECT_TRUE(steps_fit_memory(5'000, 16));
  EXPECT_FALSE(steps_fit_memory(100'000, 64));
}

// Not a test of time, which depends on the machine: prints what a person would feel.
TEST(PlanningReplay, AHundredThousandStepsAreSmooth) {
  const auto steps = sample_steps(100'000, 4);
  const auto measure = [](const char* what, int times, auto&& work) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < times; ++i) work(i);
    std::printf("[ %7.3f ms ] %s\n",
                1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / times, what);
  };
  std::unique_ptr<PlanningReplay> replay;
  measure("index", 1, [&](int) { replay = std::make_unique<PlanningReplay>(steps); });
  std::size_t sum = 0;
  measure("ready queue anywhere", 100, [&](int i) {
    sum += replay->ready(replay->position_of_step(static_cast<std::size_t>(i) * 999)).count;
  });
  EXPECT_GT(sum, 0u);
}

}  // namespace
}  // namespace strato
