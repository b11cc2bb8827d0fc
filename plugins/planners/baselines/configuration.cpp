#include "plugins/planners/baselines/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/framework/configuration/configuration_file.h"
#include "core/framework/layout/model_layers.h"
#include "core/framework/megatron/model_arguments.h"
#include "core/plugin/api/planner_function.h"
#include "plugins/planners/baselines/pipeline.h"

namespace strato::configuration {
namespace {

pipeline::Settings settings_of(const frameworks::TrainingLayout& layout) {
  pipeline::Settings whole;
  whole.stages = layout.stages;
  whole.chunks = layout.chunks;
  whole.tensor = layout.tensor;
  whole.pieces = layout.pieces;
  whole.sequence = layout.sequence;
  whole.expert = layout.expert;
  whole.context = layout.context;
  whole.micro_batches = layout.micro_batches;
  whole.schedule = layout.schedule;
  whole.shard = static_cast<pipeline::StageSharding>(layout.states.stage);
  whole.shard_rows = layout.states.rows;
  whole.recompute = static_cast<Recomputing>(layout.recompute);
  whole.offload = static_cast<Offloading>(layout.offload);
  return whole;
}

// 1 where machines differ: then nothing is meant by "the devices of a machine".
std::int64_t devices_of_machine(const Cluster& cluster) {
  std::vector<std::int64_t> devices(cluster.machines().size(), 0);
  for (const Device& device : cluster.devices()) ++devices[device.machine.index()];
  const auto [least, most] = std::ranges::minmax(devices);
  return least == most ? most : 1;
}

frameworks::Program program_of(const Settings& settings) {
  frameworks::Program program{.stages = settings.stages,
                              .micro_batch_size = settings.micro_batch_size};
  if (settings.recompute != Recomputes::AsGiven)
    program.recompute = static_cast<Recompute>(static_cast<int>(settings.recompute) - 1);
  return program;
}

// What the cluster cannot do (keep something on hosts that have no memory) is blamed on the file.
PlanResult laid_out(const PlanRequest& request, const std::string& file, Strategy strategy) try {
  return best_of(request, {std::move(strategy)});
} catch (const InputError& error) {
  if (!error.file().empty()) throw;
  throw InputError(file, error.place(), error.problem(), error.remedy());
}

}  // namespace

OptionTable Settings::option_table() {
  return {{"file", file,
           "a script that runs Megatron-LM, or its arguments in YAML; torchtitan's configuration "
           "in TOML, or a script with overrides of it; DeepSpeed's in JSON; Accelerate's, or a "
           "recipe of NeMo Automodel, in YAML: for as many devices as the cluster has, and the "
           "batch of --batch"},
          {"stages",
           stages,
           {0, 1e6},
           "pipeline stages, where the program says them and not the file (DeepSpeed); 0: one"},
          {"micro_batch_size",
           micro_batch_size,
           {0, 1e6},
           "samples that a row computes at once, where the file does not say them (DeepSpeed, "
           "Accelerate); 0: one micro-batch"},
          {"recompute",
           recompute,
           {kRecomputes.begin(), kRecomputes.end()},
           "what is computed again, where the file does not say it (DeepSpeed, Accelerate)"}};
}

PlanResult plan(const PlanRequest& request, const Settings& settings) {
  if (settings.file.empty())
    refuse_option("file", "", "is not given", "give a training framework's configuration");
  const Graph& graph = *request.problem.graph;
  const Cluster& cluster = *request.problem.cluster;
  const frameworks::ModelLayers layers = frameworks::model_layers(graph);
  const frameworks::Training training = {
      .layers = layers.count,
      .devices = static_cast<std::int64_t>(cluster.device_count()),
      .batch = graph.batch(),
      .devices_of_machine = devices_of_machine(cluster),
      .model = frameworks::model_arguments(graph, layers).arguments,
      .program = program_of(settings)};
  const auto [framework, read] = frameworks::read_configuration(settings.file, training);
  PlanResult result =
      laid_out(request, settings.file,
               pipeline::strategy_of(request.problem, settings_of(read.layout),
                                     frameworks::block_of_ops(layers, read.layout.blocks)));
  result.facts.push_back({"configuration of", framework});
  for (const std::string& remark : read.remarks) result.facts.push_back({"read as", remark});
  if (!read.passed_over.empty())
    result.facts.push_back({"passed over", fmt::format("{}", fmt::join(read.passed_over, " "))});
  return result;
}

}  // namespace strato::configuration
