#include "plugins/importers/onnx/translate/known_results.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/importers/onnx/fold/fold.h"
#include "plugins/importers/onnx/read/element_type.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/tensor_value.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMaxKnownElements = std::size_t{1} << 25;  // no more is folded after them

// Numbers in an attribute of their own, not in a tensor.
std::optional<Value> numbers_in(const onnx::AttributeProto& attribute) {
  if (attribute.name() == "value_int")
    return scalar(DataType::I64, static_cast<double>(attribute.i()));
  if (attribute.name() == "value_float") return scalar(DataType::F32, attribute.f());
  if (attribute.name() == "value_ints") {
    return integers({attribute.ints().begin(), attribute.ints().end()});
  }
  if (attribute.name() != "value_floats") return std::nullopt;
  Value value{DataType::F32, {attribute.floats_size()}, {}, {}};
  value.reals.assign(attribute.floats().begin(), attribute.floats().end());
  return value;
}

onnx::TensorProto float_zero() {
  onnx::TensorProto zero;
  zero.set_data_type(onnx::TensorProto::FLOAT);
  zero.add_float_data(0);
  return zero;
}

}  // namespace

bool KnownResults::add(const onnx::NodeProto& node, const Entries& inputs) {
  return add_constant(node) || add_shape(node, inputs) || add_copied_weight(node, inputs) ||
         add_filled_weight(node, inputs);
}

bool KnownResults::add_constant(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || node.output_size() != 1) return false;
  const onnx::AttributeProto* attribute = find_attribute(node, "value");
  if (attribute != nullptr && attribute->has_t()) {
    add_constant_tensor(node, attribute->t());
    return true;
  }
  if (node.attribute_size() == 0) refuse(model_.file, node, "has no value", kExportAgain);
  std::optional<Value> value = numbers_in(node.attribute(0));
  if (!value) refuse(model_.file, node, "holds no numbers", "remove it from the model");
  tensors_.add_value(node.output(0), std::move(*value));
  return true;
}

void KnownResults::add_constant_tensor(const onnx::NodeProto& node,
                                       const onnx::TensorProto& tensor) {
  const std::string& name = node.output(0);
  const std::optional<DataType> type = data_type_of(tensor.data_type());
  if (!type) refuse(model_.file, node, "is not a tensor of numbers", "remove it from the model");
  Facts facts{*type, Shape(tensor.dims().begin(), tensor.dims().end()), nullptr};
  const bool weight = is_floating(*type) && !facts.shape.empty() && uses_.as_weight(name);
  if (!weight) facts.value = read_value(tensor, model_.folder);
  const TensorRole role = weight ? TensorRole::Parameter : TensorRole::Constant;
  tensors_.note_origin(tensors_.add(name, role, std::move(facts)), tensor);
}

bool KnownResults::add_shape(const onnx::NodeProto& node, const Entries& inputs) {
  const bool query = node.op_type() == "Shape" || node.op_type() == "Size";
  if (!query || inputs.size() != 1 || inputs[0] == nullptr || node.output_size() != 1) return false;
  const Shape& shape = inputs[0]->facts.shape;
  if (node.op_type() == "Size") {
    Value size = integers({element_count(shape).value_or(0)});
    size.shape.clear();
    tensors_.add_value(node.output(0), std::move(size));
    return true;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto inside = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
  };
  const std::int64_t begin = inside(integer(node, "start", 0)),
                     end = inside(integer(node, "end", rank));
  tensors_.add_value(node.output(0),
                     integers({shape.begin() + begin, shape.begin() + std::max(begin, end)}));
  return true;
}

// Exporters that merge initializers of equal content (PyTorch does) leave Identity ops in the
// place of the others: equal when exported, they are weights of their own when trained. Inside a
// body such an op hands a weight on, from round to round.
bool KnownResults::add_copied_weight(const onnx::NodeProto& node, const Entries& inputs) {
  if (node.op_type() != "Identity" || inputs.size() != 1 || node.output_size() != 1) return false;
  if (inputs[0] == nullptr || inputs[0]->role != TensorRole::Parameter || !inputs[0]->stored)
    return false;
  if (expansion_.inside()) {
    tensors_.give_name(node, node.input(0), node.output(0));
    return true;
  }
  Entry& copy = tensors_.add(node.output(0), TensorRole::Parameter, inputs[0]->facts);
  copy.stored = true;
  copy.origin = inputs[0]->origin;
  return true;
}

bool KnownResults::add_filled_weight(const onnx::NodeProto& node, const Entries& inputs) {
  if (node.op_type() != "ConstantOfShape" || inputs.size() != 1 || node.output_size() != 1)
    return false;
  const Value* shape = inputs[0] != nullptr ? inputs[0]->facts.value.get() : nullptr;
  if (shape == nullptr || shape->floating() || shape->ints.empty() ||
      !uses_.as_weight(node.output(0))) {
    return false;
  }
  const onnx::AttributeProto* value = find_attribute(node, "value");
  const onnx::TensorProto fill = value != nullptr ? value->t() : float_zero();  // one element
  const DataType type = data_type_of(fill.data_type()).value_or(DataType::F32);
  if (!is_floating(type)) return false;
  tensors_.note_origin(
      tensors_.add(node.output(0), TensorRole::Parameter, {type, shape->ints, nullptr}), fill);
  return true;
}

bool KnownResults::fold(const onnx::NodeProto& node, const Entries& inputs) {
  std::vector<const Value*> values;
  for (const Entry* input : inputs) {
    if (input != nullptr && input->facts.value == nullptr) return false;
    values.push_back(input != nullptr ? input->facts.value.get() : nullptr);
  }
  if (values.empty() || tensors_.known_elements() > kMaxKnownElements) return false;
  std::vector<Value> results = onnx_import::fold(node, values);
  if (results.empty()) return false;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty())
      tensors_.add_value(node.output(i), std::move(results[static_cast<std::size_t>(i)]));
  }
  return true;
}

}  // namespace strato::onnx_import
