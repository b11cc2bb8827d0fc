#include "app/cli/launch_data.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/data/inputs.h"
#include "core/data/safetensors.h"
#include "core/data/tensor_folder.h"
#include "core/plugin/load/tensor_files.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

bool is_pytorch(const fs::path& file) {
  return file.extension() == ".pt" || file.extension() == ".pth";
}
bool is_safetensors(const fs::path& file) { return file.extension() == ".safetensors"; }

// ---- weights

using Source = std::shared_ptr<const TensorSource>;

// The model file's own, when it has all of them; a model without any, as the samples are, is
// seeded.
Source weights_of_model(const Graph& graph, const LoadedModel& model) {
  Source source;
  try {
    source = open_weights(plugins(), model.path, model.import);
  } catch (const InputError& error) {
    remark(fmt::format("parameters are seeded: {}", error.what()));
    return nullptr;
  }
  if (!source) {
    remark("parameters are seeded: a model file of this format has no values");
    return nullptr;
  }
  const std::vector<std::string> missing = missing_parameters(graph, *source);
  if (missing.empty()) return source;
  if (!source->tensors().empty())
    remark("parameters are seeded: the model file has no values for " + names_text(missing));
  return nullptr;
}

Source weights_in_model(const std::filesystem::path& file, const LoadedModel& model) {
  Source source = open_weights(plugins(), file, model.import);
  if (source) return source;
  throw InputError(file, "--weights", "a model file of this format has no values",
                   "give seeded, or a .pt or .safetensors file with the model's own names");
}

Source weights_of_file(const std::string& given, const LoadedModel& model) {
  if (fs::is_directory(given)) return open_tensor_folder(given);
  if (!fs::exists(given)) {
    throw InputError("", "--weights", fmt::format("there is no \"{}\"", given),
                     "give auto, seeded, model, a file, or the folder of a checkpoint");
  }
  if (is_pytorch(given)) return open_pytorch(plugins(), given);
  if (is_safetensors(given)) return open_safetensors(given);
  return weights_in_model(given, model);
}

Source find_weights(const std::string& given, const Job& job, const LoadedModel& model) {
  const bool computes = !job.options.engine.starts_with("replay");
  if (given == "seeded" || (given == "auto" && (!computes || !job.options.resume.empty())))
    return nullptr;
  if (!computes) {
    remark("--weights: the engine " + job.options.engine + " computes nothing and needs none");
    return nullptr;
  }
  if (!job.options.resume.empty())
    throw InputError("", "--weights", "--resume brings the parameters", "leave one of them out");
  if (given == "auto") return weights_of_model(*job.graph, model);
  Source source =
      given == "model" ? weights_in_model(model.path, model) : weights_of_file(given, model);
  check_weights(*job.graph, *source);
  return source;
}

void stage(const fs::path& folder, const Graph& graph, const TensorSource& source) {
  const WeightsReport report = stage_weights(folder, graph, source);
  remark(fmt::format("{} parameters, {}, from {}", report.parameters,
                     bytes_text(Bytes(report.bytes)), source.file()));
  if (!report.not_finite.empty())
    remark("not finite (NaN or infinite): " + names_text(report.not_finite));
  if (!report.unused.empty()) remark("not of this model: " + names_text(report.unused));
}

// ---- inputs

// "labels=file.npy" in two; a file may have such a name, too.
std::optional<std::pair<std::string, std::string>> name_and_file(const std::string& given) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || equals == 0 || fs::exists(given)) return std::nullopt;
  return std::pair(given.substr(0, equals), given.substr(equals + 1));
}

class Arrays {
 public:
  void add(const std::string& given) {
    if (const auto named = name_and_file(given)) {
      named_.insert(named->first);
      return add_file(named->first, named->second);
    }
    if (fs::is_directory(given)) return add_folder(given);
    if (!is_pytorch(given)) {
      throw InputError("", "--inputs",
                       fmt::format("\"{}\" is neither a folder nor a .pt file", given),
                       "write NAME=FILE for the array of one input");
    }
    add_all(open_pytorch(plugins(), given));
  }

  BoundInputs bound(const Graph& graph) const {
    BoundInputs bound = bind_inputs(graph, arrays_);
    for (const std::string& name : bound.unused) {
      if (!named_.contains(name)) continue;
      throw InputError("", "--inputs", fmt::format("the model has no input \"{}\"", name),
                       "it takes " + describe_inputs(graph));
    }
    if (!bound.unused.empty()) remark("inputs of another model: " + names_text(bound.unused));
    return bound;
  }

 private:
  void add_array(const std::string& name, InputArray array) {
    if (arrays_.emplace(name, std::move(array)).second) return;
    throw InputError("", "--inputs", fmt::format("\"{}\" is given twice", name), "give it once");
  }

  void add_folder(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path& file = entry.path();
      if (file.extension() == ".npy" || is_pytorch(file)) add_file(file.stem().string(), file);
    }
  }

  void add_file(const std::string& name, const fs::path& file) {
    if (!is_pytorch(file)) return add_array(name, {file, nullptr, 0});
    const Source source = open_pytorch(plugins(), file);
    const auto& tensors = source->tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors.size() == 1 || tensors[i].name == name) return add_array(name, {{}, source, i});
    }
    throw InputError(file.string(), "", "has several tensors, and none is \"" + name + "\"",
                     "give the file without a name, or save one tensor");
  }

  void add_all(const Source& source) {
    for (std::size_t i = 0; i < source->tensors().size(); ++i)
      add_array(source->tensors()[i].name, {{}, source, i});
  }

  InputArrays arrays_;
  std::set<std::string> named_;
};

// ---- where files lie

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code ignored;
  const fs::path inner = fs::weakly_canonical(file, ignored);
  const fs::path outer = fs::weakly_canonical(folder, ignored);
  const auto end = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first;
  return !outer.empty() && end == outer.end();
}

void check_apart(const char* option, const fs::path& file, const fs::path& job) {
  for (const char* data : {"weights", "inputs"}) {
    if (!lies_in(file, job / data)) continue;
    throw InputError("", option,
                     fmt::format("\"{}\" lies where the job's own {} go", file.string(), data),
                     "move it out of the folder of --job, or choose another folder");
  }
}

void check_folder(const fs::path& given) {
  const fs::path folder = (fs::absolute(given) / "").lexically_normal().parent_path();
  if (!fs::exists(folder)) return check_writable(folder, {});
  if (!fs::is_directory(folder)) {
    throw InputError(given.string(), "", "is a file, and neither .pt nor .safetensors",
                     "name a folder, or a file of these kinds");
  }
  check_writable(folder / "index.json", {});
}

}  // namespace

void LaunchData::declare(CLI::App& command) {
  command
      .add_option(
          "--weights", weights,
          "Parameters at the start: seeded; model: the model file's own; auto: those, if it "
          "has them all; or a FILE (.onnx, .pt, .safetensors) or checkpoint FOLDER")
      ->capture_default_str();
  command.add_option(
      "--inputs", inputs,
      "Samples: a folder with NAME.npy or NAME.pt for each input (see inspect), a .pt "
      "file with all, or NAME=FILE; step k takes batch k, then from the start; else "
      "synthetic");
  command.add_option(
      "--keep-parameters", keep,
      "Parameters after the last step: FILE.pt, FILE.safetensors, or a folder of .npy");
}

void LaunchData::check(const fs::path& job) const {
  if (is_pytorch(keep) || is_safetensors(keep))
    check_writable(keep, {});
  else if (!keep.empty())
    check_folder(keep);
  if (job.empty()) return;
  check_apart("--weights", weights, job);
  for (const std::string& given : inputs) {
    const auto named = name_and_file(given);
    check_apart("--inputs", named ? named->second : given, job);
  }
}

void LaunchData::check_kept(const JobOptions& staged) const {
  const bool due = staged.checkpoint_every > 0 && staged.steps % staged.checkpoint_every == 0;
  if (keep.empty() || staged.keep_parameters || due) return;
  throw InputError("", "--keep-parameters", "the job was launched without, and leaves none",
                   "leave it out, or launch the plan again");
}

void LaunchData::add_to(Job& job, const LoadedModel& model) const {
  const Source source = find_weights(weights, job, model);
  std::shared_ptr<const BoundInputs> arrays;
  std::int64_t samples = 0;
  if (!inputs.empty() && job.options.engine.starts_with("replay")) {
    remark("--inputs: the engine " + job.options.engine + " computes nothing and reads none");
  } else if (!inputs.empty()) {
    Arrays all;
    for (const std::string& given : inputs) all.add(given);
    arrays = std::make_shared<const BoundInputs>(all.bound(*job.graph));
    samples = check_inputs(*job.graph, *arrays);
  }
  job.options.weights = source != nullptr;
  job.options.inputs = arrays != nullptr;
  job.write_data = [source, arrays, samples, graph = job.graph](const fs::path& folder) {
    if (source) stage(folder, *graph, *source);
    if (arrays) stage_inputs(folder, *graph, *arrays, samples);
  };
}

void LaunchData::keep_parameters(const fs::path& job, int steps) const {
  if (keep.empty()) return;
  const fs::path checkpoint = job / ("checkpoint-" + std::to_string(steps));
  if (is_pytorch(keep)) return write_pytorch(plugins(), keep, *open_tensor_folder(checkpoint));
  if (is_safetensors(keep)) return write_safetensors(keep, *open_tensor_folder(checkpoint));
  std::error_code error;
  fs::copy(checkpoint, keep, fs::copy_options::recursive | fs::copy_options::overwrite_existing,
           error);
  if (error) {
    throw InputError(keep, "", "cannot be written: " + error.message(), "choose another folder");
  }
}

}  // namespace strato::cli
