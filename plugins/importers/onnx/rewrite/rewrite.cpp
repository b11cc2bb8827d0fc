#include "plugins/importers/onnx/rewrite/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plugins/importers/onnx/rewrite/writer.h"

namespace strato::onnx_import {

Entry* OpWriter::constant(std::vector<std::int64_t> elements) {
  out_.entries.push_back(
      {name_ + "/setting", TensorRole::Constant, known(integers(std::move(elements)))});
  return &out_.entries.back();
}

Entry* OpWriter::add(const std::string& type, Entries inputs, Shape shape,
                     std::vector<std::pair<std::string, Attribute>> attributes, Entry* result) {
  TranslatedOp added;
  added.op.name = ops_.empty() ? name_ : fmt::format("{}/{}_{}", name_, type, ops_.size());
  added.op.type = type;
  added.op.attributes = std::move(attributes);
  if (result == nullptr) {
    out_.entries.push_back(
        {added.op.name, TensorRole::Activation, {inputs[0]->facts.type, std::move(shape)}});
    result = &out_.entries.back();
  }
  added.inputs = std::move(inputs);
  added.outputs = {result};
  ops_.push_back(std::move(added));
  return result;
}

Entry* OpWriter::reshape(Entry* tensor, Shape shape) {
  if (tensor->facts.shape == shape) return tensor;
  Entry* target = constant(shape);
  return add("Reshape", {tensor, target}, std::move(shape));
}

Entry* OpWriter::slice(Entry* tensor, std::size_t axis, std::int64_t begin, std::int64_t end) {
  Shape shape = tensor->facts.shape;
  shape[axis] = end - begin;
  return add(
      "Slice",
      {tensor, constant({begin}), constant({end}), constant({static_cast<std::int64_t>(axis)})},
      std::move(shape));
}

namespace {

Rewritten rewritten(const TranslatedOp& op, Translation& translation, const Makers& makers) {
  const bool plain = op.outputs.size() == 1 && std::ranges::count(op.inputs, nullptr) == 0;
  if (!plain) return std::nullopt;
  OpWriter writer(translation, op.op.name);
  if (op.op.type == "Tile") return stretched_tile(op, std::move(writer));
  if (op.op.type == "ScatterND") return written_box(op, std::move(writer));
  if (op.op.type == "Gather") return rows_of_samples(op, std::move(writer), makers);
  return std::nullopt;
}

// Parameters, and what is converted from them.
bool is_weight(const Entry* tensor, const Makers& makers) {
  constexpr int kMostConversions = 4;
  for (int i = 0; i < kMostConversions && tensor != nullptr; ++i) {
    if (tensor->role == TensorRole::Parameter) return true;
    const auto maker = makers.find(tensor);
    if (maker == makers.end()) return false;
    const std::string& type = maker->second->op.type;
    if (type != "Cast" && type != "Identity" && type != "DequantizeLinear") return false;
    tensor = maker->second->inputs[0];
  }
  return false;
}

// The weight that `tensor` is the transpose of; null: it is none.
Entry* turned_weight(const Entry* tensor, const Makers& makers) {
  const auto found = makers.find(tensor);
  if (found == makers.end() || found->second->op.type != "Transpose") return nullptr;
  Entry* weight = found->second->inputs[0];
  const std::vector<std::int64_t> order = found->second->op.integers("perm");
  const bool turned = order.empty() || order == std::vector<std::int64_t>{1, 0};
  const bool matrix = weight != nullptr && weight->facts.shape.size() == 2;
  return matrix && turned && is_weight(weight, makers) ? weight : nullptr;
}

void flip(Op& op, const std::string& attribute) {
  const std::int64_t flipped = op.integer(attribute, 0) == 0 ? 1 : 0;
  std::erase_if(op.attributes, [&](const auto& each) { return each.first == attribute; });
  op.attributes.emplace_back(attribute, flipped);
}

Makers makers_of(const Translation& translation) {
  Makers makers;
  for (const TranslatedOp& op : translation.ops)
    for (const Entry* output : op.outputs) makers[output] = &op;
  return makers;
}

}  // namespace

void read_weights_as_stored(Translation& translation) {
  const bool none = std::ranges::none_of(
      translation.ops, [](const TranslatedOp& op) { return op.op.type == "Transpose"; });
  if (none) return;
  const Makers makers = makers_of(translation);
  for (TranslatedOp& op : translation.ops) {
    const bool product = op.op.type == "MatMul" || op.op.type == "Gemm";
    if (!product || op.inputs.size() < 2) continue;
    Entry* weight = turned_weight(op.inputs[1], makers);
    if (weight == nullptr) continue;
    op.inputs[1] = weight;
    flip(op.op, "transB");
    if (op.op.type == "MatMul") op.op.type = "FusedMatMul";
  }
}

void rewrite_for_samples(Translation& translation) {
  const bool none = std::ranges::none_of(translation.ops, [](const TranslatedOp& op) {
    return op.op.type == "Tile" || op.op.type == "ScatterND" || op.op.type == "Gather";
  });
  if (none) return;
  const Makers makers = makers_of(translation);
  std::vector<TranslatedOp> ops;
  ops.reserve(translation.ops.size());
  for (const TranslatedOp& op : translation.ops) {
    if (Rewritten instead = rewritten(op, translation, makers))
      std::ranges::move(*instead, std::back_inserter(ops));
    else
      ops.push_back(op);
  }
  translation.ops = std::move(ops);
}

}  // namespace strato::onnx_import
