#include "app/cli/launch_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <system_error>

#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/data/inputs.h"
#include "core/data/safetensors.h"
#include "core/data/tensor_folder.h"
#include "core/data/weights.h"
#include "core/plugin/tensor_files.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTold = 5;  // names in a remark

bool is_pytorch(const fs::path& file) {
  return file.extension() == ".pt" || file.extension() == ".pth";
}
bool is_safetensors(const fs::path& file) { return file.extension() == ".safetensors"; }

std::string names_text(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kTold));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kTold) text += fmt::format(" and {} more", names.size() - kTold);
  return text;
}

// ---- weights

using Source = std::shared_ptr<const TensorSource>;

// The model file's own, when it has all of them; a model without any, as the samples are, is seeded.
Source weights_of_model(const Graph& graph, const LoadedModel& model) {
  Source source;
  try {
    source = open_weights(plugins(), model.path, model.import);
  } catch (const InputError& error) {
    remark(fmt::format("parameters are seeded: {}", error.what()));
    return nullptr;
  }
  const std::vector<std::string> missing = missing_parameters(graph, *source);
  if (missing.empty()) return source;
  if (!source->tensors().empty())
    remark("parameters are seeded: the model file has no values for " + names_text(missing));
  return nullptr;
}

Source weights_of_file(const std::string& given, const LoadedModel& model) {
  if (fs::is_directory(given)) return open_tensor_folder(given);
  if (!fs::exists(given)) {
    throw InputError("", "--weights", fmt::format("there is no \"{}\"", given),
                     "give auto, seeded, model, a file, or the folder of a checkpoint");
  }
  if (is_pytorch(given)) return open_pytorch(plugins(), given);
  if (is_safetensors(given)) return open_safetensors(given);
  return open_weights(plugins(), given, model.import);
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
  Source source = given == "model" ? Source(open_weights(plugins(), model.path, model.import))
                                   : weights_of_file(given, model);
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

class Arrays {
 public:
  void add(const std::string& given) {
    const std::size_t equals = given.find('=');
    if (equals != std::string::npos && equals > 0 && !fs::exists(given)) {
      named_.insert(given.substr(0, equals));
      return add_file(given.substr(0, equals), given.substr(equals + 1));
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

}  // namespace

void LaunchData::declare(CLI::App& command) {
  command
      .add_option("--weights", weights,
                  "Parameters at the start: seeded; model: the model file's own; auto: those, if it "
                  "has them all; or a FILE (.onnx, .pt, .safetensors) or checkpoint FOLDER")
      ->capture_default_str();
  command.add_option("--inputs", inputs,
                     "Samples: a folder with NAME.npy or NAME.pt for each input (see inspect), a .pt "
                     "file with all, or NAME=FILE; step k takes batch k, then from the start; else "
                     "synthetic");
  command.add_option("--keep-parameters", keep,
                     "Parameters after the last step: FILE.pt, FILE.safetensors, or a folder of .npy");
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
