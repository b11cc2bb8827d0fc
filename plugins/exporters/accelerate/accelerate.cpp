// A strategy as the configuration of Hugging Face's Accelerate. What it does not say is told in
// words; the planner "configuration" reads it back.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/framework/layout/comments.h"
#include "core/framework/layout/recognise.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

using frameworks::TrainingLayout;

class AccelerateConfiguration {
 public:
  explicit AccelerateConfiguration(const ExportInput& input)
      : problem_(input.problem),
        found_(frameworks::recognise(input.problem, input.strategy)),
        layout_(found_.layout),
        unsaid_(found_.differences) {}

  std::string write() && {
    const Cluster& cluster = *problem_.cluster;
    add(0, "compute_environment", "LOCAL_MACHINE");
    add(0, "num_machines", cluster.machines().size());
    add(0, "num_processes", cluster.device_count());
    add(0, "mixed_precision", precision());
    write_method();
    tell_the_rest();
    return fmt::format("# {} on {} ({} devices) by Accelerate, planned by Stratoscope.\n",
                       frameworks::in_one_line(problem_.graph->name()),
                       frameworks::in_one_line(cluster.name()), cluster.device_count()) +
           frameworks::comment_of("What the plan has and this file does not say:", unsaid_) +
           "#\n# Run it with: accelerate launch --config_file FILE program.py\n" + lines_;
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

  std::string_view precision() const {
    for (const Op& op : problem_.graph->ops())
      for (const TensorId output : op.outputs)
        if (const DataType type = problem_.graph->tensor(output).type; type == DataType::BF16)
          return "bf16";
        else if (type == DataType::F16)
          return "fp16";
    return "\"no\"";
  }

  // FSDP has no stages, and columns only beside rows that share their states.
  void write_method() {
    const std::int32_t zero = layout_.states.stage;
    if (layout_.stages > 1 || layout_.expert > 1 || (layout_.tensor > 1 && zero == 0))
      return write_megatron();
    const bool is_plain = layout_.tensor == 1 && layout_.context == 1 && layout_.states.rows == 0;
    if (zero == 0 && layout_.context == 1) return add(0, "distributed_type", "MULTI_GPU");
    zero < 2 && is_plain ? write_deepspeed() : write_fsdp();
  }

  void write_deepspeed() {
    add(0, "distributed_type", "DEEPSPEED");
    lines_ += "deepspeed_config:\n";
    add(1, "zero_stage", layout_.states.stage);
    add(1, "gradient_accumulation_steps", layout_.micro_batches);
    if (is_offloaded()) add(1, "offload_optimizer_device", "cpu");
    says_steps_ = true;
  }

  bool is_offloaded() const {
    return layout_.offload == Offload::States || layout_.offload == Offload::All;
  }

  void write_fsdp() {
    const std::int32_t zero = layout_.states.stage;
    const std::int32_t sharing = layout_.states.rows > 0 ? layout_.states.rows : layout_.all_rows();
    add(0, "distributed_type", "FSDP");
    lines_ += "fsdp_config:\n";
    add(1, "fsdp_version", 2);
    add(1, "fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    add(1, "fsdp_reshard_after_forward", zero == 3);
    add(1, "fsdp_activation_checkpointing", layout_.recompute == Recompute::Blocks);
    lines_ += "parallelism_config:\n";
    const auto size = [&](const char* dimension, std::int32_t devices) {
      add(1, fmt::format("parallelism_config_{}_size", dimension), devices);
    };
    size("dp_replicate", layout_.all_rows() / sharing);
    size("dp_shard", sharing / layout_.context);
    size("cp", layout_.context);
    size("tp", layout_.tensor);
    if (zero < 2)
      unsaid("FSDP divides gradients and parameters at rest, too, where the plan has ZeRO {}",
             zero);
    if (layout_.recompute == Recompute::Blocks)
      unsaid(
          "Accelerate computes the parts of a layer again one by one, and the plan blocks of {} "
          "layer(s)",
          layout_.recomputed_layers);
    says_recompute_ = layout_.recompute == Recompute::Blocks;
  }

  void write_megatron() {
    add(0, "distributed_type", "MEGATRON_LM");
    lines_ += "megatron_lm_config:\n";
    const auto say = [&](const char* name, const auto& value) {
      add(1, std::string("megatron_lm_") + name, value);
    };
    say("tp_degree", layout_.tensor);
    say("pp_degree", layout_.stages);
    say("context_parallel_size", layout_.context);
    say("expert_model_parallel_size", layout_.expert);
    say("num_micro_batches", layout_.micro_batches);
    say("sequence_parallelism", layout_.tensor > 1 && layout_.sequence);
    say("use_distributed_optimizer", layout_.states.stage > 0);
    if (layout_.recompute == Recompute::Blocks) {
      say("recompute_granularity", "full");
      say("recompute_method", "uniform");
      say("recompute_num_layers", layout_.recomputed_layers);
    }
    says_steps_ = true;
    says_recompute_ = layout_.recompute == Recompute::Blocks;
    if (layout_.states.stage > 1 || layout_.states.rows > 0)
      unsaid(
          "Megatron-LM's optimizer divides states among all rows (ZeRO 1), where the plan has "
          "ZeRO {}{}",
          layout_.states.stage,
          layout_.states.rows > 0 ? fmt::format(" among {}", layout_.states.rows) : "");
    const auto& blocks = layout_.blocks;
    const bool has_other_end =
        layout_.chunks == 1 && !frameworks::is_even(blocks) &&
        std::all_of(blocks.begin(), blocks.end() - 1,
                    [&](const auto& block) { return block.layers == blocks.front().layers; });
    if (has_other_end) say("decoder_last_pipeline_num_layers", blocks.back().layers);
    if ((!has_other_end && !frameworks::is_even(blocks)) || layout_.chunks > 1)
      unsaid(
          "stages have as many layers each, but the last, and one chunk by Accelerate; the plan "
          "has {} chunk(s) of a stage, of other sizes",
          layout_.chunks);
    if (layout_.stages > 1 && layout_.schedule != PipelineSchedule::OneFOneB)
      unsaid("stages run by 1f1b, and the plan's by {}", name_of(layout_.schedule));
  }

  void tell_the_rest() {
    unsaid("give the DataLoader batches of {} sample(s)", layout_.micro_batch_size);
    if (!says_steps_ && layout_.micro_batches > 1)
      unsaid("give Accelerator gradient_accumulation_steps={}", layout_.micro_batches);
    if (!says_recompute_ && layout_.recompute != Recompute::None)
      unsaid("the plan computes {} again",
             layout_.recompute == Recompute::Blocks
                 ? "blocks of layers: switch gradient checkpointing on"
                 : "what of a layer is bound by memory");
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
  bool says_steps_ = false, says_recompute_ = false;
};

class AccelerateExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override {
    return AccelerateConfiguration(input).write();
  }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) {
  return std::make_unique<strato::AccelerateExporter>();
})
