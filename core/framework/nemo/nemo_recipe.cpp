#include "core/framework/nemo/nemo_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/number_from.h"
#include "core/framework/layout/pytorch_pipeline.h"
#include "core/framework/layout/reading.h"

namespace strato::frameworks {
namespace {

class RecipeReader : Reading {
 public:
  RecipeReader(GivenArguments given, const Training& training)
      : Reading(std::move(given), training) {}

  ReadLayout read() && {
    refuse_other_training();
    check_length();
    read_sizes();
    read_blocks();
    read_samples();
    read_states();
    read_recomputation();
    return finished();
  }

 private:
  static std::string of(std::string_view name) { return "distributed." + std::string(name); }
  bool has_section(std::string_view section) const {
    return std::ranges::any_of(given_.names(), [&](const std::string& name) {
      return name == section || name.starts_with(std::string(section) + ".");
    });
  }

  void refuse_other_training() {
    const auto refuse = [&](const char* section, const char* remedy) {
      if (has_section(section)) given_.refuse(section, "is not supported", remedy);
    };
    refuse("peft", "plan the training of all parameters: leave it out");
    refuse("teacher_model", "plan the training of one model: leave it out");
    refuse("fsdp", "give a recipe with \"distributed\"");
    if (given_.text(of("pipeline.pp_schedule_csv")))
      given_.refuse(of("pipeline.pp_schedule_csv"), "is not supported",
                    "give a schedule by name, or a plan whose schedule is a table");
  }

  // No one name has it: what the benchmarks and packed samples say.
  void check_length() {
    const auto model = std::ranges::find(training_.model, "--seq-length", &Argument::name);
    for (const char* name : {"packed_sequence.packed_sequence_size", "dataset.seq_len"}) {
      const auto given = given_.number_unless(name, {"0"});
      if (!given || model == training_.model.end()) continue;
      if (number_from<std::int64_t>(model->value) != *given)
        given_.refuse(name, fmt::format("is {}, and the model has {}", *given, model->value),
                      fmt::format("plan with --set-dim sequence={}", *given));
    }
  }

  std::optional<std::int32_t> size(std::string_view name) {
    return given_.number_unless(of(name), {"none", "None", "0", "-1"});
  }

  // "fsdp2", "megatron_fsdp" or "ddp"; before 2026 the name of a class said so.
  std::string strategy() {
    const std::string name = of("strategy");
    std::string given = given_.text(name).value_or("");
    const std::string by_class = given_.text(of("_target_")).value_or("");
    if (given.empty())
      given = by_class.ends_with("DDPManager") ? "ddp"
              : by_class.find("Megatron") != std::string::npos ||
                      by_class.find("NVFSDP") != std::string::npos
                  ? "megatron_fsdp"
                  : "fsdp2";
    std::ranges::replace(given, '-', '_');
    if (given == "mfsdp") given = "megatron_fsdp";
    if (given != "fsdp2" && given != "megatron_fsdp" && given != "ddp")
      given_.refuse(name, fmt::format("is \"{}\"", shortened(given)),
                    "give fsdp2, megatron_fsdp or ddp");
    return given;
  }

  void read_sizes() {
    layout().tensor = size("tp_size").value_or(1);
    layout().context = size("cp_size").value_or(1);
    layout().stages = size("pp_size").value_or(1);
    find_rows(layout(), training_, given_,
              of(layout().context > 1  ? "cp_size"
                 : layout().stages > 1 ? "pp_size"
                                       : "tp_size"));
    if (const auto rows = size("dp_size"); rows && *rows != layout().rows)
      given_.refuse(of("dp_size"),
                    fmt::format("is {}, and the devices make {} rows", *rows, layout().rows),
                    "give none, or that number");
    remark_on_positions();
    layout().sequence =
        given_.yes_or_no(of("sequence_parallel")).value_or(false) || layout().tensor == 1;
    read_experts();
  }

  // They are among all devices of a stage, columns and rows with the same samples, too.
  void read_experts() {
    const std::int32_t degree = size("ep_size").value_or(1);
    if (degree == 1 || training_.experts() == 0) return;
    const std::int32_t beside = layout().tensor * layout().context;
    layout().expert = degree % beside == 0 ? std::max(1, degree / beside) : degree;
    if (beside > 1)
      remark(
          "ep_size: experts are whole on each of {} devices there; here columns divide each, and "
          "{} rows have them among them",
          degree, layout().expert);
    check_experts(layout(), training_, given_, of("ep_size"));
  }

  // ---- stages

  // Under "distributed", or as before 2026 by itself.
  std::string of_pipeline(std::string_view name) {
    const std::string now = of("pipeline." + std::string(name));
    const std::string before = "autopipeline." + std::string(name);
    return given_.first_of({before, now});
  }

  void read_blocks() {
    const std::string schedule = of_pipeline("pp_schedule");
    const PytorchSchedule known = read_pytorch_schedule(layout(), given_, schedule);
    const std::string modules = has_section("autopipeline")
                                    ? "autopipeline.module_fqns_per_model_part"
                                    : of("pipeline.module_fqns_per_model_part");
    const std::string each_name = of_pipeline("layers_per_stage");
    const auto each = given_.number_unless(each_name, {"none", "None"});
    if (layout().stages == 1) {
      layout().blocks = even_blocks(training_.layers, 1);
    } else if (given_.has(modules + ".0")) {
      read_pytorch_modules(layout(), training_, given_, modules);
    } else {
      spread_layers(
          each ? rounded((training_.layers + *each - 1) / *each) : layout().stages * known.chunks,
          each ? each_name : of("pp_size"));
    }
    find_chunks(layout(), given_, known, each ? each_name : schedule);
  }

  // To a multiple of the stages, if the recipe says which way.
  std::int32_t rounded(std::int32_t parts) {
    const std::string name = of_pipeline("round_virtual_stages_to_pp_multiple");
    const std::string how = given_.one_of(name, {"up", "down", "none", "None"});
    const std::int32_t stages = layout().stages, rest = parts % stages;
    if (rest == 0 || (how != "up" && how != "down")) return parts;
    return how == "up" ? parts + stages - rest : std::max(stages, parts - rest);
  }

  // As even as they are, the first parts have one more.
  void spread_layers(std::int32_t parts, const std::string& blamed) {
    if (parts > training_.layers)
      given_.refuse(blamed, fmt::format("makes {} parts of {} layers", parts, training_.layers),
                    "give a number that makes fewer");
    for (std::int32_t i = 0; i < parts; ++i)
      layout().blocks.push_back(
          {.layers = training_.layers / parts + (i < training_.layers % parts ? 1 : 0)});
    layout().blocks.front().embedding = layout().blocks.back().head = true;
  }

  // ---- samples

  void read_samples() {
    const std::string name = "step_scheduler.local_batch_size";
    const std::string all_name = "step_scheduler.global_batch_size";
    const std::string size_name = of_pipeline("pp_microbatch_size");
    const auto turns = given_.number("step_scheduler.grad_acc_steps");  // as at first
    const auto loaded = given_.number_unless("dataloader.batch_size", {"none", "None"});
    const std::int64_t row = given_.number(name).value_or(turns && loaded ? *loaded : 1);
    const std::int64_t at_once = row * layout().rows;
    check_batch(training_, given_,
                turns ? at_once * *turns : std::int64_t{given_.number(all_name).value_or(32)},
                turns ? "step_scheduler.grad_acc_steps" : all_name);
    const std::int64_t samples = layout().stages == 1 ? row : given_.number(size_name).value_or(1);
    const std::int64_t rounds = divide_turns(layout(), training_, given_, row, name, samples,
                                             layout().stages == 1 ? name : size_name);
    if (rounds > 1 && layout().stages > 1)
      remark("the pipeline is emptied {} times a step by NeMo Automodel, and once here", rounds);
  }

  // ---- states, what is computed again

  void read_states() {
    const std::string how = strategy();
    if (how == "ddp") return;
    const std::string replicas = of("dp_replicate_size");
    const std::int32_t copies = size("dp_replicate_size").value_or(1);
    if (layout().rows % copies != 0)
      given_.refuse(replicas,
                    fmt::format("is {}, which does not divide the {} rows", copies, layout().rows),
                    "give a number that divides them");
    share_states(layout(),
                 how == "fsdp2" ? fsdp_stage() : zero_stage_of(given_, of("zero_dp_strategy"), 3),
                 layout().all_rows() / copies, given_, replicas);
    if (given_.has(of("offload_policy._target_"))) {
      layout().offload = Offload::States;
      remark("offload_policy: parameters rest on GPUs here, and are updated there");
    }
  }

  // Mixtures whose experts are divided keep parameters until the backward pass, if nothing is said.
  std::int32_t fsdp_stage() {
    const auto all = given_.yes_or_no(of("reshard_after_forward"));
    const std::string experts =
        given_.first_of({"parallelizer.reshard_after_forward", of("moe.reshard_after_forward")});
    const auto of_experts = given_.yes_or_no(experts);
    const bool again = all.value_or(layout().expert > 1 ? of_experts.value_or(false) : true);
    return again ? StateSharding::kMostStage : 2;
  }

  void read_recomputation() {
    const std::string name =
        given_.first_of({"parallelizer.activation_checkpointing", of("activation_checkpointing")});
    const std::string how =
        given_.one_of(name, {"true", "false", "full", "selective", "none", "None"});
    if (how == "true" || how == "full") layout().recompute = Recompute::Blocks;
    if (how != "selective") return;
    layout().recompute = Recompute::Cheap;
    remark("computed again is all of a layer that is bound by memory, no product among it");
  }
};

}  // namespace

bool is_nemo(const GivenArguments& given) {
  return std::ranges::any_of(given.names(), [](const std::string& name) {
    return name.starts_with("step_scheduler.") || name.starts_with("distributed.");
  });
}

ReadLayout read_nemo(GivenArguments given, const Training& training) {
  return RecipeReader(std::move(given), training).read();
}

}  // namespace strato::frameworks
