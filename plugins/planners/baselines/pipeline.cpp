#include "plugins/planners/baselines/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "core/framework/layout/model_layers.h"
#include "core/graph/axes/expert_letters.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/constraints/constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/strategy/value/state_sharding.h"

namespace strato::pipeline {
namespace {

// Devices in their order, as many for each stage.
std::vector<std::vector<DeviceId>> devices_of_stages(const Cluster& cluster, std::size_t stages) {
  std::vector<std::vector<DeviceId>> result(stages);
  for (std::size_t d = 0; d < cluster.device_count(); ++d)
    result[d * stages / cluster.device_count()].emplace_back(d);
  return result;
}

bool has_v_shape(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::ZbV || schedule == PipelineSchedule::DualPipeV;
}

// How blocks of layers lie on stages.
struct Shape {
  std::size_t stages = 1, chunks = 1;
  bool is_v = false;
  std::size_t stage_of(std::size_t block) const {
    return is_v ? std::min(block, 2 * stages - 1 - block) : block % stages;
  }
};

Shape shape_of(std::size_t stages, std::size_t chunks, PipelineSchedule schedule) {
  return {stages, chunks, chunks == 2 && has_v_shape(schedule)};
}

std::int32_t most_blocks(const Problem& problem, const Settings& settings) {
  return settings.whole_layers || settings.equal_layers
             ? frameworks::model_layers(*problem.graph).count
             : layers_of(*problem.graph).count;
}

std::vector<std::int32_t> equal_layer_blocks(const Problem& problem, std::size_t blocks) {
  const frameworks::ModelLayers layers = frameworks::model_layers(*problem.graph);
  const auto count = static_cast<std::int32_t>(blocks);
  if (layers.count % count != 0)
    refuse_option("equal_layers", "true",
                  fmt::format("{} layers cannot be divided equally among {} blocks of them",
                              layers.count, count),
                  "give stages and chunks whose product divides the layers, or leave it out");
  return frameworks::block_of_ops(layers, frameworks::even_blocks(layers.count, count));
}

std::vector<std::int32_t> whole_layer_blocks(const Problem& problem,
                                             std::span<const double> speeds) {
  const frameworks::ModelLayers layers = frameworks::model_layers(*problem.graph);
  const auto work = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  return frameworks::block_of_ops(layers, frameworks::balanced_blocks(layers, work, speeds));
}

// In a single micro-batch. `block_of`: as strategy_of() has it.
Strategy staged(const Problem& problem, const Shape& shape, const Settings& settings,
                std::span<const std::int32_t> block_of = {}) {
  const auto times = graph_times(problem);
  std::vector<double> stage_speeds, speeds;
  std::vector<Decision> stages, decisions;
  for (const std::vector<DeviceId>& devices : devices_of_stages(*problem.cluster, shape.stages)) {
    double& speed = stage_speeds.emplace_back(0);
    for (const DeviceId device : devices)
      speed += 1 / std::max(1e-9, to_seconds(times[problem.cluster->device(device).type]));
    stages.push_back(
        on_rows({Mode::ReplicateAllReduce, proportional_shares(*problem.cluster, times, devices)},
                settings.tensor, settings.context));
    stages.back().roles.expert = settings.expert;
    if (settings.tensor > 1)
      stages.back().roles.pieces = settings.pieces > 0 ? settings.pieces : settings.tensor;
    stages.back().roles.sequence = settings.tensor == 1 || settings.sequence;
  }
  for (std::size_t block = 0; block < shape.stages * shape.chunks; ++block) {
    speeds.push_back(stage_speeds[shape.stage_of(block)]);
    decisions.push_back(stages[shape.stage_of(block)]);
  }
  std::vector<std::int32_t> blocks(block_of.begin(), block_of.end());
  if (blocks.empty())
    blocks = settings.equal_layers   ? equal_layer_blocks(problem, speeds.size())
             : settings.whole_layers ? whole_layer_blocks(problem, speeds)
                                     : layer_blocks(problem, speeds);
  Strategy strategy = strategy_by_ops(problem, blocks, decisions);
  if (shape.stages < problem.cluster->device_count()) strategy.bucket = settings.bucket;
  return strategy;
}

Strategy sharded(Strategy strategy, const Settings& settings) {
  const auto stage = static_cast<std::int32_t>(settings.shard);
  share_states(strategy, {.stage = stage, .rows = settings.shard_rows});
  return strategy;
}

// How many devices compute each op together. Nothing said: each number that divides the devices of
// every machine, so that no row lies across two, and those of a stage.
std::vector<std::int32_t> widths(const Cluster& cluster, const Settings& settings) {
  if (settings.tensor > 0) return {settings.tensor};
  std::vector<std::int32_t> together(cluster.machines().size(), 0);  // a machine's, or a stage's
  for (const Device& device : cluster.devices()) ++together[device.machine.index()];
  const auto devices = static_cast<std::int32_t>(cluster.device_count());
  if (settings.stages > 0) together.push_back(std::max(1, devices / settings.stages));
  const std::int32_t common =
      std::accumulate(together.begin(), together.end(), 0, std::gcd<std::int32_t, std::int32_t>);
  std::vector<std::int32_t> result;
  for (std::int32_t width = 1; width <= common; ++width)
    if (common % width == 0) result.push_back(width);
  return result;
}

// How many rows have the experts among them, of so many in a stage. Nothing said: each number that
// divides these and the experts.
std::vector<std::int32_t> expert_rows(const Problem& problem, const Settings& settings,
                                      std::int64_t rows) {
  const std::int64_t experts = experts_of(*problem.graph);
  const std::string given = std::to_string(settings.expert);
  if (settings.expert > 1 && experts == 0)
    refuse_option("expert", given, "means nothing: no op of the model is computed by experts",
                  "leave it out");
  if (settings.expert > 1 && experts % settings.expert != 0)
    refuse_option("expert", given,
                  fmt::format("does not divide the {} experts of the model", experts),
                  "give a number that divides them");
  if (settings.expert > 1 && rows % settings.expert != 0)
    refuse_option("expert", given, fmt::format("does not divide the {} rows of a stage", rows),
                  "give a number that divides them");
  if (settings.expert > 0) return {settings.expert};
  std::vector<std::int32_t> result;
  for (std::int32_t count = 1; count <= rows; ++count)
    if (rows % count == 0 && (count == 1 || (experts > 0 && experts % count == 0)))
      result.push_back(count);
  return result;
}

std::vector<StageSharding> shardings(StageSharding wanted) {
  if (wanted != StageSharding::Any) return {wanted};
  return {StageSharding::Nothing, StageSharding::Updates, StageSharding::Gradients,
          StageSharding::Parameters};
}

// Of whole rows of `tensor` devices.
std::vector<std::size_t> stage_counts(const Problem& problem, const Settings& settings,
                                      std::int32_t tensor) {
  const std::int32_t wanted = settings.stages;
  const std::size_t devices = problem.cluster->device_count();
  const auto layers = static_cast<std::size_t>(most_blocks(problem, settings));
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

// Of one stage there are no visits of others. Nothing said: of interleaved one, two and four, of a
// V two, else one, and no more blocks than there are layers.
std::vector<std::size_t> chunk_counts(const Problem& problem, std::size_t stages,
                                      const Settings& settings) {
  const auto layers = static_cast<std::size_t>(most_blocks(problem, settings));
  const auto wanted = static_cast<std::size_t>(settings.chunks);
  const bool is_v = has_v_shape(settings.schedule);
  if (is_v && wanted != 0 && wanted != 2)
    refuse_option("chunks", std::to_string(wanted),
                  fmt::format("is not 2, as {} has them", name_of(settings.schedule)), "give 2");
  if (wanted > layers / stages)
    refuse_option("chunks", std::to_string(wanted),
                  fmt::format("is more than the {} layers have for {} stages", layers, stages),
                  "give fewer");
  if (stages == 1) return {1};
  if (wanted > 0) return {wanted};
  std::vector<std::size_t> counts;
  if (!is_v) counts.push_back(1);
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}})
    if (count * stages <= layers &&
        (settings.schedule == PipelineSchedule::Interleaved || (is_v && count == 2)))
      counts.push_back(count);
  if (counts.empty()) counts.push_back(1);
  return counts;
}

// Those that divide the batch, from one to four for each stage, of a sample for each row at least.
std::vector<std::int32_t> micro_batch_counts(std::int64_t batch, std::size_t stages,
                                             std::int64_t rows, std::int32_t wanted) {
  constexpr std::int64_t kMostForEach = 4;
  if (wanted > 0 && batch % wanted != 0)
    refuse_option("micro_batches", std::to_string(wanted),
                  fmt::format("does not divide the batch of {}", batch),
                  "give a number that divides it");
  if (wanted > 1 && batch / wanted < rows)
    refuse_option("micro_batches", std::to_string(wanted),
                  fmt::format("leaves {} samples for the {} rows of a stage", batch / wanted, rows),
                  "give fewer micro-batches, more stages, columns (tensor) or rows with the same "
                  "samples (context), or a larger batch");
  if (wanted > 0) return {wanted};
  const auto least = static_cast<std::int64_t>(stages);
  const std::int64_t most = std::max<std::int64_t>(1, std::min(batch / rows, kMostForEach * least));
  std::vector<std::int32_t> counts;
  for (std::int64_t count = std::min(least, most); count <= most; ++count)
    if (batch % count == 0) counts.push_back(static_cast<std::int32_t>(count));
  for (std::int64_t fewer = most; counts.empty(); --fewer)  // than stages
    if (batch % fewer == 0) counts.push_back(static_cast<std::int32_t>(fewer));
  return counts;
}

std::vector<MicroBatches> all_micro_batches(const PlanRequest& request, std::size_t stages,
                                            const Settings& settings) {
  const MicroBatches& of_any = request.options.micro_batches;
  if (of_any.count > 1 && settings.micro_batches == 0) return {of_any};
  const auto together = static_cast<std::size_t>(std::max(1, settings.tensor) * settings.context);
  const std::size_t rows = request.problem.cluster->device_count() / stages / together;
  std::vector<MicroBatches> all;
  for (const std::int32_t count :
       micro_batch_counts(request.problem.graph->batch(), stages, static_cast<std::int64_t>(rows),
                          settings.micro_batches))
    all.push_back({count, settings.schedule});
  return all;
}

// With the schedule that any planner is asked for; of a table the stages and chunks that it is made
// for.
Settings shaped(const PlanRequest& request, Settings settings) {
  const MicroBatches& of_any = request.options.micro_batches;
  if (of_any.count == 1 || settings.micro_batches > 0) return settings;
  settings.schedule = of_any.schedule;
  if (of_any.schedule != PipelineSchedule::ByHand) return settings;
  std::set<std::int32_t> chunks;
  for (const auto& row : of_any.table)
    for (const ScheduleCell& cell : row) chunks.insert(cell.chunk);
  const auto rows = static_cast<std::int32_t>(of_any.table.size());
  const auto all = static_cast<std::int32_t>(chunks.size());
  if (settings.stages == 0) settings.stages = rows;
  if (settings.chunks == 0 && all == 2 * rows - 1) settings.schedule = PipelineSchedule::ZbV;
  if (settings.chunks == 0 && all % rows == 0) settings.chunks = all / rows;
  return settings;
}

// Refuses what is asked for and forbidden; what is not said is tried without what is forbidden.
Settings allowed(const Constraints& constraints, Settings settings) {
  const auto keep_out = [&](Role role, const char* option, auto& setting, auto without,
                            const std::string& text, bool asked) {
    if (!forbids_everywhere(constraints, role)) return;
    if (asked)
      refuse_option(option, text, fmt::format("is {}, which a constraint forbids", label_of(role)),
                    "leave it out, or take the constraint back");
    setting = without;
  };
  keep_out(Role::Pipeline, "stages", settings.stages, 1, std::to_string(settings.stages),
           settings.stages > 1);
  keep_out(Role::Tensor, "tensor", settings.tensor, 1, std::to_string(settings.tensor),
           settings.tensor > 1);
  keep_out(Role::Expert, "expert", settings.expert, 1, std::to_string(settings.expert),
           settings.expert > 1);
  keep_out(Role::Context, "context", settings.context, 1, std::to_string(settings.context),
           settings.context > 1);
  keep_out(Role::Sharding, "shard", settings.shard, StageSharding::Nothing,
           kShardings[static_cast<std::size_t>(settings.shard)],
           settings.shard != StageSharding::Nothing && settings.shard != StageSharding::Any);
  keep_out(
      Role::Recompute, "recompute", settings.recompute, Recomputing::None,
      std::string(kRecomputing[static_cast<std::size_t>(settings.recompute)]),
      settings.recompute != Recomputing::None && settings.recompute != Recomputing::WhenNeeded);
  keep_out(Role::Offload, "offload", settings.offload, Offloading::None,
           std::string(kOffloading[static_cast<std::size_t>(settings.offload)]),
           settings.offload != Offloading::None && settings.offload != Offloading::WhenNeeded);
  return settings;
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
       {0, 1e6},
       "tensor parallelism: devices that compute each op of their samples together, which "
       "divide those of a stage; 0: each number that divides a machine's devices is tried"},
      {"pieces",
       pieces,
       {0, 1e6},
       "columns exchange what a product reads, or makes, in so many pieces, each while the product "
       "computes another (--tp-comm-overlap of Megatron-LM, asynchronous tensor parallelism of "
       "torchtitan); 1: they wait for all of it; 0: as many as there are columns"},
      {"sequence", sequence,
       "columns divide the positions of what is between two pairs of products (Megatron-LM's "
       "--sequence-parallel)"},
      {"expert",
       expert,
       {0, 1e6},
       "expert parallelism: rows of a stage that have the experts of a mixture among them, and "
       "exchange their tokens; 0: each number that divides the rows and the experts is tried"},
      {"context",
       context,
       {1, 1e6},
       "context parallelism: rows of a stage that have the same samples, and of these each its "
       "part of the positions"},
      {"schedule",
       schedule,
       {kPipelineSchedules.begin(), kPipelineSchedules.end()},
       "what a stage does next of its micro-batches and chunks"},
      {"chunks",
       chunks,
       {0, 1e6},
       "blocks of layers for each stage, a turn around all stages after the other; 0: one, of "
       "interleaved 1, 2 and 4 are tried, of zb-v and dualpipe-v two, there and back"},
      {"shard",
       shard,
       {kShardings.begin(), kShardings.end()},
       "what the rows of a stage keep a part of each: optimizer states and parameters, which "
       "each updates (updates: ZeRO's stage 1), gradients of each micro-batch, too (stage 2), or "
       "parameters while no pass reads them, too (stage 3, FSDP); any: each of these is tried"},
      {"shard_rows",
       shard_rows,
       {0, 1e6},
       "so many rows, which follow each other, have everything among them, and the next ones "
       "again (HSDP); 0: all of a stage"},
      {"recompute",
       recompute,
       {kRecomputing.begin(), kRecomputing.end()},
       "what the backward pass computes again: when-needed, only as much as makes a plan fit in "
       "memory; blocks of the model; of these what is cheap; or each layer of a transformer"},
      {"offload",
       offload,
       {kOffloading.begin(), kOffloading.end()},
       "what waits in the memory of hosts: when-needed, only where nothing fits without (up to 256 "
       "devices); optimizer states; activations that are not computed again; or all of these"},
      {"bucket",
       bucket,
       OptionUnit::MB,
       {0, 1e6},
       "largest fusion bucket in MB (2^20 bytes) of a stage's gradients; 0: one by one"},
      {"whole_layers", whole_layers,
       "stages begin with a layer of the transformer, as Megatron-LM's do, and not within one"},
      {"equal_layers", equal_layers,
       "each stage has as many layers of the transformer, the first one what is in front of these, "
       "too, and the last one what is behind: Megatron-LM's division where it is told no other"}};
}

Strategy strategy_of(const Problem& problem, const Settings& whole,
                     std::span<const std::int32_t> block_of) {
  const auto stages = static_cast<std::size_t>(whole.stages);
  const auto chunks = static_cast<std::size_t>(whole.chunks);
  const Shape shape = shape_of(stages, chunks, whole.schedule);
  Strategy strategy = sharded(staged(problem, shape, whole, block_of), whole);
  strategy.micro_batches = {whole.micro_batches, whole.schedule};
  strategy.recomputed = recomputed_ops(*problem.graph, whole.recompute,
                                       most_under_way(strategy.micro_batches, stages * chunks));
  strategy.offloaded = kept_ones(offloaded_ops(*problem.graph, static_cast<Offload>(whole.offload)),
                                 strategy.recomputed);
  return strategy;
}

bool is_possible(const Problem& problem, const Settings& whole) {
  const auto devices = static_cast<std::int32_t>(problem.cluster->device_count());
  const std::int64_t batch = problem.graph->batch();
  const std::int32_t together = whole.tensor * whole.context;  // devices that have the same samples
  if (devices % (whole.stages * together) != 0 || batch % whole.micro_batches != 0) return false;
  const std::int32_t rows = devices / whole.stages / together;
  const auto of_stages = Settings{.stages = whole.stages, .tensor = 0};
  const std::vector<std::int32_t> columns = widths(*problem.cluster, of_stages);
  return std::ranges::find(columns, whole.tensor) != columns.end() && rows % whole.expert == 0 &&
         (whole.micro_batches == 1 || batch / whole.micro_batches >= rows) &&
         whole.stages * whole.chunks <= most_blocks(problem, whole);
}

namespace {

// Of this many stages, with all chunks and micro-batches that are to be tried.
Tried try_stages(const PlanRequest& request, const Settings& settings, std::size_t stages,
                 Offload offload) {
  std::vector<Strategy> strategies;
  std::size_t most_chunks = 1;
  for (const std::size_t chunks : chunk_counts(request.problem, stages, settings)) {
    const Shape shape = shape_of(stages, chunks, settings.schedule);
    const Strategy whole = sharded(staged(request.problem, shape, settings), settings);
    most_chunks = std::max(most_chunks, chunks);
    for (const MicroBatches& micro_batches : all_micro_batches(request, stages, settings)) {
      strategies.push_back(whole);
      strategies.back().micro_batches = micro_batches;
    }
  }
  return try_recomputing(request, strategies, settings.recompute, offload,
                         most_under_way(strategies.back().micro_batches, stages * most_chunks));
}

void check_shard_rows(const Settings& settings, std::int64_t rows, std::int32_t apart) {
  const std::string given = std::to_string(settings.shard_rows);
  if (settings.shard_rows == 0) return;
  if (rows % settings.shard_rows != 0)
    refuse_option("shard_rows", given, fmt::format("does not divide the {} rows of a stage", rows),
                  "give a number that divides them, or 0 for all");
  if (settings.shard_rows % apart != 0)
    refuse_option(
        "shard_rows", given,
        fmt::format("is no multiple of the {} rows that have experts, or positions, among them",
                    apart),
        "give one, or 0 for all");
}

// Returns the rows that have samples of their own.
std::int64_t rows_apart(const Settings& settings, std::int64_t rows) {
  if (rows % settings.context != 0)
    refuse_option("context", std::to_string(settings.context),
                  fmt::format("does not divide the {} rows of a stage", rows),
                  "give a number that divides them");
  return rows / settings.context;
}

// What is tried of one width and sharding.
struct Variant {
  Settings settings;
  std::size_t stages;
};
std::vector<Variant> variants(const PlanRequest& request, const Settings& settings) {
  std::vector<Variant> all;
  for (const std::int32_t width : widths(*request.problem.cluster, settings))
    for (const std::size_t stages : stage_counts(request.problem, settings, width)) {
      const auto devices = static_cast<std::int64_t>(request.problem.cluster->device_count());
      const std::int64_t rows = devices / static_cast<std::int64_t>(stages) / width;
      for (const std::int32_t expert :
           expert_rows(request.problem, settings, rows_apart(settings, rows))) {
        check_shard_rows(settings, rows, expert * settings.context);
        for (const StageSharding shard : shardings(settings.shard)) {
          all.push_back({settings, stages});
          all.back().settings.tensor = width;
          all.back().settings.expert = expert;
          all.back().settings.shard = shard;
        }
      }
    }
  return all;
}

}  // namespace

// One after the other: large models take seconds each.
PlanResult plan(const PlanRequest& request, const Settings& given) {
  Settings settings = shaped(request, given);
  if (const Constraints* constraints = request.options.constraints.get())
    settings = allowed(*constraints, settings);
  PlanResult best;
  std::optional<Variant> found;  // none: nothing was evaluated
  Reporter reporter(request.observer);
  const auto try_variant = [&](const Variant& variant, Offload offload) {
    if (found && request.stop.stop_requested()) return;
    Tried tried = try_stages(request, variant.settings, variant.stages, offload);
    const std::size_t fastest = best_of(tried.scores);
    best.evaluations += std::ssize(tried.scores);
    const bool better = !found || tried.scores[fastest].better_than(best.score);
    if (better) {
      best.strategy = std::move(tried.strategies[fastest]);
      best.score = tried.scores[fastest];
      found = variant;
    }
    const Progress progress{best.evaluations, best.evaluations, reporter.elapsed(), best.score};
    better ? reporter.improvement(best.strategy, progress) : reporter.progress(progress, false);
  };
  const std::vector<Variant> all = variants(request, settings);
  for (const Offload offload : rounds_of(settings.offload, *request.problem.cluster)) {
    if (found && best.score.feasible) break;
    for (const Variant& variant : all) try_variant(variant, offload);
  }
  best.facts.push_back({"stages", std::to_string(found->stages)});
  if (settings.tensor == 0)
    best.facts.push_back({"tensor", std::to_string(found->settings.tensor)});
  if (settings.expert == 0)
    best.facts.push_back({"expert", std::to_string(found->settings.expert)});
  if (settings.shard == StageSharding::Any)
    best.facts.push_back(
        {"kept in parts", kShardings[static_cast<std::size_t>(found->settings.shard)]});
  if (!best.strategy.recomputed.empty())
    best.facts.push_back(
        {"computed again", fmt::format("{} ops", best.strategy.recomputed.size())});
  if (!best.strategy.offloaded.empty())
    best.facts.push_back(
        {"kept on hosts", fmt::format("of {} ops", best.strategy.offloaded.size())});
  return best;
}

}  // namespace strato::pipeline
