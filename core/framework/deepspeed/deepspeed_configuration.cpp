#include "core/framework/deepspeed/deepspeed_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/framework/layout/reading.h"

namespace strato::frameworks {
namespace {

// Names that change what is computed where, and what to do instead.
struct Refused {
  std::string_view name, remedy;
};
constexpr std::array kRefused = {
    Refused{"elasticity.enabled", "give the batch that it chooses, as train_batch_size"},
    Refused{"zero_optimization.zenflow", "leave it out: updates are all made in each step here"},
    Refused{"curriculum_learning.enabled", "plan for each length of a sequence by itself"},
    Refused{"progressive_layer_drop.enabled", "leave it out"},
    Refused{"compression_training", "plan the model that is compressed already"},
    Refused{"sparse_attention", "leave it out: attention is dense here"},
    Refused{"autotuning.enabled", "give the configuration that it has found"},
};

constexpr std::string_view kLayout = "stratoscope.layout.";  // of the exporter "deepspeed"

class DeepSpeedReader : Reading {
 public:
  DeepSpeedReader(GivenArguments given, const Training& training)
      : Reading(std::move(given), training) {}

  ReadLayout read() && {
    for (const Refused& refused : kRefused) {
      const std::string name(refused.name);
      if (given_.has(name) && given_.values(name) != std::vector<std::string>{"false"})
        given_.refuse(name, "is not supported", std::string(refused.remedy));
    }
    read_sizes();
    read_blocks();
    read_samples();
    read_experts();
    read_states();
    read_recomputation();
    read_.passed_over = given_.unread();
    std::erase_if(read_.passed_over, [](const std::string& name) {
      return name.starts_with("_") || name.starts_with("stratoscope");
    });
    return std::move(read_);
  }

 private:
  // What the file leaves to the program: as the exporter has written it there.
  std::optional<std::int32_t> of_program(std::string_view name) {
    return given_.number(std::string(kLayout) + std::string(name));
  }
  std::optional<std::int32_t> number(const std::string& name) {
    return given_.number_unless(name, {"auto"});
  }

  void read_sizes() {
    layout().tensor = given_.number_unless("tensor_parallel.autotp_size", {"auto", "0"})
                          .value_or(of_program("tensor").value_or(1));
    if (layout().tensor > 1) layout().pieces = of_program("pieces").value_or(1);
    layout().sequence = layout().tensor == 1 || !of_program("whole_norms");
    layout().context = number("sequence_parallel_size").value_or(of_program("context").value_or(1));
    layout().stages = of_program("stages").value_or(std::max(1, training_.program.stages));
    find_rows(layout(), training_, given_,
              layout().tensor > 1    ? "tensor_parallel.autotp_size"
              : layout().context > 1 ? "sequence_parallel_size"
                                     : "stages");
    remark_on_positions();
  }

  void read_blocks() {
    const std::string blocks = std::string(kLayout) + "blocks";
    if (const auto text = given_.text(blocks))
      read_stage_string(layout(), training_, given_, *text, blocks);
    else
      divide_layers(layout(), training_, given_, "stages");
    const auto names =
        std::vector<std::string>(kPipelineSchedules.begin(), kPipelineSchedules.end());
    const std::string name = given_.one_of(std::string(kLayout) + "schedule", names);
    layout().schedule = pipeline_schedule_from(name).value_or(PipelineSchedule::OneFOneB);
  }

  // DeepSpeed's own check multiplies by all devices of a stage, columns among them, which have the
  // same samples.
  void read_samples() {
    const std::int64_t copies = std::int64_t{layout().rows} * layout().tensor;
    const auto micro = number("train_micro_batch_size_per_gpu");
    const auto steps = number("gradient_accumulation_steps");
    const auto all = number("train_batch_size");
    if (all && *all % layout().tensor == 0)
      check_batch(training_, given_, *all / layout().tensor, "train_batch_size");
    if (all && micro && steps && std::int64_t{*micro} * *steps * copies != *all)
      given_.refuse("train_batch_size",
                    fmt::format("is {}, and {} samples x {} steps x {} devices are {}", *all,
                                *micro, *steps, copies, std::int64_t{*micro} * *steps * copies),
                    "leave one of the three out");
    if (micro) {
      divide_batch(layout(), training_, given_, *micro, "train_micro_batch_size_per_gpu");
      if (steps && layout().micro_batches != *steps)
        given_.refuse(
            "gradient_accumulation_steps",
            fmt::format("is {}, and the batch of {} has {} micro-batches of so many "
                        "samples",
                        *steps, training_.batch, layout().micro_batches),
            fmt::format("plan with --batch {}", std::int64_t{*micro} * *steps * layout().rows));
      return;
    }
    // The file says how many micro-batches there are, or the caller how many samples each has.
    if (!steps && training_.program.micro_batch_size > 0)
      divide_batch(layout(), training_, given_, training_.program.micro_batch_size,
                   "micro_batch_size");
    else
      divide_batch_in(layout(), training_, given_, steps.value_or(1),
                      "gradient_accumulation_steps");
  }

  void read_experts() {
    const std::string automatic = "expert_parallel.autoep_size";
    const bool on = given_.yes_or_no("expert_parallel.enabled").value_or(false);
    layout().expert =
        (on ? given_.number(automatic) : std::nullopt).value_or(of_program("expert").value_or(1));
    check_experts(layout(), training_, given_, automatic);
  }

  std::int32_t zero_stage() {
    if (given_.has("zero_optimization"))  // as it was written once: true
      return given_.yes_or_no("zero_optimization").value_or(false) ? 1 : 0;
    return zero_stage_of(given_, "zero_optimization.stage", 0);
  }

  void read_states() {
    const std::int32_t stage = zero_stage();
    const std::string few = "zero_optimization.mics_shard_size";
    const auto rows = given_.number_unless(few, {"auto", "-1", "0"});
    share_states(layout(), stage,
                 rows.value_or(of_program("state_rows").value_or(layout().all_rows())), given_,
                 few);
    const auto twice =
        given_.number_unless("zero_optimization.zero_hpz_partition_size", {"auto", "0", "1"});
    if (twice && stage == StateSharding::kMostStage)
      remark(
          "zero_hpz_partition_size: here parameters are gathered from all rows in the backward "
          "pass, too, and there is no second copy");
    for (const char* name : {"zero_quantized_weights", "zero_quantized_gradients"})
      if (given_.yes_or_no(std::string("zero_optimization.") + name).value_or(false))
        remark("{}: here as many bytes are sent as without it", name);
    const bool states = is_on_host("offload_optimizer", "cpu_offload") && stage > 0;
    const bool parameters = is_on_host("offload_param", "cpu_offload_param");
    if (states) {
      layout().offload = Offload::States;
      remark("offload_optimizer: DeepSpeed updates on the CPU; here the GPU does");
    }
    if (parameters && stage == StateSharding::kMostStage)
      remark("offload_param: here parameters rest on GPUs");
    const auto names = std::vector<std::string>(kOffload.begin(), kOffload.end());
    const std::string all = given_.one_of(std::string(kLayout) + "offload", names);
    layout().offload = offload_from(all).value_or(layout().offload);
    if (layout().stages > 1 && stage > 1) remark("DeepSpeed refuses ZeRO {} in a pipeline", stage);
    read_small_parameters(stage);
  }

  void read_small_parameters(std::int32_t stage) {
    for (const char* name : {"zero_optimization.stage3_param_persistence_threshold",
                             "zero_optimization.param_persistence_threshold"})
      given_.has(name);
    if (stage == StateSharding::kMostStage)
      remark("parameters that DeepSpeed keeps whole since they are small are kept in parts here");
  }

  bool is_on_host(const std::string& section, const std::string& once) {
    return rests_on_host(given_, "zero_optimization." + section + ".device") ||
           given_.yes_or_no("zero_optimization." + once).value_or(false);
  }

  void read_recomputation() {
    const std::string name = std::string(kLayout) + "recompute";
    const auto names = std::vector<std::string>(kRecompute.begin(), kRecompute.end());
    const auto each =
        given_.number_unless("pipeline.activation_checkpoint_interval", {"0", "auto"});
    const auto given = recompute_from(given_.one_of(name, names));
    layout().recompute = given ? *given
                         : each && layout().stages > 1
                             ? Recompute::Blocks
                             : training_.program.recompute.value_or(Recompute::None);
    layout().recomputed_layers = each.value_or(of_program("recomputed_layers").value_or(1));
    if (given_.yes_or_no("activation_checkpointing.cpu_checkpointing").value_or(false))
      remark("cpu_checkpointing: here results that are kept for the backward pass are on GPUs");
    if (layout().recompute == Recompute::None)
      remark(
          "whether activations are computed again is up to the program: here none are (set "
          "recompute=blocks where they are)");
  }
};

}  // namespace

bool is_deepspeed(const GivenArguments& given) {
  static constexpr std::array<std::string_view, 4> kTelling = {
      "train_batch_size", "train_micro_batch_size_per_gpu", "zero_optimization",
      "gradient_accumulation_steps"};
  return std::ranges::any_of(given.names(), [](const std::string& name) {
    return std::ranges::find(kTelling, std::string_view(name).substr(0, name.find('.'))) !=
           kTelling.end();
  });
}

bool rests_on_host(GivenArguments& given, const std::string& name) {
  const std::string where = given.one_of(name, {"none", "cpu", "nvme"});
  if (where == "nvme")
    given.refuse(name, "is nvme: nothing rests on disks here", "give cpu, or leave it out");
  return where == "cpu";
}

ReadLayout read_deepspeed(GivenArguments given, const Training& training) {
  return DeepSpeedReader(std::move(given), training).read();
}

}  // namespace strato::frameworks
