// The plugin's entry: a config.json becomes a forward graph, in three steps (read, describe,
// write). A training framework's script that describes its model is read as the config.json that it
// means.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/framework/configuration/training_job.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/api/plugin.h"
#include "plugins/importers/transformers/build/model.h"
#include "plugins/importers/transformers/families/families.h"

namespace strato::transformers_import {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostOfAConfiguration = std::uintmax_t{16} << 20;
constexpr std::int64_t kMostSequence = std::int64_t{1} << 20;
constexpr std::int64_t kMostRank = 1024;
constexpr std::int64_t kUsualSequence = 4096;  // at most, where nobody says how long

// The dimensions that somebody may give for a model: "sequence", "target_sequence", "flash",
// "lora_rank"; and "batch", as the error calls it where nobody has given it otherwise.
class Dimensions {
 public:
  Dimensions(const Description& model, std::string file, const ImportOptions& options)
      : model_(model), file_(std::move(file)), options_(options) {
    std::vector<std::string> known = {"flash", "lora_rank"};
    if (!model.patches) known.insert(known.begin(), "sequence");
    if (model.encoder) known.emplace_back("target_sequence");
    for (const auto& [name, value] : options.dimensions) {
      if (name == "batch" || std::ranges::find(known, name) != known.end()) continue;
      throw InputError(file_, name, "is no dimension of this model",
                       fmt::format("there are: {}", fmt::join(known, ", ")));
    }
  }

  Sizes sizes() const {
    constexpr std::int64_t kMostSamples = std::int64_t{1} << 31;
    if (!options_.batch && !options_.dimensions.contains("batch"))
      throw UnboundDimension(file_, input_name(model_), input_name(model_), 0, "batch");
    Sizes sizes;
    sizes.batch = options_.batch ? *options_.batch : given("batch", 1, 1, kMostSamples);
    sizes.sequence = length("sequence");
    sizes.target_sequence = length("target_sequence");
    sizes.flash = given("flash", 1, 0, 1) == 1;
    sizes.adapter_rank = given("lora_rank", 0, 0, kMostRank);
    return sizes;
  }

 private:
  std::int64_t given(const std::string& name, std::int64_t usual, std::int64_t least,
                     std::int64_t most) const {
    const auto found = options_.dimensions.find(name);
    if (found == options_.dimensions.end()) return usual;
    if (found->second >= least && found->second <= most) return found->second;
    throw InputError(file_, name, fmt::format("is {}", found->second),
                     fmt::format("give {} to {}", least, most));
  }

  // No longer than a table of positions is.
  std::int64_t length(const std::string& name) const {
    const bool limited = model_.positions == Positions::Table && !model_.patches;
    const std::int64_t rows = model_.position_rows - model_.first_row;
    return given(name, std::min(model_.usual_sequence, kUsualSequence), 1,
                 limited ? std::min(rows, kMostSequence) : kMostSequence);
  }

  const Description& model_;
  std::string file_;
  const ImportOptions& options_;
};

bool is_usable(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, is_plain) &&
         name.find_first_not_of('.') != std::string_view::npos;
}

// "Llama-2-7b-hf" of "_name_or_path": "meta-llama/Llama-2-7b-hf"; else what the file, or its
// folder, is called.
std::string name_of_model(const JsonView& config, const fs::path& file) {
  if (const auto given = config.find("_name_or_path"); given && given->is_string()) {
    std::string path = given->string();
    while (path.ends_with('/')) path.pop_back();
    std::string last = path.substr(path.rfind('/') + 1);
    if (is_usable(last)) return last;
  }
  if (file.filename() == "config.json") {
    std::string folder = fs::absolute(file).lexically_normal().parent_path().filename();
    if (is_usable(folder)) return folder;
  }
  std::string stem = file.stem().string();
  return is_usable(stem) ? stem : "model";
}

// What a script says of batch and sequence holds where the caller says nothing.
ImportOptions with_job(ImportOptions options, const frameworks::TrainingJob& job) {
  if (!options.batch && !options.dimensions.contains("batch"))
    options.batch = job.machines && job.gpus ? job.batch_on(*job.machines * *job.gpus) : job.batch;
  if (job.sequence) options.dimensions.try_emplace("sequence", *job.sequence);
  return options;
}

class TransformersImporter : public Importer {
 public:
  Graph import(const fs::path& file, const ImportOptions& options) override {
    const std::string name = file.string(), text = read_file(file, kMostOfAConfiguration);
    remarks_.clear();
    if (file.extension() == ".json") return of_config(JsonView::parse(text, name), file, options);
    const auto job = frameworks::training_job(text, name);
    if (!job || !job->model)
      throw InputError(
          name, "", "describes no model",
          "give the model's config.json, or a script with Megatron-LM's arguments of the model "
          "(--num-layers, --hidden-size, ...) or torchtitan's Llama 3 of 8B, 70B or 405B");
    remarks_ = job->model->remarks;
    if (job->machines && job->gpus)
      remarks_.push_back(fmt::format(
          "{} runs it on {} machines of {} GPUs: a cluster such as h100-{}x{} is of that size",
          job->framework, *job->machines, *job->gpus, *job->machines, *job->gpus));
    return of_config(JsonView::parse(job->model->config, name), file, with_job(options, *job));
  }

  std::vector<std::string> remarks() const override { return remarks_; }

 private:
  static Graph of_config(const JsonView& config, const fs::path& file,
                         const ImportOptions& options) {
    const std::string name = file.string();
    const Description model = describe_config(config);
    const Sizes sizes = Dimensions(model, name, options).sizes();
    return write_model(model, sizes, name_of_model(config, file), name);
  }

  std::vector<std::string> remarks_;
};

}  // namespace
}  // namespace strato::transformers_import

STRATOSCOPE_IMPORTER([](std::string_view) {
  return std::make_unique<strato::transformers_import::TransformersImporter>();
})
