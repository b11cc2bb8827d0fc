#include "core/framework/configuration/training_job.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/framework/accelerate/accelerate_configuration.h"
#include "core/framework/configuration/configuration_text.h"
#include "core/framework/deepspeed/deepspeed_configuration.h"
#include "core/framework/nemo/nemo_recipe.h"
#include "core/framework/torchtitan/torchtitan_configuration.h"

namespace strato::frameworks {
namespace {

// Those of Megatron-LM that a script has, whichever model it is for.
constexpr std::array<std::string_view, 8> kOfMegatron = {"--tensor-model-parallel-size",
                                                         "--pipeline-model-parallel-size",
                                                         "--micro-batch-size",
                                                         "--global-batch-size",
                                                         "--num-layers",
                                                         "--hidden-size",
                                                         "--num-attention-heads",
                                                         "--seq-length"};

bool is_megatron(const GivenArguments& given) {
  const std::vector<std::string> names = given.names();
  return std::ranges::count_if(names, [](const std::string& name) {
           return std::ranges::find(kOfMegatron, name) != kOfMegatron.end();
         }) >= 2;
}

// In scripts and in files, with sections in front or without.
std::optional<std::int64_t> number_of(GivenArguments& given,
                                      std::initializer_list<std::string_view> names) {
  std::optional<std::int64_t> value;
  for (const std::string_view name : names)
    for (const std::string& written : {std::string(name), "--" + std::string(name)})
      if (!value && given.has(written)) value = given.number_unless(written, {"-1", "auto", "0"});
  return value;
}

std::int64_t or_one(std::optional<std::int64_t> value) { return value.value_or(1); }

TrainingJob megatron_job(GivenArguments& given) {
  TrainingJob job{.framework = "Megatron-LM"};
  if (describes_layers(given)) job.model = described_model(given);
  job.sequence = number_of(given, {"seq-length"});
  job.devices_of_a_row = or_one(number_of(given, {"tensor-model-parallel-size"})) *
                         or_one(number_of(given, {"pipeline-model-parallel-size"})) *
                         or_one(number_of(given, {"context-parallel-size"}));
  job.batch = number_of(given, {"global-batch-size"});
  if (!job.batch) job.batch_of_a_row = number_of(given, {"micro-batch-size"});
  return job;
}

std::string plain_letters(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

// "--model.name llama3 --model.flavor 70B", or "--module llama3 --config llama3_70b".
std::optional<DescribedModel> torchtitan_model(GivenArguments& given) {
  std::string told;
  for (const char* name : {"model.name", "model.flavor", "module", "config", "job.config_file"})
    for (const std::string& written : {std::string(name), "--" + std::string(name)})
      if (given.has(written) && !given.values(written).empty())
        told += plain_letters(given.values(written).front()) + "/";
  if (told.find("llama3") == std::string::npos) return std::nullopt;
  for (const char* size : {"405b", "70b", "8b"})
    if (told.find(size) != std::string::npos) return llama_of_size(size);
  return std::nullopt;
}

TrainingJob torchtitan_job(GivenArguments given) {
  TrainingJob job{.framework = "torchtitan", .model = torchtitan_model(given)};
  job.sequence = number_of(given, {"training.seq_len", "training.max_context_length"});
  const auto degree = [&](std::initializer_list<std::string_view> names) {
    return or_one(number_of(given, names));
  };
  job.devices_of_a_row =
      degree({"parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"}) *
      degree({"parallelism.context_parallel_degree", "experimental.context_parallel_degree"}) *
      degree({"parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree"});
  job.batch = number_of(given, {"training.global_batch_size"});
  if (!job.batch)
    job.batch_of_a_row = number_of(given, {"training.local_batch_size", "training.batch_size"});
  return job;
}

TrainingJob deepspeed_job(GivenArguments given) {
  TrainingJob job{.framework = "DeepSpeed"};
  const std::int64_t columns = or_one(number_of(given, {"tensor_parallel.autotp_size"}));
  job.devices_of_a_row = columns * or_one(number_of(given, {"sequence_parallel_size"})) *
                         or_one(number_of(given, {"stratoscope.layout.stages"}));
  const auto all = number_of(given, {"train_batch_size"});
  const auto micro = number_of(given, {"train_micro_batch_size_per_gpu"});
  if (all) {
    job.batch = *all / (*all % columns == 0 ? columns : 1);  // it multiplies by columns, too
  } else if (micro) {
    job.batch_of_a_row = *micro * or_one(number_of(given, {"gradient_accumulation_steps"}));
  }
  return job;
}

TrainingJob nemo_job(GivenArguments given) {
  TrainingJob job{.framework = "NeMo Automodel"};
  job.devices_of_a_row = or_one(number_of(given, {"distributed.tp_size"})) *
                         or_one(number_of(given, {"distributed.cp_size"})) *
                         or_one(number_of(given, {"distributed.pp_size"}));
  job.batch = number_of(given, {"step_scheduler.global_batch_size"});
  return job;
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 ||
                   text[at - 1] == '_' || text[at - 1] == '$' || text[at - 1] == '{'))
      continue;
    std::size_t begin = at + name.size();
    while (begin < text.size() && (text[begin] == ' ' || text[begin] == '=' || text[begin] == '"'))
      ++begin;
    std::size_t end = begin;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const auto value =
        number_from<std::int64_t>(text.substr(begin, end - begin), 1, std::int64_t{1} << 20);
    if (value && begin > at + name.size()) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> TrainingJob::batch_on(std::int64_t devices) const {
  if (batch || !batch_of_a_row) return batch;
  return *batch_of_a_row * std::max<std::int64_t>(1, devices / devices_of_a_row);
}

Machines machines_in(std::string_view script) {
  Machines found;
  for (const std::string_view name :
       {"--nnodes", "--num_nodes", "--num-nodes", "--nodes", "NUM_NODES", "NNODES"})
    if (!found.machines) found.machines = number_behind(script, name);
  for (const std::string_view name : {"--nproc_per_node", "--nproc-per-node", "--ntasks-per-node",
                                      "--gpus-per-node", "GPUS_PER_NODE", "NPROC_PER_NODE", "NGPU"})
    if (!found.gpus) found.gpus = number_behind(script, name);
  if (const auto all = number_behind(script, "WORLD_SIZE");
      all && !found.machines && found.gpus && *all % *found.gpus == 0)
    found.machines = *all / *found.gpus;
  return found;
}

std::optional<TrainingJob> training_job(std::string_view text, const std::string& file) {
  std::optional<ConfigurationText> read;
  try {
    read = configuration_text(std::string(text), file);
  } catch (const InputError&) {
    // What has arguments of a framework is one with a mistake in it; anything else is no such text.
    for (const std::string_view name : kOfMegatron)
      if (text.find(name) != std::string_view::npos) throw;
    return std::nullopt;
  }
  GivenArguments& given = read->given;
  std::optional<TrainingJob> job;
  if (is_torchtitan(given)) {
    job = torchtitan_job(std::move(given));
  } else if (read->is_words) {
    if (!is_megatron(given)) return std::nullopt;
    job = megatron_job(given);
  } else if (is_nemo(given)) {
    job = nemo_job(std::move(given));
  } else if (is_accelerate(given)) {
    job = TrainingJob{.framework = "Accelerate"};
  } else if (is_deepspeed(given)) {
    job = deepspeed_job(std::move(given));
  }
  if (!job) return std::nullopt;
  const auto [machines, gpus] = machines_in(text);
  job->machines = machines;
  job->gpus = gpus;
  return job;
}

}  // namespace strato::frameworks
