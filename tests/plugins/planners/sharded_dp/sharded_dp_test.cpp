// Sharded data parallelism: what is kept where, and what it costs beside plain data parallelism.
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/core/sim/most_at_once.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult sharded(const Problem& problem, std::map<std::string, std::string> set = {}) {
  PlannerOptions options;
  options.set = std::move(set);
  Observer quiet;
  return run_planner(*registry().planner("sharded-dp"), problem, options, quiet, {});
}

Problem training_chain(std::shared_ptr<const Cluster> cluster, std::int64_t batch,
                       std::int64_t width) {
  return make_problem(toy::chain(3, batch, width), std::move(cluster), {});
}

Bytes kept(const Program& program, DeviceId device) {
  Bytes bytes;
  for (const Resident& resident : program.residents) {
    const TensorRole role = program.graph->tensor(resident.tensor).role;
    const bool lasts = role == TensorRole::Parameter || role == TensorRole::OptimizerState;
    if (lasts && resident.device == device) bytes += resident.bytes;
  }
  return bytes;
}

std::map<TaskKind, int> kinds(const Program& program) {
  std::map<TaskKind, int> count;
  for (const Task& task : program.tasks) ++count[task.kind];
  return count;
}

Bytes peak(const Timeline& timeline) {
  Bytes most;
  for (const auto& device : timeline.devices) most = std::max(most, device.peak);
  return most;
}

TEST(ShardedDp, every_device_keeps_one_part_in_n) {
  for (const int devices : {2, 4, 8}) {
    const Problem problem = training_chain(toy::small_cluster(devices, 0), 8, 256);
    const Bytes all =
        kept(*simulate_strategy(problem, on_one_device(problem, DeviceId(0))).program, DeviceId(0));
    const Outcome outcome = simulate_strategy(problem, sharded(problem).strategy);
    for (int d = 0; d < devices; ++d)
      EXPECT_EQ(kept(*outcome.program, DeviceId(static_cast<std::size_t>(d))), all / devices);
    std::map<TaskKind, int> count = kinds(*outcome.program);
    EXPECT_EQ(count[TaskKind::ReduceScatter], 3);
    EXPECT_EQ(count[TaskKind::AllGather], 3);
    EXPECT_EQ(count[TaskKind::Update], 3 * devices);
    for (const TaskKind none : {TaskKind::AllReduce, TaskKind::Transfer, TaskKind::Sum,
                                TaskKind::Split, TaskKind::Concat})
      EXPECT_EQ(count[none], 0) << name_of(none);
  }
}

// How many parameters are there whole on device 0 at once, at most.
int gathered_at_once(const Timeline& timeline) {
  return most_at_once(timeline, [](const Buffer& buffer, const Task& maker) {
    return buffer.device == DeviceId(0) && maker.kind == TaskKind::AllGather;
  });
}

// ZeRO's stage 3 moves the parameters twice (its section 7.2.2), and holds few of them whole.
TEST(ShardedDp, each_pass_gathers_what_it_reads_and_drops_it) {
  constexpr int kLayers = 12;
  const Problem problem = make_problem(toy::chain(kLayers, 32, 256), toy::small_cluster(4, 0), {});
  Strategy once = sharded(problem).strategy;
  Strategy each = sharded(problem, {{"stage", "3"}}).strategy;
  EXPECT_NE(once.digest(), each.digest());
  const auto gathers = [&](const Strategy& strategy) {
    return kinds(*simulate_strategy(problem, strategy).program)[TaskKind::AllGather];
  };
  const auto scatters = [&](const Strategy& strategy) {
    return kinds(*simulate_strategy(problem, strategy).program)[TaskKind::ReduceScatter];
  };
  EXPECT_EQ(gathers(once), kLayers);
  EXPECT_EQ(gathers(each), 2 * kLayers - 1);  // nothing needs the first layer's input gradient
  EXPECT_EQ(gathered_at_once(*simulate_strategy(problem, once).timeline), kLayers - 1);  // nor it
  EXPECT_LE(gathered_at_once(*simulate_strategy(problem, each).timeline), 3);
  EXPECT_LT(peak(*simulate_strategy(problem, each).timeline),
            peak(*simulate_strategy(problem, once).timeline));
  once.micro_batches = each.micro_batches = {4, PipelineSchedule::OneFOneB};
  EXPECT_EQ(gathers(once), kLayers);
  EXPECT_EQ(gathers(each), 4 * (2 * kLayers - 1));
  EXPECT_EQ(scatters(once), 4 * kLayers);
  EXPECT_EQ(scatters(each), 4 * kLayers);
  once.groups = sharded(problem, {{"stage", "1"}}).strategy.groups;
  EXPECT_EQ(scatters(once), kLayers);
  EXPECT_LE(gathered_at_once(*simulate_strategy(problem, each).timeline), 3);
}

// What is there of a parameter of which each device has an equal part on each of them.
std::map<Shape, Part> parts_of_parameters(const Problem& problem, const Strategy& strategy) {
  std::map<Shape, Part> parts;
  const Outcome outcome = simulate_strategy(problem, strategy);
  for (const Resident& resident : outcome.program->residents) {
    const Tensor& tensor = problem.graph->tensor(resident.tensor);
    if (tensor.role == TensorRole::Parameter && resident.device == DeviceId(0))
      parts[tensor.shape] = outcome.program->part_of(resident);
  }
  return parts;
}

TEST(ShardedDp, the_whole_is_data_parallelism_when_every_parameter_is_small) {
  const Problem problem = training_chain(toy::small_cluster(4, 0), 8, 64);  // of 16 KB each
  const Outcome plain = simulate_strategy(problem, data_parallel(problem));
  const auto with_smallest = [&](const char* size) {
    return simulate_strategy(problem,
                             sharded(problem, {{"smallest", size}, {"bucket", "0"}}).strategy);
  };
  EXPECT_EQ(with_smallest("17").score.step_time, plain.score.step_time);
  EXPECT_EQ(kinds(*with_smallest("17").program), kinds(*plain.program));
  EXPECT_EQ(kinds(*with_smallest("16").program)[TaskKind::ReduceScatter], 3);
  EXPECT_EQ(kinds(*with_smallest("16").program)[TaskKind::AllReduce], 0);
}

TEST(ShardedDp, an_axis_that_is_too_short_is_passed_over) {
  const Problem problem =
      make_problem(toy::chain({2, 4, 8}, 8), toy::small_cluster(4, 0), {});  // 2 x 4, 4 x 8
  EXPECT_EQ(
      parts_of_parameters(problem, sharded(problem, {{"smallest", "0"}}).strategy),
      (std::map<Shape, Part>{{{2, 4}, Part::slice(1, 0, 1)}, {{4, 8}, Part::slice(0, 0, 1)}}));
  const Problem wide = make_problem(toy::chain({2, 4, 8}, 16), toy::small_cluster(8, 0), {});
  EXPECT_EQ(parts_of_parameters(wide, sharded(wide, {{"smallest", "0"}}).strategy),
            (std::map<Shape, Part>{{{2, 4}, Part()}, {{4, 8}, Part::slice(1, 0, 1)}}));
}

// Hybrid sharding: pairs have all states among them, and sum up their shares with the other pair.
TEST(ShardedDp, rows_share_and_others_have_the_same_again) {
  const Problem problem = training_chain(toy::small_cluster(4, 0), 8, 256);
  const Bytes all =
      kept(*simulate_strategy(problem, on_one_device(problem, DeviceId(0))).program, DeviceId(0));
  const Outcome outcome = simulate_strategy(problem, sharded(problem, {{"rows", "2"}}).strategy);
  for (int d = 0; d < 4; ++d)
    EXPECT_EQ(kept(*outcome.program, DeviceId(static_cast<std::size_t>(d))), all / 2);
  std::map<TaskKind, int> count = kinds(*outcome.program);
  EXPECT_EQ(count[TaskKind::ReduceScatter], 3 * 2);  // of each layer in each pair
  EXPECT_EQ(count[TaskKind::AllReduce], 3 * 2);      // of each share
  EXPECT_EQ(count[TaskKind::AllGather], 3 * 2);
  Bytes reduced, scattered;
  for (const Task& task : outcome.program->tasks) {
    if (task.kind == TaskKind::AllReduce) reduced += task.bytes;
    if (task.kind == TaskKind::ReduceScatter) scattered += task.bytes;
  }
  EXPECT_EQ(reduced * 2, scattered);
  EXPECT_THROW(sharded(problem, {{"rows", "3"}}), InputError);
}

TEST(ShardedDp, devices_without_samples_keep_nothing) {
  const Problem problem = training_chain(toy::small_cluster(4, 0), 3, 256);
  const Outcome outcome = simulate_strategy(problem, sharded(problem).strategy);
  EXPECT_EQ(kept(*outcome.program, DeviceId(3)), Bytes(0));
  EXPECT_EQ(kinds(*outcome.program)[TaskKind::ReduceScatter], 3);
  const Problem alone = training_chain(toy::small_cluster(1, 0), 8, 256);
  EXPECT_EQ(sharded(alone).strategy.groups, data_parallel(alone).groups);
  const Problem one_sample = training_chain(toy::small_cluster(4, 0), 1, 256);
  EXPECT_EQ(kinds(*simulate_strategy(one_sample, sharded(one_sample).strategy)
                       .program)[TaskKind::ReduceScatter],
            0);
}

TEST(ShardedDp, no_updates_no_parts) {
  const Problem problem = toy::chain_problem(toy::small_cluster(4, 0), 3);
  const Outcome outcome = simulate_strategy(problem, sharded(problem).strategy);
  EXPECT_EQ(kinds(*outcome.program)[TaskKind::ReduceScatter], 0);
}

// The same bytes travel; state and gradients take less room.
TEST(ShardedDp, large_models_need_less_memory_and_hardly_more_time) {
  for (const char* model : {"bert_large", "vgg19"}) {
    const Problem problem = sample(model, 16, "fastt-8xv100");
    const Outcome plain = simulate_strategy(problem, data_parallel(problem));
    const PlanResult result = sharded(problem);
    const Outcome parts = simulate_strategy(problem, result.strategy);
    EXPECT_LT(peak(*parts.timeline).value, 0.75 * static_cast<double>(peak(*plain.timeline).value))
        << model;
    EXPECT_LT(result.score.step_time.value, 1.15 * static_cast<double>(plain.score.step_time.value))
        << model;
  }
}

TEST(ShardedDp, bad_sizes_are_refused) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  for (const char* key : {"smallest", "bucket"})
    for (const char* size : {"-1", "1e10", "many", "nan"})
      EXPECT_THROW(sharded(problem, {{key, size}}), InputError) << key << size;
}

}  // namespace
}  // namespace strato
