#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/at.h"
#include "core/base/number_from.h"
#include "core/framework/given/given_arguments.h"
#include "core/framework/megatron/parallel_arguments.h"

namespace strato::frameworks {
namespace {

// Arguments that change what is computed where, and what to do instead.
struct Refused {
  std::string_view name, harmless, remedy;  // harmless: the value that changes nothing; "": none
};
constexpr std::array kRefusedArguments = {
    Refused{"--hierarchical-context-parallel-sizes", "", "leave it out"},
    Refused{"--use-tp-pp-dp-mapping", "", "stages are neighbours here: leave it out"},
    Refused{"--rampup-batch-size", "", "plan for each size of the batch by itself"},
    Refused{"--mtp-num-layers", "0", "the imported model has no such layers: leave it out"},
    Refused{"--hybrid-layer-pattern", "", "give a model of transformer layers"},
    Refused{"--yaml-cfg", "", "give its arguments on the command line"},
    Refused{"--fp8-format", "", "costs are those of bf16: leave it out"},
    Refused{"--fp4-format", "", "costs are those of bf16: leave it out"},
    Refused{"--optimizer-cpu-offload", "", "updates run on GPUs here: leave it out"},
    Refused{"--cpu-offloading-num-layers", "0", "leave it out, or plan with pipeline, offload=..."},
    Refused{"--fine-grained-activation-offloading", "", "leave it out"},
    Refused{"--outer-dp-sharding-strategy", "no_shard", "leave it out"},
    Refused{"--microbatch-group-size-per-virtual-pipeline-stage", "", "leave it out"},
    Refused{"--heterogeneous-layers-config-path", "", "give a model of equal layers"},
    Refused{"--standalone-embedding-stage", "", "give --pipeline-model-parallel-layout"},
    Refused{"--moe-extended-tp", "", "leave it out"},
    Refused{"--use-custom-fsdp", "", "it is called --use-megatron-fsdp now"},
    Refused{"--model-parallel-size", "", "it is called --tensor-model-parallel-size now"},
    Refused{"--checkpoint-activations", "", "it is called --recompute-granularity full now"},
};

class LayoutReader {
 public:
  LayoutReader(const std::vector<ScriptWord>& words, const Training& training,
               const std::string& file)
      : training_(training), given_(words, file) {}

  ReadLayout read() && {
    refuse_what_is_not_known();
    check_model();
    read_sizes();
    read_blocks();
    read_samples();
    read_experts();
    read_sharding();
    read_recomputation();
    read_.passed_over = given_.unread();
    return std::move(read_);
  }

 private:
  TrainingLayout& layout() { return read_.layout; }

  // ---- what goes together

  void refuse_what_is_not_known() {
    for (const Refused& refused : kRefusedArguments) {
      const std::string name(refused.name);
      if (!given_.has(name)) continue;
      if (const auto& values = given_.values(name);
          !refused.harmless.empty() && values.size() == 1 && values.front() == refused.harmless)
        continue;
      given_.refuse(name, "is not supported", std::string(refused.remedy));
    }
  }

  static bool says_the_same(const std::string& a, const std::string& b) {
    const auto x = number_from<double>(a), y = number_from<double>(b);
    return a == b || (x && y && *x == *y);
  }

  void check_model() {
    static constexpr std::array<std::string_view, 4> kOthers = {
        "--vocab-size", "--max-position-embeddings", "--moe-layer-freq", "--rotary-base"};
    for (const Argument& model : training_.model) {
      if (!given_.has(model.name) || model.value.empty() ||
          std::ranges::find(kOthers, model.name) != kOthers.end())
        continue;
      const std::string given = *given_.text(model.name);
      if (!says_the_same(given, model.value))
        given_.refuse(model.name,
                      fmt::format("is {}, and the model has {}", shortened(given), model.value),
                      "plan the model that the arguments are for, or correct them");
    }
    if (const auto layers = given_.number("--num-layers"); layers && *layers != training_.layers)
      given_.refuse("--num-layers",
                    fmt::format("is {}, and the model has {}", *layers, training_.layers),
                    "plan the model that the arguments are for, or correct them");
  }

  void read_sizes() {
    layout().tensor = given_.number("--tensor-model-parallel-size").value_or(1);
    layout().stages = given_.number("--pipeline-model-parallel-size").value_or(1);
    layout().context = given_.number("--context-parallel-size").value_or(1);
    find_rows(layout(), training_, given_,
              layout().context > 1  ? "--context-parallel-size"
              : layout().stages > 1 ? "--pipeline-model-parallel-size"
                                    : "--tensor-model-parallel-size");
    const std::string how =
        given_.one_of("--cp-comm-type", {"p2p", "all_gather", "a2a", "a2a+p2p"});
    if (layout().context > 1 && how != "all_gather")
      read_.remarks.push_back(
          fmt::format("--cp-comm-type {}: here keys and values are gathered (all_gather), or "
                      "positions swapped for heads (a2a) where that takes less",
                      how.empty() ? "p2p" : how));
    read_pieces();
    layout().sequence = given_.flag("--sequence-parallel") || layout().tensor == 1;
  }

  // As many as a ring of the columns has. Megatron-LM refuses it without sequence parallelism.
  void read_pieces() {
    if (!given_.flag("--tp-comm-overlap") || layout().tensor == 1) return;
    layout().pieces = layout().tensor;
    if (!given_.has("--sequence-parallel"))
      given_.refuse("--tp-comm-overlap", "needs --sequence-parallel", "add it");
  }

  // ---- stages

  void read_blocks() {
    const bool text_given = given_.has("--pipeline-model-parallel-layout");
    const auto each = given_.number("--num-layers-per-virtual-pipeline-stage");
    const auto turns = given_.number("--num-virtual-stages-per-pipeline-rank");
    if (int{text_given} + int{each.has_value()} + int{turns.has_value()} > 1)
      given_.refuse(text_given ? "--pipeline-model-parallel-layout"
                               : "--num-virtual-stages-per-pipeline-rank",
                    "is given beside another argument that says how many chunks stages have",
                    "leave one of them");
    if (text_given)
      read_stage_string(layout(), training_, given_,
                        *given_.text("--pipeline-model-parallel-layout"),
                        "--pipeline-model-parallel-layout");
    else
      read_counted_blocks(each, turns);
    layout().chunks = static_cast<std::int32_t>(layout().blocks.size()) / layout().stages;
    layout().schedule =
        layout().chunks > 1 ? PipelineSchedule::Interleaved : PipelineSchedule::OneFOneB;
  }

  void read_counted_blocks(std::optional<std::int32_t> each, std::optional<std::int32_t> turns) {
    const auto first = given_.number("--decoder-first-pipeline-num-layers");
    const auto last = given_.number("--decoder-last-pipeline-num-layers");
    const bool embedding_counts = given_.flag("--account-for-embedding-in-pipeline-split");
    const bool loss_counts = given_.flag("--account-for-loss-in-pipeline-split");
    if (first || last) return read_uneven_ends(first, last, each || turns);
    const std::int32_t stages = layout().stages;
    const std::int32_t counted =
        training_.layers + (embedding_counts ? 1 : 0) + (loss_counts ? 1 : 0);
    if (each && counted % (stages * std::int64_t{*each}) != 0)
      given_.refuse("--num-layers-per-virtual-pipeline-stage",
                    fmt::format("is {}: {} stages of such chunks do not divide {} layers", *each,
                                stages, counted),
                    "give another number, or --pipeline-model-parallel-layout");
    const std::int64_t blocks = each ? counted / *each : std::int64_t{stages} * turns.value_or(1);
    if (counted % blocks != 0)
      given_.refuse(
          turns ? "--num-virtual-stages-per-pipeline-rank" : "--pipeline-model-parallel-size",
          fmt::format("makes {} parts, which do not divide {} layers", blocks, counted),
          "give another number, or --pipeline-model-parallel-layout");
    layout().blocks = even_blocks(counted, static_cast<std::int32_t>(blocks));
    if (embedding_counts) --layout().blocks.front().layers;
    if (loss_counts) --layout().blocks.back().layers;
  }

  void read_uneven_ends(std::optional<std::int32_t> first, std::optional<std::int32_t> last,
                        bool chunked) {
    const std::string name =
        first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers";
    const std::int32_t between = layout().stages - (first ? 1 : 0) - (last ? 1 : 0);
    const std::int32_t left = training_.layers - first.value_or(0) - last.value_or(0);
    if (chunked || layout().stages < 2)
      given_.refuse(name, "is for two or more stages of one chunk each",
                    "give --pipeline-model-parallel-layout");
    if (left < 0 || (between == 0 ? left != 0 : left % between != 0 || left == 0))
      given_.refuse(name, fmt::format("leaves {} layers for the {} other stages", left, between),
                    "give a number that leaves each as many, or --pipeline-model-parallel-layout");
    layout().blocks.assign(at(layout().stages), Block{.layers = between > 0 ? left / between : 0});
    layout().blocks.front().embedding = layout().blocks.back().head = true;
    if (first) layout().blocks.front().layers = *first;
    if (last) layout().blocks.back().layers = *last;
  }

  // ---- samples, experts

  void read_samples() {
    const auto size = given_.number("--micro-batch-size");
    if (!size)
      given_.refuse("--micro-batch-size", "is not there",
                    "give the samples of a micro-batch and row");
    const auto all = given_.number("--global-batch-size");
    check_batch(training_, given_, all ? *all : std::int64_t{*size} * layout().rows,
                "--global-batch-size");
    divide_batch(layout(), training_, given_, *size, "--micro-batch-size");
  }

  void read_experts() {
    layout().expert = given_.number("--expert-model-parallel-size").value_or(1);
    const auto columns = given_.number("--expert-tensor-parallel-size");
    if (columns && *columns != layout().tensor)
      given_.refuse("--expert-tensor-parallel-size",
                    fmt::format("is {} beside {} columns, which compute experts together here",
                                *columns, layout().tensor),
                    fmt::format("leave it out, or give {}", layout().tensor));
    check_experts(layout(), training_, given_, "--expert-model-parallel-size");
  }

  // ---- what is kept in parts, and computed again

  void read_sharding() {
    std::int32_t stage = given_.flag("--use-distributed-optimizer") ? 1 : 0;
    if (given_.flag("--use-megatron-fsdp")) {
      const std::vector<std::string> words = {"no_shard", "optim", "optim_grads",
                                              "optim_grads_params"};
      const std::string how = given_.one_of("--data-parallel-sharding-strategy", words);
      stage = static_cast<std::int32_t>(std::ranges::find(words, how) - words.begin()) % 4;
    }
    if (given_.flag("--use-torch-fsdp2"))
      stage = given_.flag("--torch-fsdp2-no-reshard-after-forward") ? 2 : StateSharding::kMostStage;
    const std::int32_t copies = given_.number("--num-distributed-optimizer-instances").value_or(1);
    const std::int32_t all = layout().all_rows();
    if (all % copies != 0)
      given_.refuse("--num-distributed-optimizer-instances",
                    fmt::format("is {}, which does not divide the {} rows", copies, all),
                    "give a number that divides them");
    share_states(layout(), stage, all / copies, given_, "--num-distributed-optimizer-instances");
  }

  void read_recomputation() {
    const std::string how = given_.one_of("--recompute-granularity", {"full", "selective"});
    const bool selective = given_.flag("--recompute-activations") || how == "selective";
    if (how == "full") return read_full_recomputation();
    const std::vector<std::string> modules = given_.has("--recompute-modules")
                                                 ? given_.values("--recompute-modules")
                                                 : std::vector<std::string>{"core_attn"};
    if (!selective) return;
    static constexpr std::array<std::string_view, 3> kCheap = {"core_attn", "layernorm", "moe_act"};
    for (const std::string& module : modules)
      if (std::ranges::find(kCheap, module) == kCheap.end())
        given_.refuse(
            "--recompute-modules",
            fmt::format("has {}, with products in it, which are computed again with their block "
                        "or not at all",
                        shortened(module)),
            "give core_attn, layernorm, moe_act, or --recompute-granularity full");
    layout().recompute = Recompute::Cheap;
    read_.remarks.emplace_back(
        "computed again is all of a layer that is bound by memory, whichever modules are named");
  }

  void read_full_recomputation() {
    const std::string method = given_.one_of("--recompute-method", {"uniform", "block"});
    if (method.empty())
      given_.refuse("--recompute-method", "is not there", "give uniform beside full granularity");
    layout().recomputed_layers = given_.number("--recompute-num-layers").value_or(1);
    std::int32_t most = 0;
    for (const Block& block : layout().blocks) most = std::max(most, block.layers);
    if (method == "block" && layout().recomputed_layers < most)
      given_.refuse("--recompute-method",
                    "is block: some layers of a stage are computed again, others not",
                    "give uniform");
    if (method == "block") layout().recomputed_layers = 1;
    layout().recompute = Recompute::Blocks;
    read_.remarks.emplace_back(
        "computed again are blocks of as many layers as leave the least in memory, whatever "
        "--recompute-num-layers says");
  }

  const Training& training_;
  GivenArguments given_;
  ReadLayout read_;
};

}  // namespace

ReadLayout read_layout(const std::vector<ScriptWord>& words, const Training& training,
                       const std::string& file) {
  return LayoutReader(words, training, file).read();
}

}  // namespace strato::frameworks
