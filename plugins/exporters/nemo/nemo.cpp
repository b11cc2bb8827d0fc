// A strategy as what a recipe of NeMo Automodel says of parallelism and batch. What it does not say
// is told in words; the planner "configuration" reads it back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/framework/layout/comments.h"
#include "core/framework/layout/pytorch_pipeline.h"
#include "core/framework/layout/recognise.h"
#include "core/framework/megatron/model_arguments.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

using frameworks::TrainingLayout;

class NemoRecipe {
 public:
  explicit NemoRecipe(const ExportInput& input)
      : problem_(input.problem),
        found_(frameworks::recognise(input.problem, input.strategy)),
        layout_(found_.layout),
        unsaid_(found_.differences) {}

  std::string write() && {
    write_batch();
    write_rows();
    if (layout_.stages > 1) write_stages();
    tell_the_rest();
    return fmt::format("# {} on {} ({} devices) by NeMo Automodel, planned by Stratoscope.\n",
                       frameworks::in_one_line(problem_.graph->name()),
                       frameworks::in_one_line(problem_.cluster->name()),
                       problem_.cluster->device_count()) +
           frameworks::comment_of("What the plan has and this recipe does not say:", unsaid_) +
           "#\n# A recipe needs more: the model, a dataset, an optimizer.\n" + lines_;
  }

 private:
  template <class Value>
  void add(int depth, std::string_view name, const Value& value) {
    lines_ += fmt::format("{:{}}{}: {}\n", "", 2 * depth, name, value);
  }
  template <class... Values>
  void unsaid(fmt::format_string<Values...> text, Values&&... values) {
    unsaid_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  // Stages divide a row's samples; without them each micro-batch is a turn.
  void write_batch() {
    lines_ += "step_scheduler:\n";
    add(1, "global_batch_size", layout_.batch());
    add(1, "local_batch_size",
        layout_.micro_batch_size * (layout_.stages > 1 ? layout_.micro_batches : 1));
    const auto model = frameworks::model_arguments(*problem_.graph, found_.layers).arguments;
    const auto length = std::ranges::find(model, "--seq-length", &frameworks::Argument::name);
    if (length != model.end()) unsaid("sequences have {} tokens", length->value);
  }

  void write_rows() {
    const StateSharding& states = layout_.states;
    const bool is_plain = layout_.tensor * layout_.context * layout_.stages * layout_.expert == 1;
    lines_ += "distributed:\n";
    if (states.stage == 0 && is_plain) return add(1, "strategy", "ddp");
    const std::int32_t sharing = states.rows > 0 ? states.rows : layout_.all_rows();
    add(1, "strategy", "fsdp2");
    add(1, "dp_size", "none");
    add(1, "dp_replicate_size", layout_.all_rows() / sharing);
    add(1, "tp_size", layout_.tensor);
    add(1, "cp_size", layout_.context);
    add(1, "pp_size", layout_.stages);
    add(1, "ep_size", layout_.expert * (layout_.expert > 1 ? layout_.tensor * layout_.context : 1));
    add(1, "sequence_parallel", layout_.tensor > 1 && layout_.sequence);
    add(1, "reshard_after_forward", states.stage == 3);
    if (states.stage < 2)
      unsaid("FSDP divides gradients and parameters at rest, too, where the plan has ZeRO {}",
             states.stage);
    if (layout_.expert > 1 && layout_.tensor * layout_.context > 1)
      unsaid("experts are whole on each device there, and divided by columns in the plan");
  }

  void write_stages() {
    const std::string_view schedule = frameworks::name_in_pytorch(layout_.schedule);
    lines_ += "  pipeline:\n";
    if (schedule.empty())
      unsaid("PyTorch has no schedule {}", name_of(layout_.schedule));
    else
      add(2, "pp_schedule", schedule);
    add(2, "pp_microbatch_size", layout_.micro_batch_size);
    lines_ += "    module_fqns_per_model_part:\n";
    std::int32_t layer = 0;
    for (const frameworks::Block& block : layout_.blocks) {
      std::vector<std::string> names;
      if (block.embedding) names.emplace_back("model.embed_tokens");
      for (std::int32_t i = 0; i < block.layers; ++i)
        names.push_back(fmt::format("model.layers.{}", layer++));
      if (block.head) names.insert(names.end(), {"model.norm", "lm_head"});
      names.emplace_back("model.rotary_emb");
      lines_ += fmt::format("      - [{}]\n", fmt::join(names, ", "));
    }
  }

  void tell_the_rest() {
    if (layout_.recompute != Recompute::None)
      add(1, "activation_checkpointing",
          layout_.recompute == Recompute::Blocks ? "full" : "selective");
    if (layout_.recompute == Recompute::Blocks)
      unsaid("NeMo Automodel computes each layer again; the plan blocks of {} layer(s)",
             layout_.recomputed_layers);
    if (layout_.recompute == Recompute::Cheap)
      unsaid("the plan computes again what of a layer is bound by memory, no product among it");
    if (layout_.pieces > 1)
      unsaid("columns exchange in {} pieces, while products compute", layout_.pieces);
    if (layout_.offload != Offload::None)
      unsaid("the plan keeps {} on hosts, and updates on the GPUs", name_of(layout_.offload));
  }

  const Problem& problem_;
  const frameworks::Recognised found_;
  const TrainingLayout& layout_;
  std::vector<std::string> unsaid_;
  std::string lines_;
};

class NemoExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override { return NemoRecipe(input).write(); }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) { return std::make_unique<strato::NemoExporter>(); })
