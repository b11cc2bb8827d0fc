// Buckets over random problems: every gradient is still reduced exactly once, by the same devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/program/lower/lower.h"
#include "core/program/value/collective.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

// How often each tensor is reduced by which devices, and the bytes in all.
struct Reduced {
  std::map<std::pair<TensorId, std::vector<DeviceId>>, int> times;
  Bytes bytes;
  std::size_t tasks = 0, fused = 0, others = 0;
};

Reduced reduced(const Program& program, Bytes limit) {
  Reduced result;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const TaskId id(i);
    const Task& task = program.tasks[id];
    if (task.kind != TaskKind::AllReduce) {
      ++result.others;
      continue;
    }
    const std::vector<TensorId> tensors = tensors_of(program, id);
    for (TensorId tensor : tensors) ++result.times[{tensor, members_of(program, id)}];
    result.bytes += task.bytes;
    ++result.tasks;
    result.fused += tensors.size() > 1;
    EXPECT_TRUE(tensors.size() == 1 || task.bytes <= limit) << program.task_name(id);
  }
  return result;
}

TEST(Fusion, ReducesEveryGradientOnceAndChangesNothingElse) {
  std::size_t fused = 0;
  for (std::uint64_t seed = 0; seed < 800 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem problem = random_problem(random);
    Strategy strategy =
        seed % 3 == 0 ? random_strategy(problem, random) : random_data_parallel(problem, random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    LowerOptions options;
    options.verify = true;
    strategy.bucket = Bytes(0);
    const Reduced before = reduced(lowering.lower(strategy, options), Bytes(0));
    strategy.bucket = Bytes(static_cast<std::int64_t>(1 + random.below(2000)));
    const Reduced after = reduced(lowering.lower(strategy, options), strategy.bucket);
    EXPECT_EQ(after.bytes, before.bytes);
    EXPECT_EQ(after.others, before.others);
    // A view's gradient is named after the view when it travels alone, after its buffer in a
    // bucket.
    int times_before = 0, times_after = 0;
    for (const auto& [key, times] : before.times) times_before += times;
    for (const auto& [key, times] : after.times) {
      times_after += times;
      EXPECT_EQ(times, 1);
    }
    EXPECT_EQ(times_after, times_before);
    EXPECT_EQ(before.fused, 0u);
    EXPECT_LE(after.tasks, before.tasks);
    fused += after.fused;
  }
  EXPECT_GT(fused, 40u);
}

}  // namespace
}  // namespace strato
