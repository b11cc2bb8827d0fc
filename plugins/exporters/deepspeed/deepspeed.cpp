// A strategy as DeepSpeed's configuration. What a program has to say itself (stages of its
// PipelineModule, experts of its MoE layers, what it recomputes) stands under "stratoscope", which
// DeepSpeed passes over: in words, and for the planner "configuration", which reads it back.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/layout/recognise.h"
#include "core/framework/layout/stage_string.h"
#include "core/io/json.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

using frameworks::Recognised;
using frameworks::TrainingLayout;

bool keeps_states_on_hosts(const TrainingLayout& layout) {
  return layout.offload == Offload::States || layout.offload == Offload::All;
}

Json zero_of(const TrainingLayout& layout) {
  Json zero{{"stage", layout.states.stage}};
  if (layout.states.stage == 3 && layout.states.rows > 0)
    zero["mics_shard_size"] = layout.states.rows;
  if (keeps_states_on_hosts(layout) && layout.states.stage > 0)
    zero["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
  return zero;
}

DataType type_of_losses(const Graph& graph, const frameworks::ModelLayers& layers) {
  DataType type = DataType::F32;
  for (const OpId op : graph.ops().ids())
    if (graph.op(op).phase == Phase::Forward && layers.place_of[op.index()] == layers.count)
      type = graph.tensor(graph.op(op).outputs[0]).type;
  return type;
}

// What DeepSpeed's own keys do not say of the layout.
Json layout_of(const TrainingLayout& layout) {
  Json json = Json::object();
  if (layout.stages > 1)
    json = {{"stages", layout.stages}, {"blocks", frameworks::stage_string(layout.blocks)}};
  if (layout.schedule != PipelineSchedule::OneFOneB) json["schedule"] = name_of(layout.schedule);
  if (layout.expert > 1) json["expert"] = layout.expert;
  if (layout.pieces > 1) json["pieces"] = layout.pieces;
  if (!layout.sequence) json["whole_norms"] = 1;
  if (layout.states.rows > 0 && layout.states.stage < 3) json["state_rows"] = layout.states.rows;
  if (layout.recompute != Recompute::None) {
    json["recompute"] = name_of(layout.recompute);
    json["recomputed_layers"] = layout.recomputed_layers;
  }
  if (layout.offload != Offload::None) json["offload"] = name_of(layout.offload);
  return json;
}

// What the program itself has to do, or DeepSpeed does otherwise.
std::vector<std::string> words_of(const Recognised& found) {
  const TrainingLayout& layout = found.layout;
  std::vector<std::string> words = found.differences;
  const auto add = [&](bool applies, std::string text) {
    if (applies) words.push_back(std::move(text));
  };
  add(layout.stages > 1,
      fmt::format("give PipelineModule num_stages={} and the blocks below (E: the embedding, t: a "
                  "layer, L: the head)",
                  layout.stages));
  add(layout.stages > 1 && layout.states.stage > 1,
      fmt::format("DeepSpeed's pipelines have ZeRO 1 at most, and the plan ZeRO {}",
                  layout.states.stage));
  add(layout.chunks > 1,
      fmt::format("DeepSpeed's stages have one chunk each, and the plan's {}", layout.chunks));
  add(layout.stages > 1 && layout.schedule != PipelineSchedule::OneFOneB,
      fmt::format("DeepSpeed's pipelines run by 1f1b, and the plan's by {}",
                  name_of(layout.schedule)));
  add(layout.tensor > 1,
      fmt::format("train_batch_size counts the samples of each of the {} columns, which are the "
                  "same {}: DeepSpeed's check wants it so",
                  layout.tensor, layout.batch()));
  add(layout.tensor > 1 && layout.states.stage > 2,
      "DeepSpeed's tensor parallelism goes with ZeRO 2 at most");
  add(layout.pieces > 1,
      fmt::format("columns exchange in {} pieces in the plan, and all at once in DeepSpeed",
                  layout.pieces));
  add(layout.context > 1,
      fmt::format("rows have positions among them in the plan: give Ulysses a "
                  "sequence_parallel_size of {}, which swaps positions for heads",
                  layout.context));
  add(layout.expert > 1, fmt::format("give MoE layers ep_size={}", layout.expert));
  add(layout.states.rows > 0 && layout.states.stage < 3,
      fmt::format("states are divided among {} rows each in the plan, and among all by DeepSpeed",
                  layout.states.rows));
  add(keeps_states_on_hosts(layout), layout.states.stage > 0
                                         ? "states that are offloaded are updated on the CPU; the "
                                           "plan updates them on the GPU"
                                         : "DeepSpeed offloads states from ZeRO 1 on");
  add(layout.offload == Offload::Activations || layout.offload == Offload::All,
      "checkpoint activations with cpu_checkpointing: the plan keeps them on hosts");
  add(layout.recompute != Recompute::None,
      layout.recompute == Recompute::Blocks
          ? fmt::format("checkpoint activations of blocks of {} layer(s)", layout.recomputed_layers)
          : "compute again what of a layer is bound by memory (norms, activation functions)");
  return words;
}

class DeepSpeedExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override {
    const Graph& graph = *input.problem.graph;
    const Recognised found = frameworks::recognise(input.problem, input.strategy);
    const TrainingLayout& layout = found.layout;
    Json json{{"train_batch_size", layout.batch() * layout.tensor},
              {"train_micro_batch_size_per_gpu", layout.micro_batch_size},
              {"gradient_accumulation_steps", layout.micro_batches},
              {"zero_optimization", zero_of(layout)}};
    const DataType type = type_of_losses(graph, found.layers);
    if (type == DataType::BF16) json["bf16"] = {{"enabled", true}};
    if (type == DataType::F16) json["fp16"] = {{"enabled", true}};
    if (layout.tensor > 1) json["tensor_parallel"] = {{"autotp_size", layout.tensor}};
    if (layout.context > 1) json["sequence_parallel_size"] = layout.context;
    Json about{{"model", graph.name()},
               {"cluster", input.problem.cluster->name()},
               {"devices", input.problem.cluster->device_count()},
               {"not_said", words_of(found)}};
    about["layout"] = layout_of(layout);
    json["stratoscope"] = std::move(about);
    return json_text(json, 2) + "\n";
  }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) { return std::make_unique<strato::DeepSpeedExporter>(); })
