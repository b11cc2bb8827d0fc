#include "core/framework/megatron/parallel_arguments.h"

#include <fmt/format.h>

#include "core/framework/layout/stage_string.h"

namespace strato::frameworks {
namespace {

class ArgumentWriter {
 public:
  explicit ArgumentWriter(const TrainingLayout& layout, bool has_experts)
      : layout_(layout), has_experts_(has_experts) {}

  ParallelArguments write() && {
    add("--tensor-model-parallel-size", layout_.tensor);
    if (layout_.tensor > 1 && layout_.sequence) flag("--sequence-parallel");
    write_pieces();
    write_context();
    write_stages();
    if (layout_.expert > 1) {
      add("--expert-model-parallel-size", layout_.expert);
      add("--moe-token-dispatcher-type", "alltoall");
    }
    add("--micro-batch-size", layout_.micro_batch_size);
    add("--global-batch-size", layout_.batch());
    write_sharding();
    write_recomputation();
    write_offloading();
    return std::move(written_);
  }

 private:
  template <class Value>
  void add(const char* name, const Value& value) {
    written_.arguments.push_back({name, fmt::format("{}", value)});
  }
  void flag(const char* name) { written_.arguments.push_back({name, ""}); }
  void unsaid(std::string what) { written_.unsaid.push_back(std::move(what)); }

  void write_pieces() {
    if (layout_.pieces == 1) return;
    if (!layout_.sequence)
      return unsaid(
          "columns exchange in pieces in the plan, which Megatron-LM refuses without sequence "
          "parallelism");
    flag("--tp-comm-overlap");
    if (layout_.pieces != layout_.tensor)
      unsaid(
          fmt::format("columns exchange in {} pieces in the plan, and in Megatron-LM in as many as "
                      "there are columns ({}): plan with pieces={}",
                      layout_.pieces, layout_.tensor, layout_.tensor));
  }

  void write_context() {
    if (layout_.context == 1) return;
    add("--context-parallel-size", layout_.context);
    add("--cp-comm-type", "all_gather");
    if (layout_.expert > 1)
      unsaid(
          "experts are among rows with the same positions in the plan, and among neighbours in "
          "Megatron-LM");
  }

  void write_stages() {
    add("--pipeline-model-parallel-size", layout_.stages);
    if (!is_even(layout_.blocks))
      add("--pipeline-model-parallel-layout", stage_string(layout_.blocks));
    else if (layout_.chunks > 1)
      add("--num-layers-per-virtual-pipeline-stage", layout_.blocks.front().layers);
    const bool interleaved = layout_.chunks > 1;
    const auto runs = interleaved ? PipelineSchedule::Interleaved : PipelineSchedule::OneFOneB;
    if (layout_.schedule != runs && layout_.stages > 1 && layout_.micro_batches > 1)
      unsaid(fmt::format(
          "the schedule of the plan is {}; Megatron-LM runs {} chunk{} of a stage by "
          "{}",
          name_of(layout_.schedule), layout_.chunks, interleaved ? "s" : "", name_of(runs)));
    const std::int32_t last = layout_.micro_batches % layout_.stages;
    if (interleaved && (last != 0 || layout_.micro_batches < layout_.stages))
      unsaid(
          fmt::format("Megatron-LM interleaves micro-batches in groups of the {} stages, which do "
                      "not divide the {}: plan with a multiple",
                      layout_.stages, layout_.micro_batches));
  }

  void write_sharding() {
    const StateSharding& states = layout_.states;
    if (states.stage == 0) return;
    flag("--use-distributed-optimizer");
    if (states.stage > 1) {
      flag("--use-megatron-fsdp");
      add("--data-parallel-sharding-strategy",
          states.stage == 2 ? "optim_grads" : "optim_grads_params");
      add("--ckpt-format", "fsdp_dtensor");
    }
    if (states.rows > 0)
      add("--num-distributed-optimizer-instances", layout_.all_rows() / states.rows);
    if (states.stage > 1 && layout_.stages > 1)
      unsaid(
          fmt::format("ZeRO {} in a pipeline is what Megatron-FSDP may refuse: try it on few "
                      "devices, or plan with shard=updates",
                      states.stage));
  }

  void write_recomputation() {
    if (layout_.recompute == Recompute::Blocks) {
      add("--recompute-granularity", "full");
      add("--recompute-method", "uniform");
      add("--recompute-num-layers", layout_.recomputed_layers);
    }
    if (layout_.recompute != Recompute::Cheap) return;
    add("--recompute-granularity", "selective");
    add("--recompute-modules", has_experts_ ? "layernorm moe_act" : "layernorm");
    unsaid(
        "the plan computes all of a layer again that is bound by memory (norms, activation "
        "functions, sums); Megatron-LM does so by modules, and these are the nearest");
  }

  void write_offloading() {
    if (layout_.offload == Offload::None) return;
    unsaid(
        fmt::format("the plan keeps {} on hosts, and updates on the GPUs; "
                    "--optimizer-cpu-offload keeps states there and updates there, too",
                    layout_.offload == Offload::All      ? "optimizer states and activations"
                    : layout_.offload == Offload::States ? "optimizer states"
                                                         : "activations"));
  }

  const TrainingLayout& layout_;
  const bool has_experts_;
  ParallelArguments written_;
};

}  // namespace

ParallelArguments parallel_arguments(const TrainingLayout& layout, bool has_experts) {
  return ArgumentWriter(layout, has_experts).write();
}

}  // namespace strato::frameworks
