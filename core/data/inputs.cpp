#include "core/data/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/data/convert.h"
#include "core/data/npy.h"
#include "core/data/tensor_folder.h"
#include "core/graph/train/initial_value.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoIndex = -1;  // of inputs without samples

std::vector<TensorId> inputs_of(const Graph& graph) {
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    if (graph.tensor(TensorId(i)).role == TensorRole::Input) inputs.emplace_back(i);
  }
  return inputs;
}

// ---- names

// Turns a tensor's name into one that file names may have.
std::string plain(std::string name) {
  for (char& c : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return name;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// The input that a person means; an invalid id: none, or several.
TensorId input_named(const Graph& graph, const std::string& name) {
  for (const auto& reading : {+[](const std::string& full) { return full; },
                              +[](const std::string& full) { return plain(full); },
                              +[](const std::string& full) { return last_part(full); }}) {
    std::vector<TensorId> found;
    for (const TensorId id : inputs_of(graph)) {
      if (reading(graph.tensor(id).name) == name) found.push_back(id);
    }
    if (found.size() == 1) return found[0];
  }
  return {};
}

// ---- what an array says of itself

struct Opened {
  StoredTensor tensor;
  std::shared_ptr<const NpyFile> npy;
  std::string file, place;
};

Opened open(const InputArray& array) {
  if (array.source) {
    const StoredTensor& tensor = array.source->tensors()[array.index];
    return {tensor, nullptr, array.source->file(), "\"" + tensor.name + "\""};
  }
  auto npy = std::make_shared<const NpyFile>(array.file);
  return {{"", npy->type(), npy->shape()}, npy, array.file.string(), ""};
}

// All elements as one text: of a mapped file none is copied.
class Elements {
 public:
  Elements(const InputArray& array, const Opened& opened) {
    if (opened.npy) {
      view_ = opened.npy->elements();
      return;
    }
    array.source->read(array.index, [this](std::string_view bytes) { read_ += bytes; });
    view_ = read_;
  }
  Elements(const Elements&) = delete;
  std::string_view view() const { return view_; }

 private:
  std::string read_;
  std::string_view view_;
};

// ---- checks

class InputCheck {
 public:
  InputCheck(const Graph& graph, TensorId input, const InputArray& array)
      : graph_(graph),
        id_(input),
        input_(graph.tensor(input)),
        array_(array),
        opened_(open(array)),
        layout_(sample_layout(input_, graph.batch())) {}

  // The number of samples.
  std::int64_t run() const {
    check_type();
    check_shape();
    check_range();
    return layout_.batched ? opened_.tensor.shape[0] : kNoIndex;
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& remedy) const {
    throw InputError(opened_.file, opened_.place,
                     fmt::format("{} (of the input \"{}\")", problem, input_.name), remedy);
  }

  void check_type() const {
    const DataType from = opened_.tensor.type;
    if (widens(from, input_.type) || may_fit(from, input_.type)) return;
    fail(fmt::format("has elements of type {} instead of {}", name_of(from), name_of(input_.type)),
         fmt::format("store it as {}", name_of(input_.type)));
  }

  void check_shape() const {
    Shape shape = opened_.tensor.shape;
    const bool has_axis = !layout_.batched || !shape.empty();
    if (layout_.batched && has_axis) shape.erase(shape.begin());
    if (!has_axis || shape != layout_.sample) {
      fail(
          fmt::format("has shape [{}] instead of [{}{}]", fmt::join(opened_.tensor.shape, ", "),
                      layout_.batched ? layout_.sample.empty() ? "N" : "N, " : "",
                      fmt::join(layout_.sample, ", ")),
          layout_.batched ? "put the N samples on the first axis" : "give it in the model's shape");
    }
    if (layout_.batched && opened_.tensor.shape[0] < graph_.batch()) {
      fail(fmt::format("has {} samples, and a batch {}", opened_.tensor.shape[0], graph_.batch()),
           "give at least a batch of samples");
    }
  }

  void check_range() const {
    if (is_floating(input_.type)) return;
    const InitialValue range = initial_value(graph_, id_);
    const bool indices = range.kind == InitialValue::Kind::Integers;
    const DataType from = opened_.tensor.type;
    if (!indices && widens(from, input_.type)) return;
    const Elements elements(array_, opened_);
    const auto high = static_cast<std::int64_t>(range.high);
    const std::optional<std::int64_t> ignored = ignored_label();
    const auto count = elements.view().size() / static_cast<std::size_t>(size_of(from));
    for (std::size_t i = 0; i < count && indices; ++i) {
      const std::int64_t value = integer_at(elements.view(), i, from);
      if ((value >= 0 && value < high) || value == ignored) continue;
      fail(fmt::format("has {} at element {}, and indices go from 0 to {}", value, i, high - 1),
           "check the data, or the model's number of classes");
    }
    if (!widens(from, input_.type) && !converted(elements.view(), from, input_.type)) {
      fail(fmt::format("has numbers that do not fit {}", name_of(input_.type)), "check the data");
    }
  }

  // Returns the label that the loss leaves out.
  std::optional<std::int64_t> ignored_label() const {
    for (const OpId reader : graph_.consumers(id_)) {
      const Op& op = graph_.op(reader);
      if (op.family == OpFamily::Loss && op.phase != Phase::Backward && op.inputs.size() > 1 &&
          op.inputs[1] == id_) {
        return op.integer("ignore_index", -100);
      }
    }
    return std::nullopt;
  }

  const Graph& graph_;
  TensorId id_;
  const Tensor& input_;
  const InputArray& array_;
  Opened opened_;
  SampleLayout layout_;
};

}  // namespace

SampleLayout sample_layout(const Tensor& input, std::int64_t batch) {
  SampleLayout layout;
  layout.sample = input.shape;
  layout.inner = size_of(input.type);
  if (input.batch.kind != BatchKind::Batched) {
    for (const std::int64_t extent : input.shape) layout.inner *= extent;
    return layout;
  }
  layout.batched = true;
  const auto axis = static_cast<std::size_t>(input.batch.axis);
  for (std::size_t i = 0; i < axis; ++i) layout.outer *= input.shape[i];
  for (std::size_t i = axis + 1; i < input.shape.size(); ++i) layout.inner *= input.shape[i];
  const std::int64_t merged = input.shape[axis] / std::max<std::int64_t>(batch, 1);
  layout.outer *= input.batch.blocks;
  layout.inner *= merged / input.batch.blocks;
  const auto at = layout.sample.begin() + input.batch.axis;
  if (merged == 1)
    layout.sample.erase(at);
  else
    *at = merged;
  return layout;
}

std::string describe_inputs(const Graph& graph) {
  std::vector<std::string> lines;
  for (const TensorId id : inputs_of(graph)) {
    const Tensor& input = graph.tensor(id);
    const SampleLayout layout = sample_layout(input, graph.batch());
    lines.push_back(fmt::format("{}: {} [{}{}]", input.name, name_of(input.type),
                                layout.batched ? layout.sample.empty() ? "N" : "N, " : "",
                                fmt::join(layout.sample, ", ")));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

BoundInputs bind_inputs(const Graph& graph, const InputArrays& arrays) {
  BoundInputs bound;
  for (const auto& [name, array] : arrays) {
    const TensorId input = input_named(graph, name);
    if (!input.valid()) {
      bound.unused.push_back(name);
    } else if (!bound.arrays.emplace(input, array).second) {
      throw InputError("", "--inputs",
                       fmt::format("\"{}\" has several arrays", graph.tensor(input).name),
                       "give each input one");
    }
  }
  for (const TensorId id : inputs_of(graph)) {
    if (bound.arrays.contains(id)) continue;
    throw InputError("", "--inputs",
                     fmt::format("there is no array for \"{}\"", graph.tensor(id).name),
                     "the model takes " + describe_inputs(graph));
  }
  return bound;
}

std::int64_t check_inputs(const Graph& graph, const BoundInputs& inputs) {
  std::int64_t samples = kNoIndex;
  for (const auto& [id, array] : inputs.arrays) {
    const std::int64_t own = InputCheck(graph, id, array).run();
    if (own == kNoIndex) continue;
    if (samples != kNoIndex && own != samples) {
      throw InputError("", "--inputs",
                       fmt::format("\"{}\" has {} samples, and another input {}",
                                   graph.tensor(id).name, own, samples),
                       "give all inputs the same samples");
    }
    samples = own;
  }
  return std::max<std::int64_t>(samples, 0);
}

}  // namespace strato
