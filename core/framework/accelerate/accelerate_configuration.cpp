#include "core/framework/accelerate/accelerate_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/number_from.h"
#include "core/framework/deepspeed/deepspeed_configuration.h"
#include "core/framework/layout/reading.h"
#include "core/framework/megatron/parallel_arguments.h"

namespace strato::frameworks {
namespace {

using Names = std::vector<std::string>;

// Megatron-LM's arguments by what Accelerate calls them, behind "megatron_lm_config.megatron_lm_".
struct SameArgument {
  std::string_view ours, megatrons;
  bool flag = false;
};
constexpr std::array kMegatron = {
    SameArgument{"tp_degree", "--tensor-model-parallel-size"},
    SameArgument{"pp_degree", "--pipeline-model-parallel-size"},
    SameArgument{"context_parallel_size", "--context-parallel-size"},
    SameArgument{"expert_model_parallel_size", "--expert-model-parallel-size"},
    SameArgument{"expert_tensor_parallel_size", "--expert-tensor-parallel-size"},
    SameArgument{"decoder_last_pipeline_num_layers", "--decoder-last-pipeline-num-layers"},
    SameArgument{"sequence_parallelism", "--sequence-parallel", true},
    SameArgument{"use_distributed_optimizer", "--use-distributed-optimizer", true},
    SameArgument{"use_custom_fsdp", "--use-custom-fsdp", true},
    SameArgument{"optimizer_cpu_offload", "--optimizer-cpu-offload", true},
    SameArgument{"recompute_activations", "--recompute-activations", true},
    SameArgument{"recompute_granularity", "--recompute-granularity"},
    SameArgument{"recompute_method", "--recompute-method"},
    SameArgument{"recompute_num_layers", "--recompute-num-layers"},
};

class AccelerateReader : Reading {
 public:
  AccelerateReader(GivenArguments given, const Training& training)
      : Reading(std::move(given), training) {}

  ReadLayout read() && {
    check_devices();
    const std::string type = given_.text("distributed_type").value_or("NO");
    if (type == "MEGATRON_LM") return read_megatron();
    read_mesh();
    if (type == "FSDP")
      read_fsdp();
    else if (type == "DEEPSPEED")
      read_deepspeed_section();
    else if (!type.starts_with("MULTI_") && type != "NO" && type != "false")
      given_.refuse("distributed_type", fmt::format("is \"{}\"", shortened(type)),
                    "give one of: NO, MULTI_GPU, FSDP, DEEPSPEED, MEGATRON_LM");
    divide_layers(layout(), training_, given_, "num_processes");
    read_samples();
    if (layout().recompute == Recompute::None)
      layout().recompute = training_.program.recompute.value_or(Recompute::None);
    return finished();
  }

 private:
  void check_devices() {
    if (given_.text("compute_environment").value_or("") == "AMAZON_SAGEMAKER")
      given_.refuse("compute_environment", "is AMAZON_SAGEMAKER, which says nothing of devices",
                    "give a configuration for machines (LOCAL_MACHINE)");
    const auto processes = given_.number_unless("num_processes", {"-1"});
    if (processes && *processes != training_.devices)
      given_.refuse(
          "num_processes",
          fmt::format("is {}, and the cluster has {} devices", *processes, training_.devices),
          "give a cluster of so many, or correct it");
    given_.has("num_machines");
    given_.has("mixed_precision");
  }

  std::int32_t size_of(std::string_view dimension) {
    return given_.number(fmt::format("parallelism_config.parallelism_config_{}_size", dimension))
        .value_or(1);
  }

  // Names without the long prefix are passed over by Accelerate, and nobody means that.
  void refuse_short_names() const {
    for (const std::string& name : given_.names())
      if (name.starts_with("parallelism_config.") &&
          !name.starts_with("parallelism_config.parallelism_config_"))
        given_.refuse(name, "lacks its prefix, and Accelerate passes over it",
                      "write it as parallelism_config_" + name.substr(name.find('.') + 1));
  }

  void read_mesh() {
    refuse_short_names();
    replicas_ = size_of("dp_replicate");
    shards_ = size_of("dp_shard");
    layout().tensor = size_of("tp");
    const std::int32_t gathered = size_of("cp"), swapped = size_of("sp");
    if (gathered > 1 && swapped > 1)
      given_.refuse("parallelism_config.parallelism_config_sp_size",
                    "divides positions, as parallelism_config_cp_size does", "give one of them");
    layout().context = std::max(gathered, swapped);
    const std::int64_t all = std::int64_t{replicas_} * shards_ * layout().tensor * layout().context;
    says_rows_ = all > 1 && replicas_ * shards_ > 1;
    const std::string blamed = layout().tensor > 1
                                   ? "parallelism_config.parallelism_config_tp_size"
                                   : "parallelism_config.parallelism_config_cp_size";
    if (all > 1 && all != training_.devices)
      given_.refuse(
          blamed,
          fmt::format("makes {} devices with the other dimensions, and the cluster has {}", all,
                      training_.devices),
          "give sizes whose product is that");
    find_rows(layout(), training_, given_, blamed);
    remark_on_positions();
  }

  // ---- FSDP

  std::optional<std::string> of_fsdp(const std::string& name) {
    const std::string found = given_.first_of({"fsdp_config.fsdp_" + name, "fsdp_config." + name});
    return given_.text(found);
  }
  bool fsdp_says(const std::string& name) {
    const auto text = of_fsdp(name);
    return text && (*text == "true" || *text == "True");
  }

  void read_fsdp() {
    const bool is_second = of_fsdp("version").value_or("1") == "2";
    is_second ? read_second_fsdp() : read_first_fsdp();
    if (fsdp_says("offload_params")) {
      layout().offload = Offload::States;
      remark("fsdp_offload_params: parameters rest on GPUs here, and are updated there");
    }
    if (fsdp_says("activation_checkpointing")) layout().recompute = Recompute::Blocks;
    if (layout().recompute == Recompute::Blocks && is_second)
      remark(
          "fsdp_activation_checkpointing: the parts of a layer are computed again one by one "
          "by Accelerate, and blocks of layers here");
  }

  void read_first_fsdp() {
    const Names names = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                         "HYBRID_SHARD_ZERO2"};
    const std::string name = "fsdp_config.fsdp_sharding_strategy";
    std::string how = of_fsdp("sharding_strategy").value_or(names.front());
    if (const auto number = number_from<std::int32_t>(how, 1, 5))
      how = names[static_cast<std::size_t>(*number - 1)];
    if (std::ranges::find(names, how) == names.end())
      given_.refuse(name, fmt::format("is \"{}\"", shortened(how)),
                    "give FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or HYBRID_SHARD_ZERO2");
    const std::string after = of_fsdp("reshard_after_forward").value_or("");
    if (std::ranges::find(names, after) != names.end() && after != how)
      remark("fsdp_reshard_after_forward is {}, which Accelerate passes over in version 1: {}",
             after, how);
    if (how == "NO_SHARD") return;
    const bool within_machines = how.starts_with("HYBRID");
    const std::int64_t rows =
        within_machines ? training_.devices_of_machine : std::int64_t{layout().all_rows()};
    const bool keeps_parameters = how == "SHARD_GRAD_OP" || how == "HYBRID_SHARD_ZERO2";
    share_states(layout(), keeps_parameters ? 2 : 3, static_cast<std::int32_t>(rows), given_, name);
  }

  void read_second_fsdp() {
    const bool again = of_fsdp("reshard_after_forward").value_or("true") != "false";
    of_fsdp("sharding_strategy");  // passed over in version 2
    const std::int32_t rows = says_rows_ ? shards_ * layout().context : layout().all_rows();
    share_states(layout(), again ? 3 : 2, rows, given_,
                 "parallelism_config.parallelism_config_dp_shard_size");
  }

  // ---- DeepSpeed

  std::string of_deepspeed(const std::string& name) { return "deepspeed_config." + name; }

  void read_deepspeed_section() {
    if (const auto file = given_.text(of_deepspeed("deepspeed_config_file")))
      given_.refuse(of_deepspeed("deepspeed_config_file"),
                    fmt::format("is {}, which has the rest", shortened(*file)),
                    "give that file instead");
    const std::int32_t stage = zero_stage_of(given_, of_deepspeed("zero_stage"), 2);
    share_states(layout(), stage, layout().all_rows(), given_, of_deepspeed("zero_stage"));
    if (rests_on_host(given_, of_deepspeed("offload_optimizer_device")) && stage > 0) {
      layout().offload = Offload::States;
      remark("offload_optimizer_device: DeepSpeed updates on the CPU; here the GPU does");
    }
    if (rests_on_host(given_, of_deepspeed("offload_param_device")) &&
        stage == StateSharding::kMostStage)
      remark("offload_param_device: here parameters rest on GPUs");
  }

  // ---- Megatron-LM

  // As Megatron-LM's arguments, with as many samples as the micro-batches make of the batch.
  ReadLayout read_megatron() {
    const std::string prefix = "megatron_lm_config.megatron_lm_";
    std::vector<ScriptWord> words;
    const auto add = [&](std::string_view name) { words.push_back({.text = std::string(name)}); };
    std::int64_t together = 1;
    for (const SameArgument& same : kMegatron) {
      const std::string name = prefix + std::string(same.ours);
      if (same.flag) {
        if (given_.yes_or_no(name).value_or(false)) add(same.megatrons);
      } else if (const auto text = given_.text(name)) {
        add(same.megatrons);
        add(*text);
      }
      if (same.ours == "tp_degree" || same.ours == "pp_degree" ||
          same.ours == "context_parallel_size")
        together *= given_.number(name).value_or(1);
    }
    const std::int32_t steps = given_.number(prefix + "num_micro_batches").value_or(1);
    const std::int64_t rows = std::max<std::int64_t>(1, training_.devices / together);
    if (training_.batch % (rows * steps) != 0)
      given_.refuse(prefix + "num_micro_batches",
                    fmt::format("is {}: so many of {} rows do not divide the batch of {}", steps,
                                rows, training_.batch),
                    "give another number, or another batch");
    for (const std::string& word :
         {std::string("--micro-batch-size"), fmt::format("{}", training_.batch / (rows * steps)),
          std::string("--global-batch-size"), fmt::format("{}", training_.batch)})
      add(word);
    read_ = read_layout(words, training_, given_.file());
    return finished();
  }

  // ---- samples

  void read_samples() {
    const auto steps = given_.number_unless(of_deepspeed("gradient_accumulation_steps"), {"auto"});
    const std::int32_t size = training_.program.micro_batch_size;
    if (!steps && size > 0)
      return divide_batch(layout(), training_, given_, size, "micro_batch_size");
    divide_batch_in(layout(), training_, given_, steps.value_or(1),
                    steps ? of_deepspeed("gradient_accumulation_steps") : "num_processes");
    if (!steps)
      remark(
          "the file says nothing of the batch: a step is one micro-batch (set micro_batch_size "
          "where gradients are accumulated)");
  }

  std::int32_t replicas_ = 1, shards_ = 1;
  bool says_rows_ = false;
};

}  // namespace

bool is_accelerate(const GivenArguments& given) {
  return std::ranges::any_of(given.names(), [](const std::string& name) {
    return name == "distributed_type" || name == "compute_environment" ||
           name.starts_with("parallelism_config.") || name.starts_with("fsdp_config.");
  });
}

ReadLayout read_accelerate(GivenArguments given, const Training& training) {
  return AccelerateReader(std::move(given), training).read();
}

}  // namespace strato::frameworks
