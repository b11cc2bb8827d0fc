// A strategy as a shell script that runs Megatron-LM: its arguments, and in words what they do not
// say. The planner "configuration" reads it back.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/framework/layout/comments.h"
#include "core/framework/layout/recognise.h"
#include "core/framework/megatron/model_arguments.h"
#include "core/framework/megatron/parallel_arguments.h"
#include "core/plugin/api/plugin.h"

namespace strato {
namespace {

using frameworks::Argument;
using frameworks::comment_of;
using frameworks::in_one_line;

std::string in_quotes(const std::string& value) {
  return value.find_first_of("|()[]*") == std::string::npos ? value : "'" + value + "'";
}

std::string array(std::string_view name, const std::vector<Argument>& arguments) {
  std::string text = fmt::format("{}=(\n", name);
  for (const Argument& argument : arguments)
    text += fmt::format("  {}{}{}\n", argument.name, argument.value.empty() ? "" : " ",
                        in_quotes(argument.value));
  return text + ")\n";
}

class MegatronScript {
 public:
  explicit MegatronScript(const ExportInput& input)
      : problem_(input.problem),
        score_(input.outcome.score),
        found_(frameworks::recognise(input.problem, input.strategy)),
        model_(frameworks::model_arguments(*problem_.graph, found_.layers)),
        parallel_(frameworks::parallel_arguments(found_.layout, has_experts())) {}

  std::string write() const {
    return head() + array("MODEL_ARGS", model_.arguments) + "\n" +
           array("PARALLEL_ARGS", parallel_.arguments) + "\n" + command();
  }

 private:
  bool has_experts() const {
    return std::ranges::find(model_.arguments, "--num-experts", &Argument::name) !=
           model_.arguments.end();
  }

  std::string head() const {
    const Cluster& cluster = *problem_.cluster;
    std::string text = fmt::format(
        "#!/usr/bin/env bash\n# {} on {} ({} devices) by Megatron-LM, planned by Stratoscope.\n"
        "# A step of {} samples takes {}, as simulated{}.\n",
        in_one_line(problem_.graph->name()), in_one_line(cluster.name()), cluster.device_count(),
        problem_.graph->batch(), time_text(score_.step_time),
        score_.feasible ? "" : ", but does not fit in memory");
    const frameworks::TrainingLayout& layout = found_.layout;
    text += fmt::format(
        "# Devices are {} columns (tensor) x {}{} rows (data) x {} stages; a step is {} "
        "micro-batches.\n",
        layout.tensor,
        layout.context > 1 ? fmt::format("{} parts of positions (context) x ", layout.context) : "",
        layout.rows, layout.stages, layout.micro_batches);
    std::vector<std::string> unsaid = found_.differences;
    unsaid.insert(unsaid.end(), parallel_.unsaid.begin(), parallel_.unsaid.end());
    text += comment_of("What the plan has and the arguments do not say:", unsaid) +
            comment_of("What the model's graph does not tell:", model_.unknown);
    return text +
           "#\n# Run it on each machine, with what else Megatron-LM needs (data, tokenizer, "
           "learning "
           "rate):\n"
           "#   NODE_RANK=0 MASTER_ADDR=first-machine bash FILE --train-iters 100 --lr 1e-4 "
           "--mock-data --tokenizer-type NullTokenizer\n"
           "set -eu\n" +
           settings() + "\n";
  }

  // Rows of devices share what they send best with one queue of work; FSDP needs several.
  std::string settings() const {
    return found_.layout.states.stage > 1 ? "unset CUDA_DEVICE_MAX_CONNECTIONS\n"
                                          : "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  }

  std::string command() const {
    const Cluster& cluster = *problem_.cluster;
    const std::size_t machines = cluster.machines().size();
    std::vector<std::size_t> devices(machines, 0);
    for (const Device& device : cluster.devices()) ++devices[device.machine.index()];
    const auto [least, most] = std::ranges::minmax(devices);
    std::string text;
    if (least != most)
      text = fmt::format("# Machines have {} to {} devices: give each its own --nproc-per-node.\n",
                         least, most);
    return text +
           fmt::format(
               "torchrun --nproc-per-node {} --nnodes {} --node-rank \"${{NODE_RANK:-0}}\" \\\n"
               "  --master-addr \"${{MASTER_ADDR:-localhost}}\" --master-port "
               "\"${{MASTER_PORT:-6000}}\" \\\n"
               "  \"${{MEGATRON:-.}}/pretrain_gpt.py\" \\\n"
               "  \"${{MODEL_ARGS[@]}}\" \"${{PARALLEL_ARGS[@]}}\" \"$@\"\n",
               most, machines);
  }

  const Problem& problem_;
  const Score score_;
  const frameworks::Recognised found_;
  const frameworks::ModelArguments model_;
  const frameworks::ParallelArguments parallel_;
};

class MegatronExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override { return MegatronScript(input).write(); }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) { return std::make_unique<strato::MegatronExporter>(); })
