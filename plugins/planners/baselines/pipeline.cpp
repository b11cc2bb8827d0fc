#include "plugins/planners/baselines/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/baselines/sharding.h"

namespace strato::pipeline {
namespace {

// Devices in their order, as many for each stage.
std::vector<std::vector<DeviceId>> devices_of_stages(const Cluster& cluster, std::size_t stages) {
  std::vector<std::vector<DeviceId>> result(stages);
  for (std::size_t d = 0; d < cluster.device_count(); ++d)
    result[d * stages / cluster.device_count()].emplace_back(d);
  return result;
}

// In a single micro-batch.
Strategy staged(const Problem& problem, std::size_t stages, std::int32_t tensor, Bytes bucket) {
  const auto times = graph_times(problem);
  std::vector<double> speeds;
  std::vector<Decision> decisions;
  for (const std::vector<DeviceId>& devices : devices_of_stages(*problem.cluster, stages)) {
    double& speed = speeds.emplace_back(0);
    for (const DeviceId device : devices)
      speed += 1 / std::max(1e-9, to_seconds(times[problem.cluster->device(device).type]));
    decisions.push_back(on_rows(
        {Mode::ReplicateAllReduce, proportional_shares(*problem.cluster, times, devices)}, tensor));
  }
  Strategy strategy = strategy_by_ops(problem, layer_blocks(problem, speeds), decisions);
  if (stages < problem.cluster->device_count()) strategy.bucket = bucket;
  return strategy;
}

Strategy sharded(Strategy strategy, const Problem& problem, StageSharding shard) {
  constexpr Bytes kSmallest{std::int64_t{64} << 10};
  if (shard == StageSharding::Nothing) return strategy;
  shard_updates(problem, strategy, kSmallest);
  if (shard == StageSharding::Parameters) strategy.gather = ParameterGather::EachPass;
  return strategy;
}

// Of whole rows of `tensor` devices.
std::vector<std::size_t> stage_counts(const Problem& problem, std::int32_t wanted,
                                      std::int32_t tensor) {
  const std::size_t devices = problem.cluster->device_count();
  const auto layers = static_cast<std::size_t>(layers_of(*problem.graph).count);
  const auto has_rows = [&](std::size_t stages) {
    return devices % (stages * static_cast<std::size_t>(tensor)) == 0;
  };
  const auto stages = static_cast<std::size_t>(wanted);
  if (wanted > 0 && devices % stages != 0)
    refuse_option("stages", std::to_string(wanted),
                  fmt::format("does not divide the {} devices", devices),
                  "give a number that divides them");
  if (stages > layers)
    refuse_option("stages", std::to_string(wanted),
                  fmt::format("is more than there are layers ({})", layers), "give fewer");
  if (!has_rows(std::max<std::size_t>(stages, 1)))
    refuse_option("tensor", std::to_string(tensor),
                  fmt::format("does not divide the {} devices of a stage",
                              devices / std::max<std::size_t>(stages, 1)),
                  "give a number that divides them");
  if (wanted > 0) return {stages};
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count <= std::min(devices, layers); ++count)
    if (has_rows(count)) counts.push_back(count);
  return counts;
}

// Those that divide the batch, from one to four for each stage.
std::vector<std::int32_t> micro_batch_counts(std::int64_t batch, std::size_t stages,
                                             std::int32_t wanted) {
  constexpr std::int64_t kMostForEach = 4;
  if (wanted > 0) return {wanted};
  std::vector<std::int32_t> counts;
  const auto least = static_cast<std::int64_t>(stages);
  for (std::int64_t count = least; count <= std::min(batch, kMostForEach * least); ++count)
    if (batch % count == 0) counts.push_back(static_cast<std::int32_t>(count));
  if (counts.empty()) counts.push_back(static_cast<std::int32_t>(batch));  // fewer than stages
  return counts;
}

}  // namespace

OptionTable Settings::option_table() {
  return {
      {"stages", stages, {0, 1e6}, "stages, which divide the devices; 0: each number is tried"},
      {"micro_batches",
       micro_batches,
       {0, 1e6},
       "micro-batches, which divide the batch; 0: one to four for each stage are tried"},
      {"tensor",
       tensor,
       {1, 1e6},
       "tensor parallelism: devices that compute each op of their samples together, which "
       "divide those of a stage"},
      {"schedule",
       schedule,
       {kPipelineSchedules.begin(), kPipelineSchedules.end()},
       "what a stage does next: as-ready, all forward passes first, or one of each in turn"},
      {"shard",
       shard,
       {"nothing", "updates", "parameters"},
       "what the replicas of a stage keep a part of each: updates (ZeRO's stage 2), or "
       "parameters, which are gathered for each pass, too (stage 3, FSDP)"},
      {"recompute",
       recompute,
       {kRecomputing.begin(), kRecomputing.end()},
       "what the backward pass computes again: when-needed, only as much as makes a plan fit in "
       "memory; blocks of the model; or of these what is cheap"},
      {"bucket",
       bucket,
       OptionUnit::MB,
       {0, 1e6},
       "largest fusion bucket in MB (2^20 bytes) of a stage's gradients; 0: one by one"}};
}

// One number of stages after the other: large models take seconds each.
PlanResult plan(const PlanRequest& request, const Settings& settings) {
  if (settings.shard != StageSharding::Nothing && settings.tensor > 1)
    refuse_option("tensor", std::to_string(settings.tensor),
                  "divides ops whose parameters are divided so already",
                  "leave out tensor, or shard");
  PlanResult best;
  std::size_t best_stages = 0;  // 0: none was evaluated
  Reporter reporter(request.observer);
  for (const std::size_t stages : stage_counts(request.problem, settings.stages, settings.tensor)) {
    if (best_stages > 0 && request.stop.stop_requested()) break;
    std::vector<Strategy> strategies;
    for (const std::int32_t count :
         micro_batch_counts(request.problem.graph->batch(), stages, settings.micro_batches)) {
      if (strategies.empty())
        strategies.push_back(
            sharded(staged(request.problem, stages, settings.tensor, settings.bucket),
                    request.problem, settings.shard));
      else
        strategies.push_back(strategies.back());
      strategies.back().micro_batches = {count, settings.schedule};
    }
    const std::int64_t at_most_in_flight = settings.schedule == PipelineSchedule::OneFOneB
                                               ? static_cast<std::int64_t>(stages)
                                               : strategies.back().micro_batches.count;
    Tried tried = try_recomputing(request, strategies, settings.recompute, at_most_in_flight);
    const std::size_t fastest = best_of(tried.scores);
    best.evaluations += std::ssize(tried.scores);
    const bool better = best_stages == 0 || tried.scores[fastest].better_than(best.score);
    if (better) {
      best.strategy = std::move(tried.strategies[fastest]);
      best.score = tried.scores[fastest];
      best_stages = stages;
    }
    const Progress progress{best.evaluations, best.evaluations, reporter.elapsed(), best.score};
    better ? reporter.improvement(best.strategy, progress) : reporter.progress(progress, false);
  }
  best.facts.push_back({"stages", std::to_string(best_stages)});
  if (!best.strategy.recomputed.empty())
    best.facts.push_back(
        {"computed again", fmt::format("{} ops", best.strategy.recomputed.size())});
  return best;
}

}  // namespace strato::pipeline
