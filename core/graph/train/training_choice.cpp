#include "core/graph/train/training_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/words.h"
#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_builder.h"

namespace strato {
namespace {

constexpr std::size_t kNamedAtMost = 6;

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

void check_matches(const Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.role == TensorRole::Parameter) names.push_back(tensor.name);
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const std::string& name) { return matches_pattern(pattern, name); };
    if (std::ranges::any_of(names, fits)) continue;
    const std::size_t all = names.size();
    names.resize(std::min(all, kNamedAtMost));
    throw InputError(graph.name(), "parameters", fmt::format("none is named \"{}\"", pattern),
                     all == 0 ? std::string("it has none at all")
                              : fmt::format("they are {}{}", fmt::join(names, ", "),
                                            all > names.size() ? fmt::format(" … ({} in all)", all)
                                                               : std::string()));
  }
}

float element_of(DataType type, const char* bytes) {
  if (type == DataType::F32) {
    float value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return type == DataType::F16 ? half_value(bits) : bfloat_value(bits);
}

// Elements of a constant, written in another type.
std::shared_ptr<const std::string> converted(const std::string& data, DataType from, DataType to) {
  std::string result;
  const auto width = static_cast<std::size_t>(size_of(from));
  for (std::size_t at = 0; at + width <= data.size(); at += width) {
    const float value = element_of(from, data.data() + at);
    const std::uint16_t bits = to == DataType::F16 ? half_bits(value) : bfloat_bits(value);
    if (to == DataType::F32)
      result.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      result.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return std::make_shared<const std::string>(std::move(result));
}

class MixedPrecision {
 public:
  MixedPrecision(const Graph& graph, DataType type)
      : graph_(graph), type_(type), builder_(graph.name(), graph.batch()) {}

  Graph run() {
    for (const TensorId id : graph_.tensors().ids()) builder_.add_tensor(changed(id));
    copies_ = IdVector<TensorId, TensorId>(graph_.tensor_count());
    for (const Op& op : graph_.ops()) add(op);
    return std::move(builder_).build();
  }

 private:
  static bool is_trained(const Tensor& tensor) {
    return tensor.role == TensorRole::Parameter && !tensor.frozen;
  }

  // Factors of a size, which are read in 32 bits.
  bool sizes_others(TensorId id) const {
    return std::ranges::any_of(graph_.consumers(id), [&](OpId reader) {
      const Op& op = graph_.op(reader);
      return (op.type == "Resize" || op.type == "Upsample") && op.inputs.front() != id;
    });
  }

  Tensor changed(TensorId id) const {
    Tensor tensor = graph_.tensor(id);
    const bool given = tensor.role == TensorRole::Input ||
                       (tensor.role == TensorRole::Constant && sizes_others(id));
    if (!has_precision(tensor.type) || given) return tensor;
    const DataType type = is_trained(tensor) ? DataType::F32 : type_;
    if (tensor.data && type != tensor.type)
      tensor.data = converted(*tensor.data, tensor.type, type);
    tensor.type = type;
    return tensor;
  }

  void add(Op op) {
    const bool casts = op.type == "Cast" && is_computed(op.outputs[0]);
    if (casts) {
      set_target(op);
    } else {
      for (TensorId& input : op.inputs)
        if (input.valid()) input = as_computed(input);
    }
    builder_.add_op(std::move(op));
  }

  bool is_computed(TensorId id) const { return has_precision(graph_.tensor(id).type); }

  // A Cast between types that have become one passes on what it reads.
  void set_target(Op& op) {
    if (builder_.tensor(op.inputs[0]).type == type_) {
      op.type = "Identity";
      op.attributes.clear();
      return;
    }
    for (auto& [key, value] : op.attributes)
      if (key == "to") value = std::int64_t{onnx_number(type_)};
  }

  // What was read in another precision is read from a copy.
  TensorId as_computed(TensorId id) {
    const Tensor tensor = builder_.tensor(id);
    const bool is_given = is_trained(tensor) || tensor.role == TensorRole::Input;
    if (!is_given || !has_precision(tensor.type) || tensor.type == type_) return id;
    TensorId& copy = copies_[id];
    if (copy.valid()) return copy;
    copy =
        builder_.add_tensor({.name = tensor.name + "/cast", .type = type_, .shape = tensor.shape});
    builder_.add_op({.name = tensor.name + "/cast",
                     .type = "Cast",
                     .inputs = {id},
                     .outputs = {copy},
                     .attributes = {{"to", std::int64_t{onnx_number(type_)}}}});
    return copy;
  }

  const Graph& graph_;
  DataType type_;
  GraphBuilder builder_;
  IdVector<TensorId, TensorId> copies_;  // of inputs and parameters, in type_; or an invalid id
};

}  // namespace

Graph with_frozen(const Graph& forward, const std::vector<std::string>& trainable,
                  const std::vector<std::string>& frozen) {
  check_matches(forward, trainable);
  check_matches(forward, frozen);
  GraphBuilder builder = builder_with_tensors(forward);
  bool trains = false;
  for (const TensorId id : forward.tensors().ids()) {
    Tensor& tensor = builder.tensor(id);
    if (tensor.role != TensorRole::Parameter) continue;
    const bool wanted = trainable.empty() || matches_any(trainable, tensor.name);
    tensor.frozen = tensor.frozen || !wanted || matches_any(frozen, tensor.name);
    trains = trains || !tensor.frozen;
  }
  if (!trains)
    throw InputError(forward.name(), "parameters", "all of them are frozen",
                     "leave some to train, or plan the forward graph with --inference");
  for (const Op& op : forward.ops()) builder.add_op(op);
  return std::move(builder).build();
}

Graph in_mixed_precision(const Graph& forward, DataType type) {
  check_precision(type, forward.name());
  return MixedPrecision(forward, type).run();
}

}  // namespace strato
