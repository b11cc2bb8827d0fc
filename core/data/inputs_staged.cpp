#include <fmt/format.h>

#include <cstring>
#include <system_error>
#include <unordered_map>

#include "core/base/error.h"
#include "core/data/inputs.h"
#include "core/data/tensor_folder.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "inputs";
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

// Stages one array in the type that the graph has. The whole array is in memory meanwhile where it
// comes from a file that is no .npy, or is one of integers to be widened.
void stage(const fs::path& to, const Tensor& input, const InputArray& array) {
  OpenedArray opened(array);
  const DataType type = opened.tensor().type;
  if (!array.source && type == input.type) return take_file(array.file, to);
  std::optional<std::string> wanted;
  if (type != input.type) {
    wanted = converted(opened.elements(), type, input.type);
    CHECK(wanted.has_value(), "an input that was not checked");
  }
  write_file_in_parts(to, [&](const PutPart& put) {
    put(npy_header(input.type, opened.tensor().shape));
    put(wanted ? std::string_view(*wanted) : opened.elements());
  });
}

StagedInput open_staged(const fs::path& file, const Graph& graph, TensorId id,
                        std::int64_t samples) {
  const Tensor& input = graph.tensor(id);
  const SampleLayout layout = sample_layout(input, graph.batch());
  StagedInput staged{id, std::make_shared<const NpyFile>(file)};
  Shape expected = layout.sample;
  if (layout.batched) expected.insert(expected.begin(), samples);
  if (staged.file->type() != input.type || staged.file->shape() != expected)
    throw InputError(file.string(), "",
                     fmt::format("is of another type or shape than the input \"{}\"", input.name),
                     kStageAgain);
  return staged;
}

}  // namespace

void stage_inputs(const fs::path& job, const Graph& graph, const BoundInputs& inputs,
                  std::int64_t samples) {
  const fs::path folder = job / kFolder;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  make_folder(folder);
  Json index = {{"format", kInputsFormat}, {"version", kInputsVersion}, {"samples", samples}};
  Json& rows = index["inputs"] = Json::array();
  for (const auto& [id, array] : inputs.arrays) {
    const Tensor& input = graph.tensor(id);
    const std::string name = fmt::format("{}.npy", rows.size());
    stage(folder / name, input, array);
    rows.push_back({{"name", input.name}, {"file", name}});
  }
  write_file(folder / "index.json", json_text(index, 1) + "\n");
}

StagedInputs open_inputs(const fs::path& job, const Graph& graph) {
  const fs::path folder = job / kFolder, file = folder / "index.json";
  const JsonView index = JsonView::parse(read_file(file), file.string());
  index.expect_format(kInputsFormat, kInputsVersion);
  StagedInputs staged;
  staged.samples = index.at("samples").integer(0);
  std::unordered_map<std::string, TensorId> missing;
  for (const TensorId id : inputs_of(graph)) missing.emplace(graph.tensor(id).name, id);
  for (const JsonView& row : index.at("inputs").items()) {
    const std::string name = row.at("file").string();
    if (!is_numbered_npy(name)) row.at("file").fail("is not a file of the folder", kStageAgain);
    const auto input = missing.find(row.at("name").string());
    if (input == missing.end()) row.at("name").fail("is no input of the model", kStageAgain);
    staged.inputs.push_back(open_staged(folder / name, graph, input->second, staged.samples));
    if (sample_layout(graph.tensor(input->second), graph.batch()).batched &&
        staged.samples < graph.batch())
      index.at("samples").fail("is less than a batch", kStageAgain);
    missing.erase(input);
  }
  if (!missing.empty())
    index.at("inputs").fail(fmt::format("lacks the input \"{}\"", missing.begin()->first),
                            kStageAgain);
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
