#include "core/framework/torchtitan/torchtitan_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/at.h"
#include "core/base/number_from.h"
#include "core/framework/layout/pytorch_pipeline.h"
#include "core/framework/layout/reading.h"

namespace strato::frameworks {
namespace {

// Names of before, and those of the last TOML files.
const std::map<std::string, std::string, std::less<>>& todays_names() {
  static const std::map<std::string, std::string, std::less<>> names = {
      {"training.data_parallel_degree", "parallelism.data_parallel_shard_degree"},
      {"training.data_parallel_shard_degree", "parallelism.data_parallel_shard_degree"},
      {"training.data_parallel_replicate_degree", "parallelism.data_parallel_replicate_degree"},
      {"training.sequence_parallel_degree", "parallelism.tensor_parallel_degree"},
      {"training.tensor_parallel_degree", "parallelism.tensor_parallel_degree"},
      {"training.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree"},
      {"training.fsdp_reshard_after_forward", "parallelism.fsdp_reshard_after_forward"},
      {"training.batch_size", "training.local_batch_size"},
  };
  return names;
}

std::string todays_name(const std::string& given) {
  std::string name = given.starts_with("--") ? given.substr(2) : given;
  std::ranges::replace(name, '-', '_');
  if (const auto found = todays_names().find(name); found != todays_names().end())
    return found->second;
  for (const std::string_view kind : {"pipeline_parallel_", "context_parallel_"})
    if (name.starts_with("experimental." + std::string(kind)))
      return "parallelism." + name.substr(name.find('.') + 1);
  return name;
}

// Names that change what is computed where, with the values that do not.
struct Refused {
  std::string_view name, harmless, remedy;
};
constexpr std::array kRefused = {
    Refused{"parallelism.pipeline_parallel_schedule_csv", "",
            "give a schedule by name, or a plan whose schedule is a table"},
    Refused{"fault_tolerance.enable", "false", "plan for one of the groups of replicas"},
    Refused{"training.data_parallel_type", "fsdp", "give data_parallel_replicate_degree instead"},
    Refused{"experimental.pipeline_parallel_split_mode", "manual", "give manual"},
};

class TorchtitanReader : Reading {
 public:
  TorchtitanReader(GivenArguments given, const Training& training)
      : Reading(std::move(given), training) {}

  ReadLayout read() && {
    // A command line adds to a configuration that is not here; a file is whole.
    is_whole_ = !std::ranges::any_of(
        given_.names(), [](const std::string& name) { return name.starts_with("--"); });
    given_.rename(todays_name);
    for (const Refused& refused : kRefused) {
      const std::string name(refused.name);
      const auto text = given_.has(name) ? given_.text(name) : std::nullopt;
      if (text && *text != refused.harmless)
        given_.refuse(name, "is not supported", std::string(refused.remedy));
    }
    check_lengths();
    read_sizes();
    read_blocks();
    read_samples();
    read_experts();
    read_states();
    read_recomputation();
    return finished();
  }

 private:
  static std::string of_parallelism(std::string_view name) {
    return "parallelism." + std::string(name);
  }

  void check_lengths() {
    const auto model = std::ranges::find(training_.model, "--seq-length", &Argument::name);
    const std::string name = given_.first_of({"training.seq_len", "training.max_context_length"});
    const auto given = given_.number(name);
    if (model == training_.model.end()) return;
    tokens_ = number_from<std::int64_t>(model->value).value_or(0);
    if (given && *given != tokens_)
      given_.refuse(name, fmt::format("is {}, and the model has {}", *given, tokens_),
                    fmt::format("plan with --set-dim sequence={}", *given));
  }

  void read_sizes() {
    layout().tensor = given_.number(of_parallelism("tensor_parallel_degree")).value_or(1);
    layout().context = given_.number(of_parallelism("context_parallel_degree")).value_or(1);
    layout().stages = given_.number(of_parallelism("pipeline_parallel_degree")).value_or(1);
    const std::string shards = of_parallelism("data_parallel_shard_degree");
    find_rows(layout(), training_, given_,
              of_parallelism(layout().context > 1  ? "context_parallel_degree"
                             : layout().stages > 1 ? "pipeline_parallel_degree"
                                                   : "tensor_parallel_degree"));
    replicas_ = given_.number(of_parallelism("data_parallel_replicate_degree")).value_or(1);
    const auto shard = given_.number_unless(shards, {"-1"});
    shards_ = shard.value_or(std::max(1, layout().rows / replicas_));
    if (std::int64_t{replicas_} * shards_ != layout().rows)
      given_.refuse(shard ? shards : of_parallelism("data_parallel_replicate_degree"),
                    fmt::format("makes {} x {} rows, and the devices make {}", replicas_, shards_,
                                layout().rows),
                    "give -1 for data_parallel_shard_degree, or numbers whose product that is");
    remark_on_positions();
    for (const char* name : {"context_parallel_rotate_method", "context_parallel_load_balancer",
                             "disable_loss_parallel"})
      given_.has(of_parallelism(name));
    if (given_.yes_or_no(of_parallelism("enable_async_tensor_parallel")).value_or(false))
      layout().pieces = layout().tensor;
  }

  // ---- stages

  void read_blocks() {
    const std::string schedule = of_parallelism("pipeline_parallel_schedule");
    const PytorchSchedule known = read_pytorch_schedule(layout(), given_, schedule);
    const std::string modules = of_parallelism("module_fqns_per_model_part");
    const std::string points = of_parallelism("pipeline_parallel_split_points");
    const std::string each = of_parallelism("pipeline_parallel_layers_per_stage");
    const auto layers_each = given_.number(each);
    const std::int32_t first = less_layers("first"), last = less_layers("last");
    if (given_.has(modules + ".0")) {
      read_pytorch_modules(layout(), training_, given_, modules);
    } else if (given_.has(points) && !given_.values(points).empty() && layout().stages > 1) {
      read_points(points);
    } else {
      const std::int32_t all = training_.layers + first + last;
      const std::int32_t parts = layout().stages == 1 ? 1
                                 : layers_each        ? (all + *layers_each - 1) / *layers_each
                                                      : layout().stages * known.chunks;
      layout().blocks = torchtitan_blocks(training_.layers, parts, first, last);
      if (layout().blocks.empty())
        given_.refuse(of_parallelism("pipeline_parallel_degree"),
                      fmt::format("makes {} parts of {} layers", parts, training_.layers),
                      "give fewer stages");
    }
    find_chunks(layout(), given_, known, layers_each ? each : schedule);
  }

  // Parts of the first or the last stage count as so many layers.
  std::int32_t less_layers(std::string_view which) {
    const std::string name =
        of_parallelism(fmt::format("pipeline_parallel_{}_stage_less_layers", which));
    return given_.text(name) == "0" ? 0 : given_.number(name).value_or(1);
  }

  // "layers.4,layers.8": with which layer a part begins.
  void read_points(const std::string& name) {
    std::vector<std::string> points;
    for (const std::string& value : given_.values(name)) {
      std::size_t from = 0;
      for (std::size_t comma = 0; comma != std::string::npos; from = comma + 1) {
        comma = value.find(',', from);
        points.push_back(value.substr(from, comma == std::string::npos ? comma : comma - from));
      }
    }
    std::int32_t before = 0;
    for (const std::string& point : points) {
      const auto layer =
          point.starts_with("layers.")
              ? number_from<std::int32_t>(point.substr(7), before + 1, training_.layers - 1)
              : std::nullopt;
      if (!layer)
        given_.refuse(name, fmt::format("has \"{}\"", shortened(point)),
                      fmt::format("give layers.N in ascending order, below {}", training_.layers));
      layout().blocks.push_back({.layers = *layer - before});
      before = *layer;
    }
    layout().blocks.push_back({.layers = training_.layers - before});
    layout().blocks.front().embedding = layout().blocks.back().head = true;
  }

  // ---- samples

  void read_samples() {
    if (given_.has("training.num_tokens_per_microbatch_per_dp_rank")) return read_tokens();
    const std::string name = "training.local_batch_size";
    const std::string size_name = of_parallelism("pipeline_parallel_microbatch_size");
    const std::string count_name = of_parallelism("pipeline_parallel_microbatches");
    const auto local = given_.number(name);
    if (!local && !is_whole_)
      given_.refuse(name, "is not there", "add --training.local_batch_size, the samples of a row");
    const std::int64_t row = local.value_or(8);
    const auto all = given_.number_unless("training.global_batch_size", {"-1"});
    check_batch(training_, given_, all ? *all : row * layout().rows,
                all ? "training.global_batch_size" : name);
    const auto size = given_.number(size_name), count = given_.number(count_name);
    if (count && row % *count != 0)
      given_.refuse(
          count_name,
          fmt::format("is {}, which does not divide the {} samples of a row", *count, row),
          "give a number that divides them");
    const bool is_piped = layout().stages > 1;
    const std::int64_t samples = !is_piped ? row : count ? row / *count : size.value_or(1);
    tell_turns(
        divide_turns(layout(), training_, given_, row, name, samples, is_piped ? size_name : name));
  }

  // As since August 2026: a micro-batch has so many tokens.
  void read_tokens() {
    const std::string name = "training.num_tokens_per_microbatch_per_dp_rank";
    const std::string all_name = "training.num_tokens_per_train_step";
    const std::int64_t each = given_.number(name).value_or(1);
    const std::int32_t count = given_.number(of_parallelism("num_pp_microbatches")).value_or(1);
    if (tokens_ == 0 || each % tokens_ != 0)
      given_.refuse(name, fmt::format("is {}, and the model's sequences have {}", each, tokens_),
                    "give whole sequences");
    const std::int32_t turn = layout().stages == 1 ? 1 : count;
    const std::int64_t at_once = each / tokens_ * layout().rows * turn;
    std::int64_t batch = at_once;
    if (const auto text = given_.text(all_name); text && *text != "-1") {
      const auto tokens = number_from<std::int64_t>(*text, 1);
      if (!tokens || *tokens % (at_once * tokens_) != 0)
        given_.refuse(all_name,
                      fmt::format("is \"{}\", which is no multiple of {}", shortened(*text),
                                  at_once * tokens_),
                      "give whole micro-batches of all rows");
      batch = *tokens / tokens_;
    }
    check_batch(training_, given_, batch, all_name);
    divide_batch(layout(), training_, given_, each / tokens_, name);
    tell_turns(batch / at_once);
  }

  void tell_turns(std::int64_t turns) {
    if (turns > 1 && layout().stages > 1)
      remark("the pipeline is emptied {} times a step by torchtitan, and once here", turns);
  }

  // ---- experts, states, what is computed again

  void read_experts() {
    const std::string name = of_parallelism("expert_parallel_degree");
    const std::int32_t degree = given_.number(name).value_or(1);
    const auto columns = given_.number(of_parallelism("expert_tensor_parallel_degree"));
    if (degree == 1 || training_.experts() == 0) return;  // of dense models it means nothing
    const bool divides_each = columns && *columns == layout().tensor;
    if (!divides_each && degree % layout().tensor != 0)
      given_.refuse(
          name, fmt::format("is {}, which the {} columns do not divide", degree, layout().tensor),
          "give a multiple of tensor_parallel_degree");
    layout().expert = divides_each ? degree : degree / layout().tensor;
    if (!divides_each && layout().tensor > 1)
      remark("experts are whole on each column in torchtitan; here columns divide each");
    check_experts(layout(), training_, given_, name);
  }

  void read_states() {
    const std::string how =
        given_.one_of(of_parallelism("fsdp_reshard_after_forward"), {"default", "always", "never"});
    const bool again = how == "always" || (how != "never" && layout().stages == 1);
    share_states(layout(), again ? StateSharding::kMostStage : 2, shards_ * layout().context,
                 given_, of_parallelism("data_parallel_shard_degree"));
    if (given_.yes_or_no("training.enable_cpu_offload").value_or(false)) {
      layout().offload = Offload::States;
      remark("enable_cpu_offload: parameters rest on GPUs here, and are updated there");
    }
  }

  void read_recomputation() {
    const std::string name = "activation_checkpoint.mode";
    const std::string how = given_.one_of(name, {"none", "selective", "full", "memory_budget"});
    const std::string which =
        given_.text("activation_checkpoint.selective_ac_option").value_or("2");
    if (how == "memory_budget")
      given_.refuse(name, "is memory_budget: a compiler chooses what is computed again",
                    "give none, selective or full");
    if (how.empty() && !is_whole_) {
      layout().recompute = training_.program.recompute.value_or(Recompute::None);
      return remark(
          "what is computed again stands in the configuration that is run: here {} (set "
          "recompute)",
          name_of(layout().recompute));
    }
    if (how == "none") return;
    const bool by_op = which == "op";
    const bool all = how == "full" || which == "1" || which == "0";
    layout().recompute = all ? Recompute::Blocks : Recompute::Cheap;
    if (!all && by_op)
      remark("computed again is all of a layer that is bound by memory, no product among it");
    if (!all && !by_op)
      remark(
          "one of {} layers is computed again as a whole by torchtitan; here all of each that is "
          "bound by memory",
          which);
  }

  bool is_whole_ = true;
  std::int64_t tokens_ = 0;  // of a sequence; 0: not known
  std::int32_t replicas_ = 1, shards_ = 1;
};

}  // namespace

std::vector<Block> torchtitan_blocks(std::int32_t layers, std::int32_t parts, std::int32_t first,
                                     std::int32_t last) {
  if (parts == 1) return even_blocks(layers, 1);
  const std::int32_t all = layers + first + last, each = all / parts, more = all % parts;
  if (each == 0 || first > each + (more > 0 ? 1 : 0) || last > each) return {};
  std::vector<Block> blocks(at(parts));
  for (std::int32_t i = 0; i < parts; ++i) blocks[at(i)].layers = each + (i < more ? 1 : 0);
  blocks.front().layers -= first;
  blocks.back().layers -= last;
  blocks.front().embedding = blocks.back().head = true;
  return blocks;
}

bool is_torchtitan(const GivenArguments& given) {
  const std::vector<std::string> names = given.names();
  const auto begins = [&](std::string_view section) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return name.starts_with(section) ||
             (name.starts_with("--") && name.substr(2).starts_with(section));
    });
  };
  return begins("parallelism.") || begins("training.");
}

ReadLayout read_torchtitan(GivenArguments given, const Training& training) {
  return TorchtitanReader(std::move(given), training).read();
}

}  // namespace strato::frameworks
