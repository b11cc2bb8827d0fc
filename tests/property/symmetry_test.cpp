// Leaving out twins changes nothing that a search can see.
#include "core/program/place/symmetry.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "core/program/lower/lower.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/sim/timeline/feedback.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

void expect_equal(const Score& folded, const Score& full) {
  EXPECT_EQ(folded.step_time, full.step_time);
  EXPECT_EQ(folded.feasible, full.feasible);
  EXPECT_EQ(folded.overflow, full.overflow);
  ASSERT_TRUE(folded.feedback && full.feedback);
  const Feedback &a = *folded.feedback, &b = *full.feedback;
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t g = 0; g < a.groups.size(); ++g) {
    EXPECT_EQ(a.groups[GroupId(g)].makespan, b.groups[GroupId(g)].makespan);
    EXPECT_EQ(a.groups[GroupId(g)].idle_before_transfer, b.groups[GroupId(g)].idle_before_transfer);
  }
  ASSERT_EQ(a.device_groups.size(), b.device_groups.size());
  for (std::size_t d = 0; d < a.device_groups.size(); ++d) {
    EXPECT_EQ(a.device_groups[DeviceGroupId(d)].peak, b.device_groups[DeviceGroupId(d)].peak);
    EXPECT_EQ(a.device_groups[DeviceGroupId(d)].idle, b.device_groups[DeviceGroupId(d)].idle);
  }
  EXPECT_EQ(a.link_idle, b.link_idle);
}

// What tells the tasks of a program apart whatever their ids; of folded devices none are there.
using Key = std::tuple<TaskKind, OpId, TensorId, DeviceId, DeviceId, std::int32_t>;
std::map<Key, TaskTimes> times_of(const Timeline& timeline, const Fold& fold) {
  std::map<Key, TaskTimes> times;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i) {
    const Task& task = timeline.program->tasks[TaskId(i)];
    if (!fold.keeps(task.device)) continue;
    // A tensor may be sent twice (partial sums), in the order of ids.
    Key key{task.kind,   task.op,     task.tensor,
            task.device, task.target, timeline.program->range_of(task).begin};
    while (times.contains(key)) std::get<5>(key) += 1 << 20;
    times[key] = timeline.tasks[TaskId(i)];
  }
  return times;
}

TEST(Symmetry, FoldedTimelinesAreTheFullOnes) {
  std::size_t folded_runs = 0, left_out = 0, mixed = 0, duplicated = 0;
  for (std::uint64_t seed = 0; seed < 1500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Strategy strategy =
        seed % 4 == 0 ? random_strategy(problem, random) : random_data_parallel(problem, random);
    if (seed % 5 == 3) strategy.recomputed = random_recomputed(*problem.graph, random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    Simulator simulator;
    Fold fold;
    LowerOptions options;
    options.fold = &fold;
    const Timeline folded =
        simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy, options)));
    const Timeline full =
        simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
    EXPECT_EQ(folded.step_time, full.step_time);
    EXPECT_EQ(folded.link_busy, full.link_busy);
    const auto a = times_of(folded, fold), b = times_of(full, fold);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
      return x.first == y.first && x.second.ready == y.second.ready &&
             x.second.start == y.second.start && x.second.end == y.second.end;
    }));
    // What is left out is no more than a name apart from what stands for it.
    for (std::size_t d = 0; d < fold.representative.size(); ++d) {
      const DeviceUse &mine = full.devices[DeviceId(d)],
                      &other = full.devices[fold.representative[DeviceId(d)]];
      EXPECT_EQ(mine.compute_busy, other.compute_busy);
      EXPECT_EQ(mine.communication_busy, other.communication_busy);
      EXPECT_EQ(mine.peak_at, other.peak_at);
      EXPECT_EQ(mine.resident, other.resident + fold.more_resident[DeviceId(d)]);
      EXPECT_EQ(mine.peak, other.peak + fold.more_resident[DeviceId(d)]);
    }
    folded_runs += fold.left_out > 0;
    left_out += fold.left_out;
    duplicated += fold.left_out > 0 && !strategy.duplicated.empty();
    mixed += fold.left_out > 0 &&
             std::any_of(full.program->tasks.begin(), full.program->tasks.end(),
                         [](const Task& task) { return task.kind == TaskKind::Transfer; });
  }
  EXPECT_GT(folded_runs, 300u);
  EXPECT_GT(left_out, 600u);
  EXPECT_GT(duplicated, 100u) << "folding of duplicated ops is hardly tested";
  EXPECT_GT(mixed, 20u) << "folding beside transfers is hardly tested";
}

TEST(Symmetry, ScoresAreTheSameToTheLastBit) {
  for (std::uint64_t seed = 0; seed < 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem random_one = random_problem(random);
    const Problem problem{random_one.graph, random_one.grouping, random_one.cluster,
                          random_one.cost};
    const auto evaluator = make_simulating_evaluator(problem, 1, true);
    for (int i = 0; i < 3; ++i) {  // one evaluator: nothing is left over from a fold
      const Strategy strategy =
          i == 1 ? random_strategy(random_one, random) : random_data_parallel(random_one, random);
      expect_equal(evaluator->evaluate(strategy), simulate_strategy(problem, strategy).score);
    }
  }
}

}  // namespace
}  // namespace strato
