// A strategy as overrides of torchtitan's configuration. What they do not say is told in words.
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
#include "core/framework/torchtitan/torchtitan_configuration.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

using frameworks::TrainingLayout;

class TorchtitanScript {
 public:
  explicit TorchtitanScript(const ExportInput& input)
      : problem_(input.problem),
        found_(frameworks::recognise(input.problem, input.strategy)),
        layout_(found_.layout),
        unsaid_(found_.differences) {}

  std::string write() && {
    write_stages();
    write_rows();
    write_samples();
    tell_the_rest();
    std::string text = fmt::format(
        "#!/usr/bin/env bash\n# {} on {} ({} devices) by torchtitan, planned by Stratoscope.\n",
        frameworks::in_one_line(problem_.graph->name()),
        frameworks::in_one_line(problem_.cluster->name()), problem_.cluster->device_count());
    text += frameworks::comment_of("What the plan has and the overrides do not say:", unsaid_);
    text +=
        "#\n# Run it where torchtitan is, with the model and what torchrun needs of several "
        "machines:\n#   MODULE=llama3 CONFIG=llama3_8b bash FILE --training.steps 100\n"
        "set -eu\nOVERRIDES=(\n";
    for (const std::string& line : lines_) text += "  " + line + "\n";
    return text + ")\n./run_train.sh \"${OVERRIDES[@]}\" \"$@\"\n";
  }

 private:
  template <class Value>
  void add(const char* name, const Value& value) {
    lines_.push_back(fmt::format("--{} {}", name, value));
  }
  template <class... Values>
  void unsaid(fmt::format_string<Values...> text, Values&&... values) {
    unsaid_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void write_stages() {
    add("parallelism.tensor_parallel_degree", layout_.tensor);
    if (layout_.pieces > 1) {
      lines_.emplace_back("--parallelism.enable_async_tensor_parallel");
      lines_.emplace_back("--compile.enable");
    }
    if (layout_.pieces > 1 && layout_.pieces != layout_.tensor)
      unsaid("columns exchange in {} pieces in the plan, and in as many as there are in torchtitan",
             layout_.pieces);
    if (!layout_.sequence)
      unsaid(
          "columns compute norms as a whole in the plan, and their positions of them in "
          "torchtitan");
    add("parallelism.pipeline_parallel_degree", layout_.stages);
    if (layout_.stages == 1) return;
    const std::string_view schedule = frameworks::name_in_pytorch(layout_.schedule);
    if (schedule.empty())
      unsaid("torchtitan has no schedule {}", name_of(layout_.schedule));
    else
      add("parallelism.pipeline_parallel_schedule", schedule);
    add("parallelism.num_pp_microbatches", layout_.micro_batches);
    write_blocks();
  }

  // As torchtitan divides layers itself where that makes the same parts.
  void write_blocks() {
    const auto parts = static_cast<std::int32_t>(layout_.blocks.size());
    const std::int32_t layers = found_.layers.count, most = 2 * layers / parts + 1;
    for (std::int32_t less = 0; less <= 2 * most; ++less)
      for (std::int32_t first = std::max(0, less - most); first <= std::min(less, most); ++first) {
        const std::int32_t last = less - first;
        const std::int32_t each = (layers + less + parts - 1) / parts;
        const bool counts_so = layout_.chunks <= 2 || (layers + less + each - 1) / each == parts;
        if (frameworks::torchtitan_blocks(layers, parts, first, last) != layout_.blocks ||
            !counts_so)
          continue;
        add("parallelism.pipeline_parallel_first_stage_less_layers", first);
        add("parallelism.pipeline_parallel_last_stage_less_layers", last);
        if (layout_.chunks > 2) add("parallelism.pipeline_parallel_layers_per_stage", each);
        return;
      }
    unsaid("in the configuration, module_fqns_per_model_part = {}", modules());
  }

  // [["tok_embeddings", "layers.0"], ["layers.1", "norm", "lm_head"]]
  std::string modules() const {
    std::vector<std::string> parts;
    std::int32_t layer = 0;
    for (const frameworks::Block& block : layout_.blocks) {
      std::vector<std::string> names;
      if (block.embedding) names.emplace_back("\"tok_embeddings\"");
      for (std::int32_t i = 0; i < block.layers; ++i)
        names.push_back(fmt::format("\"layers.{}\"", layer++));
      if (block.head) names.insert(names.end(), {"\"norm\"", "\"lm_head\""});
      parts.push_back(fmt::format("[{}]", fmt::join(names, ", ")));
    }
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }

  void write_rows() {
    const StateSharding& states = layout_.states;
    const std::int32_t context = layout_.context;
    const std::int32_t among =
        states.stage == 0 ? 1 : (states.rows > 0 ? states.rows / context : layout_.rows);
    add("parallelism.data_parallel_replicate_degree", layout_.rows / among);
    add("parallelism.data_parallel_shard_degree", among);
    if (context > 1) add("parallelism.context_parallel_degree", context);
    if (context > 1 && states.stage == 0)
      unsaid("torchtitan shares states among rows with the same samples; the plan does not");
    if (states.stage > 0)
      add("parallelism.fsdp_reshard_after_forward", states.stage == 3 ? "always" : "never");
    if (states.stage == 1)
      unsaid("FSDP divides gradients, too (ZeRO 2), where the plan has ZeRO 1");
    if (layout_.expert == 1) return;
    add("parallelism.expert_parallel_degree", layout_.expert * layout_.tensor);
    if (layout_.tensor > 1)
      unsaid("columns divide each expert in the plan, and have whole ones in torchtitan");
    if (among * layout_.tensor % (layout_.expert * layout_.tensor) != 0)
      unsaid("torchtitan divides experts among rows that share states, which are {}", among);
  }

  void write_samples() {
    const auto model = frameworks::model_arguments(*problem_.graph, found_.layers).arguments;
    const auto length = std::ranges::find(model, "--seq-length", &frameworks::Argument::name);
    if (length == model.end())
      return unsaid("samples are {} at once for each row, and {} in all", layout_.micro_batch_size,
                    layout_.batch());
    const std::int64_t tokens = std::stoll(length->value);
    add("training.max_context_length", tokens);
    add("training.num_tokens_per_microbatch_per_dp_rank", layout_.micro_batch_size * tokens);
    add("training.num_tokens_per_train_step", layout_.batch() * tokens);
  }

  void tell_the_rest() {
    if (layout_.recompute == Recompute::Blocks)
      unsaid(
          "in the configuration, activation_checkpoint=FullAC.Config(): the plan keeps a result "
          "for each block of {} layer(s)",
          layout_.recomputed_layers);
    if (layout_.recompute == Recompute::Cheap)
      unsaid(
          "in the configuration, activation_checkpoint=SelectiveAC.Config(): the plan computes "
          "again what of a layer is bound by memory");
    if (layout_.offload != Offload::None)
      unsaid(
          "the plan keeps {} on hosts; --training.enable_cpu_offload keeps parameters there, too",
          name_of(layout_.offload));
  }

  const Problem& problem_;
  const frameworks::Recognised found_;
  const TrainingLayout& layout_;
  std::vector<std::string> lines_, unsaid_;
};

class TorchtitanExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override { return TorchtitanScript(input).write(); }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) {
  return std::make_unique<strato::TorchtitanExporter>();
})
