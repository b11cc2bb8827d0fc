// The strategies that others are measured against.
//   dp-allreduce               equal shares on all devices, gradients all-reduced (DP-NCCL of TAG
//                              5.2)
//   dp-allreduce-proportional  shares in proportion to each device's speed (DP-NCCL-P)
//   dp-ps                      equal shares, gradients summed at parameter servers
//   single-device              everything on the fastest device that holds it (TAG 5, GDP 4)
//   expert                     a human expert's placement by layer blocks (GDP 4.1, Baechi 5):
//                              every layer, with its gradients and updates, is whole on one device
//   metis, horovod, sharded-dp  see below
//   heft, pipeline, meshes, configuration  see the headers of these names
#include "core/search/evaluate/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/base/quantity_text.h"
#include "core/graph/group/metis_grouping.h"
#include "core/plugin/api/planner_function.h"
#include "core/plugin/api/plugin.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/strategy/value/state_sharding.h"
#include "plugins/planners/baselines/configuration.h"
#include "plugins/planners/baselines/heft.h"
#include "plugins/planners/baselines/meshes.h"
#include "plugins/planners/baselines/pipeline.h"
#include "plugins/planners/baselines/sharding.h"

namespace strato {
namespace {

// Model parallelism over all devices: METIS divides the graph of op groups into one part a device,
// minimising the bytes between parts, with compute time balanced in proportion to the devices'
// speed. Every group runs whole on the device of its part. The METIS baseline of GDP section 4 and
// Celeritas section 6, on op groups.
Strategy metis(const Problem& problem) {
  constexpr double balance = 1.05;
  const auto times = graph_times(problem);
  const std::vector<DeviceId> devices =
      devices_for(*problem.cluster, times, problem.grouping->size());
  std::vector<std::int64_t> weights;
  for (const OpGroup& group : problem.grouping->groups())
    weights.push_back(std::max<std::int64_t>(1, group.compute_time.value));
  std::vector<WeightedEdge> edges;
  for (const Grouping::Edge& edge : problem.grouping->edges())
    edges.push_back(
        {edge.from.value(), edge.to.value(), std::max<std::int64_t>(1, edge.bytes.value)});
  std::vector<double> shares;
  for (const DeviceId device : devices) {
    const Nanos time = times[problem.cluster->device(device).type];
    shares.push_back(1e9 / static_cast<double>(std::max<std::int64_t>(time.value, 1)));
  }
  Strategy strategy;
  for (const std::int32_t part : partition_by_shares(weights, edges, shares, balance))
    strategy.groups.emplace_back(decision_on_device(devices[at(part)]));
  return strategy;
}

PlanResult expert(const PlanRequest& request, const NoSettings&) {
  const Problem& problem = request.problem;
  PlanResult result = best_of(request, {strategy_on_devices(problem, expert_devices(problem))});
  result.facts.push_back(
      {"layers", is_recurrent(problem) ? "recurrent: round robin" : "in blocks of equal work"});
  return result;
}

// Devices of one GPU type are equal here, so one of each type is tried.
PlanResult single_device(const PlanRequest& request, const NoSettings&) {
  PlanResult result;
  for (const Baseline& baseline : simple_baselines(request.problem)) {
    if (baseline.name != "single-device") continue;
    const Score score = request.evaluator.evaluate(baseline.strategy);
    const bool first = result.evaluations++ == 0;
    if (!first && !score.better_than(result.score)) continue;
    result.strategy = baseline.strategy;
    result.score = score;
    request.observer.on_improvement(result.strategy, score,
                                    {result.evaluations, result.evaluations, 0, score});
  }
  return result;
}

constexpr double kMegabyte = 1 << 20;  // HOROVOD_FUSION_THRESHOLD counts these

std::string megabytes(Bytes bucket) {
  std::string text = fmt::format("{:.6f}", static_cast<double>(bucket.value) / kMegabyte);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " MB";
}

struct HorovodSettings {
  Bytes bucket{std::int64_t{64} << 20};
  bool tune = false;

  OptionTable option_table() {
    return {{"bucket",
             bucket,
             OptionUnit::MB,
             {0, 1e6},
             "largest fusion bucket in MB (2^20 bytes); 0: gradients one by one"},
            {"tune", tune, "try buckets of 0, 1, 4, 16, 64 and 128 MB and take the fastest"}};
  }
};

// The planner "horovod" (Sergeev & Del Balso 2018, "Horovod: fast and easy distributed deep
// learning in TensorFlow", sections 3 and 4): gradients go into fusion buckets in the order in
// which the backward pass makes them, and a full bucket is all-reduced by a ring while the backward
// pass goes on.
PlanResult horovod(const PlanRequest& request, const HorovodSettings& settings) {
  std::vector<Strategy> strategies{data_parallel(request.problem)};
  strategies.front().bucket = settings.bucket;
  if (settings.tune)
    for (const double size : {0, 1, 4, 16, 64, 128}) {
      strategies.push_back(strategies.front());
      strategies.back().bucket = Bytes(static_cast<std::int64_t>(size * kMegabyte));
    }
  PlanResult result = best_of(request, std::move(strategies));
  result.facts.push_back({"fusion bucket", megabytes(result.strategy.bucket)});
  return result;
}

struct ShardedDpSettings {
  StateSharding states{.stage = 2};
  Bytes bucket{std::int64_t{64} << 20};

  OptionTable option_table() {
    return {{"stage",
             states.stage,
             {1, StateSharding::kMostStage},
             "of ZeRO: each device keeps its part of optimizer states and parameters (1), of the "
             "gradients that micro-batches add up, too (2), and has parameters whole just while a "
             "pass reads them (3, FSDP)"},
            {"rows",
             states.rows,
             {0, 1e6},
             "so many devices, which follow each other, have everything among them, and the next "
             "ones again (HSDP); 0: all"},
            {"smallest",
             states.smallest,
             OptionUnit::KB,
             {0, 1e9},
             "parameters below this many KB (2^10 bytes) stay whole on every device"},
            {"bucket",
             bucket,
             OptionUnit::MB,
             {0, 1e9},
             "largest fusion bucket, in MB (2^20 bytes), of gradients of whole parameters; 0: one "
             "by one"}};
  }
};

// The planner "sharded-dp" (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations
// toward training trillion parameter models", sections 5.1 to 5.3): replicas on all devices, each
// of which updates and keeps its part of every parameter and of its optimizer state. Gradients are
// reduce-scattered as they are made; parameters are all-gathered at the start of the step and stay
// until the backward pass has read them. So it is stage 2, with the gather of stage 1 and 2 moved
// from the end of a step to the start of the next one; or stage 3, where each pass gathers them.
//
// Small parameters stay whole: a collective of their own costs more than the memory is worth. Their
// gradients are all-reduced in fusion buckets.
PlanResult sharded_dp(const PlanRequest& request, const ShardedDpSettings& settings) {
  Strategy strategy = data_parallel(request.problem);
  const std::size_t devices = strategy.groups.front()->devices.size();
  if (settings.states.rows > 0 && devices % static_cast<std::size_t>(settings.states.rows) != 0)
    refuse_option("rows", std::to_string(settings.states.rows),
                  fmt::format("does not divide the {} devices", devices),
                  "give a number that divides them, or 0 for all");
  share_states(strategy, settings.states);
  strategy.bucket = settings.bucket;
  PlanResult result = best_of(request, {std::move(strategy)});
  const SharedParameters shared = shared_parameters(request.problem, result.strategy);
  result.facts.push_back(
      {"parameters in parts", fmt::format("{}: {} of {}", shared.count, bytes_text(shared.parts),
                                          bytes_text(shared.all))});
  return result;
}

// A planner that knows its strategy without asking what others are worth.
template <class MakeStrategy>
std::unique_ptr<Planner> fixed(std::string_view name, MakeStrategy make,
                               std::size_t most_devices = Planner::kMostDevices) {
  const auto plan = [make](const PlanRequest& request, const NoSettings&) {
    return best_of(request, {make(request.problem)});
  };
  return std::make_unique<PlannerFunction<NoSettings>>(name, plan, true, most_devices);
}

std::unique_ptr<Planner> make(std::string_view name) {
  constexpr std::size_t kAny = kMaxDevices;
  if (name == "dp-allreduce")
    return fixed(
        name, [](auto& problem) { return data_parallel(problem); }, kAny);
  if (name == "dp-allreduce-proportional") return fixed(name, data_parallel_proportional, kAny);
  if (name == "dp-ps")
    return fixed(name, [](auto& problem) { return data_parallel(problem, Mode::ReplicatePs); });
  if (name == "metis") return fixed(name, metis);
  if (name == "expert") return make_planner(name, expert, true);
  if (name == "single-device") return make_planner(name, single_device, true, kAny);
  if (name == "horovod") return make_planner(name, horovod, true, kAny);
  if (name == "sharded-dp") return make_planner(name, sharded_dp, true);
  if (name == "heft") return make_planner(name, heft::plan, true);
  if (name == "pipeline") return make_planner(name, pipeline::plan, true, kAny);
  if (name == "configuration") return make_planner(name, configuration::plan, true, kAny);
  if (name == "meshes") return make_planner(name, meshes::plan, false, kAny);
  return nullptr;
}

}  // namespace
}  // namespace strato

STRATOSCOPE_PLANNER(strato::make)
