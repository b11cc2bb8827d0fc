#include "core/data/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/base/error.h"
#include "core/graph/train/initial_value.h"

namespace strato {
namespace {

constexpr std::int64_t kNoIndex = -1;  // of inputs without samples

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
    for (const TensorId id : inputs_of(graph))
      if (reading(graph.tensor(id).name) == name) found.push_back(id);
    if (found.size() == 1) return found[0];
  }
  return {};
}

// "[N, 3, 8, 8]"
std::string text_of(const SampleLayout& layout) {
  const char* samples = layout.batched ? layout.sample.empty() ? "N" : "N, " : "";
  return fmt::format("[{}{}]", samples, fmt::join(layout.sample, ", "));
}

class InputCheck {
 public:
  InputCheck(const Graph& graph, TensorId input, const InputArray& array)
      : graph_(graph),
        id_(input),
        input_(graph.tensor(input)),
        opened_(array),
        layout_(sample_layout(input_, graph.batch())) {}

  // The number of samples.
  std::int64_t run() {
    check_type();
    check_shape();
    check_range();
    return layout_.batched ? opened_.tensor().shape[0] : kNoIndex;
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& remedy) const {
    opened_.fail(fmt::format("{} (of the input \"{}\")", problem, input_.name), remedy);
  }

  void check_type() const {
    const DataType from = opened_.tensor().type;
    // Integers may fit nevertheless: i64 labels of a model that wants i32.
    const bool integers = !is_floating(from) && !is_floating(input_.type);
    if (integers || widens(from, input_.type)) return;
    fail(fmt::format("has elements of type {} instead of {}", name_of(from), name_of(input_.type)),
         fmt::format("store it as {}", name_of(input_.type)));
  }

  void check_shape() const {
    const Shape& shape = opened_.tensor().shape;
    Shape expected = layout_.sample;
    if (layout_.batched) expected.insert(expected.begin(), shape.empty() ? 0 : shape[0]);
    if (shape != expected)
      fail(
          fmt::format("has shape [{}] instead of {}", fmt::join(shape, ", "), text_of(layout_)),
          layout_.batched ? "put the N samples on the first axis" : "give it in the model's shape");
    if (layout_.batched && shape[0] < graph_.batch())
      fail(fmt::format("has {} samples, and a batch {}", shape[0], graph_.batch()),
           "give at least a batch of samples");
  }

  void check_range() {
    if (is_floating(input_.type)) return;
    const InitialValue range = initial_value(graph_, id_);
    const bool indices = range.kind == InitialValue::Kind::Integers;
    const DataType from = opened_.tensor().type;
    if (!indices && widens(from, input_.type)) return;
    const std::string_view elements = opened_.elements();
    const auto high = static_cast<std::int64_t>(range.high);
    const std::optional<std::int64_t> ignored = ignored_label();
    const auto count = elements.size() / static_cast<std::size_t>(size_of(from));
    for (std::size_t i = 0; i < count && indices; ++i) {
      const std::int64_t value = integer_at(elements, i, from);
      if ((value >= 0 && value < high) || value == ignored) continue;
      fail(fmt::format("has {} at element {}, and indices go from 0 to {}", value, i, high - 1),
           "check the data, or the model's number of classes");
    }
    if (!widens(from, input_.type) && !converted(elements, from, input_.type))
      fail(fmt::format("has numbers that do not fit {}", name_of(input_.type)), "check the data");
  }

  // Returns the label that the loss leaves out.
  std::optional<std::int64_t> ignored_label() const {
    for (const OpId reader : graph_.consumers(id_)) {
      const Op& op = graph_.op(reader);
      if (op.family == OpFamily::Loss && op.phase != Phase::Backward && op.inputs[0] != id_)
        return op.integer("ignore_index", -100);
    }
    return std::nullopt;
  }

  const Graph& graph_;
  TensorId id_;
  const Tensor& input_;
  OpenedArray opened_;
  SampleLayout layout_;
};

}  // namespace

OpenedArray::OpenedArray(const InputArray& array) : array_(array) {
  if (array.source) {
    tensor_ = array.source->tensors()[array.index];
    return;
  }
  npy_ = std::make_unique<const NpyFile>(array.file);
  tensor_ = {"", npy_->type(), npy_->shape()};
}

std::string_view OpenedArray::elements() {
  if (npy_) return npy_->elements();
  read_.clear();
  array_.source->read(array_.index, [this](std::string_view bytes) { read_ += bytes; });
  return read_;
}

void OpenedArray::fail(const std::string& problem, const std::string& remedy) const {
  if (npy_) throw InputError(array_.file.string(), "", problem, remedy);
  throw InputError(array_.source->file(), fmt::format("\"{}\"", tensor_.name), problem, remedy);
}

std::vector<TensorId> inputs_of(const Graph& graph) {
  std::vector<TensorId> inputs;
  for (const TensorId id : graph.tensors().ids())
    if (graph.tensor(id).role == TensorRole::Input) inputs.push_back(id);
  return inputs;
}

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
    lines.push_back(fmt::format("{}: {} {}", input.name, name_of(input.type),
                                text_of(sample_layout(input, graph.batch()))));
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
