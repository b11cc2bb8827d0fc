// Nodes whose results are known while the file is read.
#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/importers/onnx/fold/fold.h"
#include "plugins/importers/onnx/translate/translate.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMaxKnownElements = std::size_t{1} << 25;  // no more is folded after them

// Numbers in an attribute of their own, not in a tensor.
std::optional<Value> numbers_in(const onnx::AttributeProto& attribute) {
  if (attribute.name() == "value_int") return whole_number(attribute.i());
  if (attribute.name() == "value_float") return scalar(DataType::F32, attribute.f());
  if (attribute.name() == "value_ints")
    return integers({attribute.ints().begin(), attribute.ints().end()});
  if (attribute.name() != "value_floats") return std::nullopt;
  const auto& floats = attribute.floats();
  return Value{DataType::F32, {floats.size()}, {}, {floats.begin(), floats.end()}};
}

// Each of these adds what it is named for; false: the node makes no such thing. The node has one
// output, and `input` is its only one; a constant has none.

bool add_constant(Scope& scope, const onnx::NodeProto& node, const Entry*) {
  const onnx::AttributeProto* attribute = find_attribute(node, "value");
  if (attribute != nullptr && attribute->has_t()) {
    const bool may_be_weight =
        attribute->t().dims_size() > 0 && scope.uses.as_weight(node.output(0));
    scope.tensors.add_stored(attribute->t(), node.output(0), label_of(node), may_be_weight);
    return true;
  }
  if (node.attribute_size() == 0) scope.refuse(node, "has no value", kExportAgain);
  std::optional<Value> value = numbers_in(node.attribute(0));
  if (!value) scope.refuse(node, "holds no numbers", "remove it from the model");
  scope.tensors.add_value(node.output(0), std::move(*value));
  return true;
}

bool add_size(Scope& scope, const onnx::NodeProto& node, const Entry* input) {
  scope.tensors.add_value(node.output(0),
                          whole_number(element_count(input->facts.shape).value_or(0)));
  return true;
}

bool add_shape(Scope& scope, const onnx::NodeProto& node, const Entry* input) {
  const Shape& shape = input->facts.shape;
  const std::int64_t rank = std::ssize(shape);
  const auto inside = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
  };
  const std::int64_t begin = inside(integer(node, "start", 0)),
                     end = inside(integer(node, "end", rank));
  scope.tensors.add_value(node.output(0),
                          integers({shape.begin() + begin, shape.begin() + std::max(begin, end)}));
  return true;
}

// Exporters that merge initializers of equal content (PyTorch does) leave Identity ops in the
// place of the others: equal when exported, they are weights of their own when trained, unless the
// content tells that they are tied. Inside a body such an op hands a weight on, from round to
// round.
bool add_copied_weight(Scope& scope, const onnx::NodeProto& node, const Entry* input) {
  if (input->role != TensorRole::Parameter || !input->stored) return false;
  if (scope.expansion.inside() || scope.contents.is_telling(input->name)) {
    scope.tensors.give_name(node, node.input(0), node.output(0));
    return true;
  }
  Entry& copy = scope.tensors.add(node.output(0), TensorRole::Parameter, input->facts);
  copy.stored = true;
  copy.origin = input->origin;
  return true;
}

// Weights without elements, which make files small. What has the shape of data is none.
bool add_filled_weight(Scope& scope, const onnx::NodeProto& node, const Entry* input) {
  const Value* shape = input->facts.value.get();
  if (!input->given || shape == nullptr || shape->floating() || shape->ints.empty() ||
      !scope.uses.as_weight(node.output(0)))
    return false;
  onnx::TensorProto fill;  // one element
  if (const onnx::AttributeProto* value = find_attribute(node, "value"))
    fill = value->t();
  else
    write_value(scalar(DataType::F32, 0), fill);
  const DataType type = data_type_of(fill.data_type()).value_or(DataType::F32);
  if (!is_floating(type)) return false;
  Tensors& tensors = scope.tensors;
  tensors.note_origin(tensors.add(node.output(0), TensorRole::Parameter, {type, shape->ints}),
                      fill);
  return true;
}

}  // namespace

bool add_known(Scope& scope, const onnx::NodeProto& node, const Entries& inputs) {
  using Add = bool (*)(Scope&, const onnx::NodeProto&, const Entry*);
  static const std::unordered_map<std::string_view, Add> kinds = {
      {"Constant", add_constant},
      {"Shape", add_shape},
      {"Size", add_size},
      {"Identity", add_copied_weight},
      {"ConstantOfShape", add_filled_weight}};
  const auto kind = kinds.find(node.op_type());
  if (kind == kinds.end() || node.output_size() != 1) return false;
  const Entry* input = inputs.size() == 1 ? inputs[0] : nullptr;
  return (input != nullptr || node.op_type() == "Constant") && kind->second(scope, node, input);
}

bool add_folded(Scope& scope, const onnx::NodeProto& node, const Entries& inputs) {
  std::vector<const Value*> values;
  for (const Entry* input : inputs) {
    if (input != nullptr && input->facts.value == nullptr) return false;
    values.push_back(input != nullptr ? input->facts.value.get() : nullptr);
  }
  if (values.empty() || scope.tensors.known_elements() > kMaxKnownElements) return false;
  std::vector<Value> results = fold(node, values);
  if (results.empty()) return false;
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      scope.tensors.add_value(node.output(i), std::move(results[static_cast<std::size_t>(i)]));
  return true;
}

}  // namespace strato::onnx_import
