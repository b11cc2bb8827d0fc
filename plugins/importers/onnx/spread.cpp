#include "plugins/importers/onnx/spread.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace strato::onnx_import {
namespace {

template <class T>
T attribute(const TranslatedOp& op, std::string_view key, T fallback) {
  for (const auto& [name, value] : op.attributes) {
    if (name == key && std::holds_alternative<T>(value)) return std::get<T>(value);
  }
  return fallback;
}

class Spreader {
 public:
  explicit Spreader(Translation& translation) : out_(translation) {
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      for (const Entry* input : out_.ops[i].inputs) {
        if (input != nullptr) readers_[input].push_back(i);
      }
      for (const Entry* output : out_.ops[i].outputs) producer_[output] = i;
    }
    for (const Entry* result : out_.results) results_.insert(result);
  }

  void run() {
    std::unordered_map<std::size_t, Layer> layers;
    std::unordered_set<std::size_t> gone;
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      if (const std::optional<Layer> layer = match(i)) {
        retarget(out_.ops[i], *layer);
        gone.insert(layer->behind);
        layers.emplace(i, *layer);
      }
    }
    std::vector<TranslatedOp> ops;
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      const auto layer = layers.find(i);
      if (layer != layers.end())
        rewrite(out_.ops[i], layer->second, ops);
      else if (!gone.contains(i))
        ops.push_back(std::move(out_.ops[i]));
    }
    out_.ops = std::move(ops);
  }

 private:
  struct Layer {
    std::size_t before, behind;  // the two Reshapes
    Shape leading;               // the axes that they merge
  };

  // The only op that reads a tensor, when it is a Reshape's data.
  std::optional<std::size_t> sole_reshape(const Entry* tensor) const {
    const auto found = readers_.find(tensor);
    if (found == readers_.end() || found->second.size() != 1 || results_.contains(tensor))
      return std::nullopt;
    const TranslatedOp& reader = out_.ops[found->second[0]];
    if (reader.type != "Reshape" || reader.inputs.empty() || reader.inputs[0] != tensor)
      return std::nullopt;
    return found->second[0];
  }

  static bool plain_linear(const TranslatedOp& op) {
    if (op.outputs.size() != 1 || op.inputs.size() < 2 || !op.inputs[0] || !op.inputs[1])
      return false;
    if (op.inputs[0]->facts.shape.size() != 2 || op.inputs[1]->facts.shape.size() != 2)
      return false;
    if (op.type == "MatMul") return true;
    if (op.type != "Gemm" || attribute<std::int64_t>(op, "transA", 0) != 0) return false;
    if (attribute(op, "alpha", 1.0) != 1.0 || attribute(op, "beta", 1.0) != 1.0) return false;
    const bool bias = op.inputs.size() > 2 && op.inputs[2] != nullptr;
    return !bias || op.inputs[2]->facts.shape.size() < 2 || op.inputs[2]->facts.shape[0] == 1;
  }

  std::optional<Layer> match(std::size_t i) const {
    const TranslatedOp& op = out_.ops[i];
    if (!plain_linear(op)) return std::nullopt;
    const auto made = producer_.find(op.inputs[0]);
    if (made == producer_.end() || out_.ops[made->second].type != "Reshape") return std::nullopt;
    const auto readers = readers_.find(op.inputs[0]);
    if (readers->second.size() != 1 || results_.contains(op.inputs[0])) return std::nullopt;
    const std::optional<std::size_t> behind = sole_reshape(op.outputs[0]);
    if (!behind) return std::nullopt;
    const Shape& spread = out_.ops[*behind].outputs[0]->facts.shape;
    const Shape& merged = op.outputs[0]->facts.shape;
    if (spread.size() < 3 || merged.size() != 2 || spread.back() != merged[1]) return std::nullopt;
    return Layer{made->second, *behind, Shape(spread.begin(), spread.end() - 1)};
  }

  Entry* tensor(std::string name, DataType type, Shape shape) {
    out_.entries.push_back(
        {std::move(name), TensorRole::Activation, {type, std::move(shape), nullptr}, -1, false});
    return &out_.entries.back();
  }

  // The Reshape in front keeps the axes apart.
  void retarget(const TranslatedOp& op, const Layer& layer) {
    Shape shape = layer.leading;
    shape.push_back(op.inputs[0]->facts.shape[1]);
    op.inputs[0]->facts.shape = shape;
    Facts target = known(integers(std::move(shape)));
    out_.entries.push_back(
        {op.name + "/shape", TensorRole::Constant, std::move(target), -1, false});
    TranslatedOp& reshape = out_.ops[layer.before];
    reshape.inputs = {reshape.inputs[0], &out_.entries.back()};
    std::erase_if(reshape.attributes,
                  [](const auto& attribute) { return attribute.first == "shape"; });
  }

  void rewrite(const TranslatedOp& op, const Layer& layer, std::vector<TranslatedOp>& ops) {
    Entry* weight = op.inputs[1];
    if (op.type == "Gemm" && attribute<std::int64_t>(op, "transB", 0) != 0) {
      const Shape& stored = weight->facts.shape;
      Entry* turned = tensor(op.name + "/weight", weight->facts.type, {stored[1], stored[0]});
      ops.push_back({op.name + "/Transpose",
                     "Transpose",
                     {weight},
                     {turned},
                     {{"perm", std::vector<std::int64_t>{1, 0}}}});
      weight = turned;
    }
    Entry* result = out_.ops[layer.behind].outputs[0];
    const bool bias = op.inputs.size() > 2 && op.inputs[2] != nullptr;
    Entry* product =
        bias ? tensor(op.name + "/product", result->facts.type, result->facts.shape) : result;
    ops.push_back({op.name, "MatMul", {op.inputs[0], weight}, {product}, {}});
    if (bias) ops.push_back({op.name + "/Add", "Add", {product, op.inputs[2]}, {result}, {}});
  }

  Translation& out_;
  std::unordered_map<const Entry*, std::vector<std::size_t>> readers_;
  std::unordered_map<const Entry*, std::size_t> producer_;
  std::unordered_set<const Entry*> results_;
};

}  // namespace

void spread_linear_layers(Translation& translation) { Spreader(translation).run(); }

}  // namespace strato::onnx_import
