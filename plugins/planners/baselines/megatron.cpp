#include "plugins/planners/baselines/megatron.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/framework/layout/model_layers.h"
#include "core/framework/megatron/model_arguments.h"
#include "core/framework/megatron/parallel_arguments.h"
#include "core/framework/megatron/script_words.h"
#include "core/io/file.h"
#include "core/plugin/api/planner_function.h"
#include "plugins/planners/baselines/pipeline.h"

namespace strato::megatron {
namespace {

std::vector<frameworks::ScriptWord> words_of(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 20;
  const std::string text = read_file(file, kMost);
  const bool is_yaml = file.extension() == ".yaml" || file.extension() == ".yml";
  return is_yaml ? frameworks::yaml_words(text, file.string())
                 : frameworks::script_words(text, file.string());
}

pipeline::Settings settings_of(const frameworks::TrainingLayout& layout) {
  pipeline::Settings whole;
  whole.stages = layout.stages;
  whole.chunks = layout.chunks;
  whole.tensor = layout.tensor;
  whole.expert = layout.expert;
  whole.context = layout.context;
  whole.micro_batches = layout.micro_batches;
  whole.schedule = layout.schedule;
  whole.shard = static_cast<pipeline::StageSharding>(layout.states.stage);
  whole.shard_rows = layout.states.rows;
  whole.recompute = static_cast<Recomputing>(layout.recompute);
  whole.offload = Offloading::None;
  return whole;
}

}  // namespace

OptionTable Settings::option_table() {
  return {{"file", file,
           "a script that runs Megatron-LM, or its arguments in YAML (.yaml): as many devices as "
           "the cluster has, and the batch of --batch"}};
}

PlanResult plan(const PlanRequest& request, const Settings& settings) {
  if (settings.file.empty())
    refuse_option("file", "", "is not given", "give a script that runs Megatron-LM");
  const Graph& graph = *request.problem.graph;
  const frameworks::ModelLayers layers = frameworks::model_layers(graph);
  const frameworks::Training training = {
      .layers = layers.count,
      .devices = static_cast<std::int64_t>(request.problem.cluster->device_count()),
      .batch = graph.batch(),
      .model = frameworks::model_arguments(graph, layers).arguments};
  const frameworks::ReadLayout read =
      frameworks::read_layout(words_of(settings.file), training, settings.file.string());
  PlanResult result = best_of(
      request, {pipeline::strategy_of(request.problem, settings_of(read.layout),
                                      frameworks::block_of_ops(layers, read.layout.blocks))});
  for (const std::string& remark : read.remarks) result.facts.push_back({"read as", remark});
  if (!read.passed_over.empty())
    result.facts.push_back({"passed over", fmt::format("{}", fmt::join(read.passed_over, " "))});
  return result;
}

}  // namespace strato::megatron
