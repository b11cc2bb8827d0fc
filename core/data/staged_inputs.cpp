#include "core/data/staged_inputs.h"

#include <fmt/format.h>

#include <cstring>
#include <system_error>
#include <unordered_map>

#include "core/base/error.h"
#include "core/data/convert.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInputsFormat = "stratoscope-inputs";
constexpr int kInputsVersion = 1;
constexpr const char* kStageAgain = "stage the job again";

// A link where the file system has it, else a copy.
void take_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path real = fs::canonical(from, error);
  if (!error) fs::create_hard_link(real, to, error);
  if (error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) {
    throw InputError(to.string(), "", "cannot be written: " + error.message(),
                     "make room, or choose a job folder that you may write to");
  }
}

// Writes the array in the type that the graph has. The whole array is in memory meanwhile: it comes
// from a file that is no .npy, or is one of integers to be widened.
void write_array(const fs::path& to, const Tensor& input, const InputArray& array) {
  std::string elements;
  StoredTensor tensor;
  if (array.source) {
    tensor = array.source->tensors()[array.index];
    array.source->read(array.index, [&](std::string_view bytes) { elements += bytes; });
  } else {
    const NpyFile file(array.file);
    tensor = {"", file.type(), file.shape()};
    elements = file.elements();
  }
  if (tensor.type != input.type) {
    auto as_wanted = converted(elements, tensor.type, input.type);
    CHECK(as_wanted.has_value(), "an input that was not checked");
    elements = std::move(*as_wanted);
  }
  write_file_in_parts(to, [&](const PutPart& put) {
    put(npy_header(input.type, tensor.shape));
    put(elements);
  });
}

bool is_as_wanted(const InputArray& array, const Tensor& input) {
  return !array.source && NpyFile(array.file).type() == input.type;
}

std::unordered_map<std::string, TensorId> inputs_by_name(const Graph& graph) {
  std::unordered_map<std::string, TensorId> inputs;
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId(i));
    if (tensor.role == TensorRole::Input) inputs.emplace(tensor.name, TensorId(i));
  }
  return inputs;
}

StagedInput open_staged(const fs::path& file, const Graph& graph, TensorId id,
                        std::int64_t samples) {
  const Tensor& input = graph.tensor(id);
  const SampleLayout layout = sample_layout(input, graph.batch());
  StagedInput staged{id, std::make_shared<const NpyFile>(file)};
  Shape expected = layout.sample;
  if (layout.batched) expected.insert(expected.begin(), samples);
  if (staged.file->type() != input.type || staged.file->shape() != expected) {
    throw InputError(file.string(), "",
                     fmt::format("is of another type or shape than the input \"{}\"", input.name),
                     kStageAgain);
  }
  return staged;
}

}  // namespace

void stage_inputs(const fs::path& job, const Graph& graph, const BoundInputs& inputs,
                  std::int64_t samples) {
  const fs::path folder = inputs_folder(job);
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) {
    throw InputError(folder.string(), "", "cannot be made: " + error.message(),
                     "make room, or choose a job folder that you may write to");
  }
  Json index = {{"format", kInputsFormat}, {"version", kInputsVersion}, {"samples", samples}};
  Json& rows = index["inputs"] = Json::array();
  for (const auto& [id, array] : inputs.arrays) {
    const Tensor& input = graph.tensor(id);
    const std::string name = fmt::format("{}.npy", rows.size());
    if (is_as_wanted(array, input))
      take_file(array.file, folder / name);
    else
      write_array(folder / name, input, array);
    rows.push_back({{"name", input.name}, {"file", name}});
  }
  write_file(folder / "index.json", json_text(index, 1) + "\n");
}

StagedInputs open_inputs(const fs::path& job, const Graph& graph) {
  const fs::path folder = inputs_folder(job), file = folder / "index.json";
  const JsonView index = JsonView::parse(read_file(file), file.string());
  index.expect_format(kInputsFormat, kInputsVersion);
  StagedInputs staged;
  staged.samples = index.at("samples").integer(0);
  auto missing = inputs_by_name(graph);
  for (const JsonView& row : index.at("inputs").items()) {
    const std::string name = row.at("file").string();
    if (!is_numbered_npy(name)) row.at("file").fail("is not a file of the folder", kStageAgain);
    const auto input = missing.find(row.at("name").string());
    if (input == missing.end()) row.at("name").fail("is no input of the model", kStageAgain);
    staged.inputs.push_back(open_staged(folder / name, graph, input->second, staged.samples));
    if (sample_layout(graph.tensor(input->second), graph.batch()).batched &&
        staged.samples < graph.batch()) {
      index.at("samples").fail("is less than a batch", kStageAgain);
    }
    missing.erase(input);
  }
  if (!missing.empty()) {
    index.at("inputs").fail("lacks the input \"" + missing.begin()->first + "\"", kStageAgain);
  }
  return staged;
}

std::string batch_of(const StagedInput& input, const Graph& graph, std::int64_t samples,
                     std::int64_t step, std::int64_t begin, std::int64_t end) {
  const SampleLayout layout = sample_layout(graph.tensor(input.tensor), graph.batch());
  const std::string_view all = input.file->elements();
  if (!layout.batched) return std::string(all);
  const auto outer = static_cast<std::size_t>(layout.outer);
  const auto inner = static_cast<std::size_t>(layout.inner);
  const auto count = static_cast<std::size_t>(end - begin);
  std::string batch(outer * count * inner, '\0');
  const std::int64_t first = ((step - 1) % samples) * (graph.batch() % samples) % samples;
  for (std::size_t i = 0; i < count && inner > 0; ++i) {
    const auto sample =
        static_cast<std::size_t>((first + begin + static_cast<std::int64_t>(i)) % samples);
    for (std::size_t o = 0; o < outer; ++o) {
      std::memcpy(batch.data() + (o * count + i) * inner, all.data() + (sample * outer + o) * inner,
                  inner);
    }
  }
  return batch;
}

}  // namespace strato
