#include "plugins/importers/transformers/build/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/value/op_reader.h"

namespace strato::transformers_import {
namespace {

constexpr double kMostElements = 1 << 20;  // of a table that has contents

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string encoded(const std::vector<float>& values, DataType type) {
  if (type == DataType::F32) return bytes_of(values);
  std::vector<std::uint16_t> bits;
  bits.reserve(values.size());
  for (const float value : values)
    bits.push_back(type == DataType::F16 ? half_bits(value) : bfloat_bits(value));
  return bytes_of(bits);
}

// Nothing where they are too many.
template <class T, class Element>
std::vector<T> values_of(const Shape& shape, const Element& element) {
  std::vector<T> values;
  if (product(shape) > kMostElements) return values;
  const auto count = static_cast<std::int64_t>(product(shape));
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(element(i)));
  return values;
}

struct ActivationOp {
  const char* type;
  bool by_tanh = false;
};
ActivationOp op_of(Activation activation) {
  switch (activation) {
    case Activation::Gelu:
      return {"Gelu"};
    case Activation::GeluByTanh:
      return {"Gelu", true};
    case Activation::QuickGelu:
      return {"QuickGelu"};
    case Activation::Relu:
      return {"Relu"};
    case Activation::Swish:
      return {"Swish"};
    case Activation::Tanh:
      break;
  }
  return {"Tanh"};
}

}  // namespace

Writer::Writer(const std::string& name, std::int64_t batch, const Description& model,
               std::string file, std::int64_t adapter_rank)
    : graph_(name, batch, file),
      file_(std::move(file)),
      type_(model.type),
      norm_(model.norm),
      epsilon_(model.epsilon),
      adapter_rank_(adapter_rank) {}

TensorId Writer::input(std::string name, Shape shape, DataType type) {
  return graph_.add_tensor({.name = std::move(name),
                            .type = type,
                            .role = TensorRole::Input,
                            .shape = std::move(shape)});
}

TensorId Writer::parameter(const std::string& name, Shape shape) {
  return parameter(name, std::move(shape), adapter_rank_ > 0);
}

TensorId Writer::parameter(const std::string& name, Shape shape, bool frozen) {
  const auto [at, is_new] = parameters_.try_emplace(name);
  if (!is_new) return at->second;
  Tensor made = {.name = name, .role = TensorRole::Parameter, .shape = std::move(shape)};
  made.frozen = frozen;
  if (frozen) made.type = type_;
  TensorId id = graph_.add_tensor(std::move(made));
  if (graph_.tensors()[id].type != type_) id = cast(name + "/cast", id);
  return at->second = id;
}

TensorId Writer::integers(const std::vector<std::int64_t>& values) {
  const auto [at, is_new] = integers_.try_emplace(values);
  if (!is_new) return at->second;
  return at->second = constant("constant", DataType::I64, {std::ssize(values)}, bytes_of(values));
}

TensorId Writer::number(double value) {
  return table("constant", {}, [value](std::int64_t) { return value; });
}

TensorId Writer::table(std::string name, Shape shape,
                       const std::function<double(std::int64_t)>& element) {
  const auto values = values_of<float>(shape, element);
  return constant(std::move(name), type_, std::move(shape), encoded(values, type_));
}

TensorId Writer::integer_table(std::string name, Shape shape,
                               const std::function<std::int64_t(std::int64_t)>& element) {
  const auto values = values_of<std::int64_t>(shape, element);
  return constant(std::move(name), DataType::I64, std::move(shape), bytes_of(values));
}

// Without contents where `bytes` is empty.
TensorId Writer::constant(std::string name, DataType type, Shape shape, std::string bytes) {
  Tensor made = {.name = std::move(name), .type = type, .role = TensorRole::Constant};
  made.shape = std::move(shape);
  if (!bytes.empty()) made.data = std::make_shared<const std::string>(std::move(bytes));
  return graph_.add_tensor(std::move(made));
}

void Writer::count_op() {
  if (graph_.op_count() < kMostOps) return;
  throw InputError(file_, "", fmt::format("makes more than {} ops", kMostOps),
                   "give a model of fewer layers");
}

TensorId Writer::op(std::string name, std::string type, std::vector<TensorId> inputs,
                    Attributes attributes) {
  Op made = {.name = name, .type = std::move(type), .inputs = std::move(inputs)};
  std::ranges::sort(attributes, {}, &Attributes::value_type::first);
  made.attributes = std::move(attributes);
  const TensorTypes types = infer_output_shapes(made, graph_.tensors());
  CHECK(!types.empty(), "the shape of " + name + " follows from the catalogue");
  return ops(std::move(name), std::move(made.type), std::move(made.inputs),
             std::move(made.attributes), {types[0].shape}, {types[0].type})[0];
}

// Results without a type are of the activations'.
std::vector<TensorId> Writer::ops(std::string name, std::string type, std::vector<TensorId> inputs,
                                  Attributes attributes, const std::vector<Shape>& shapes,
                                  std::vector<DataType> types) {
  count_op();
  types.resize(shapes.size(), type_);
  Op made = {.name = std::move(name), .type = std::move(type), .inputs = std::move(inputs)};
  made.attributes = std::move(attributes);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string number = i > 0 ? fmt::format(":{}", i) : "";
    made.outputs.push_back(
        graph_.add_tensor({.name = made.name + number, .type = types[i], .shape = shapes[i]}));
  }
  std::vector<TensorId> results = made.outputs;
  graph_.add_op(std::move(made));
  return results;
}

TensorId Writer::cast(std::string name, TensorId x) {
  return op(std::move(name), "Cast", {x}, {{"to", std::int64_t{onnx_number(type_)}}});
}

TensorId Writer::reshape(std::string name, TensorId x, const Shape& shape) {
  return op(std::move(name), "Reshape", {x, integers(shape)});
}

TensorId Writer::transpose(std::string name, TensorId x, std::vector<std::int64_t> permutation) {
  return op(std::move(name), "Transpose", {x}, {{"perm", std::move(permutation)}});
}

TensorId Writer::slice(const std::string& name, TensorId x, std::int64_t axis, std::int64_t first,
                       std::int64_t last) {
  Shape part = shape(x);
  part[static_cast<std::size_t>(axis)] = last - first;
  return ops(name, "Slice", {x, integers({first}), integers({last}), integers({axis})}, {},
             {part})[0];
}

TensorId Writer::product(const std::string& name, TensorId x, std::int64_t out) {
  return op(name, "MatMul", {x, parameter(name + ".weight", {shape(x).back(), out})});
}

TensorId Writer::linear(const Linear& layer, const std::string& prefix, TensorId x,
                        std::int64_t out) {
  const std::string name = prefix + layer.name;
  TensorId made = product(name, x, out);
  if (adapter_rank_ > 0) {
    const std::string down = name + ".lora_A", up = name + ".lora_B";
    const TensorId narrow = op(
        down, "MatMul", {x, parameter(down + ".weight", {shape(x).back(), adapter_rank_}, false)});
    made = add(name + "/adapted", made,
               op(up, "MatMul", {narrow, parameter(up + ".weight", {adapter_rank_, out}, false)}));
  }
  return layer.bias ? add(name + "/bias", made, parameter(name + ".bias", {out})) : made;
}

TensorId Writer::normalized(const std::string& name, TensorId x) {
  const Shape width = {shape(x).back()};
  std::vector<TensorId> inputs = {x, parameter(name + ".weight", width)};
  if (norm_ == Norm::Layer) inputs.push_back(parameter(name + ".bias", width));
  return op(name, norm_ == Norm::Layer ? "LayerNormalization" : "RMSNormalization",
            std::move(inputs), {{"epsilon", epsilon_}});
}

TensorId Writer::activated(const std::string& name, TensorId x, Activation activation) {
  const auto [type, by_tanh] = op_of(activation);
  Attributes attributes;
  if (by_tanh) attributes.emplace_back("approximate", std::string("tanh"));
  return op(name, type, {x}, std::move(attributes));
}

TensorId Writer::dropped(const std::string& name, TensorId x, double ratio) {
  return ratio > 0 ? op(name, "Dropout", {x}, {{"ratio", ratio}}) : x;
}

TensorId Writer::scaled(const std::string& name, TensorId x, double factor) {
  return factor == 1 ? x : op(name, "Mul", {x, number(factor)});
}

TensorId capped(Writer& to, const std::string& name, TensorId x, double cap) {
  if (cap <= 0) return x;
  x = to.activated(name + "/tanh", to.scaled(name + "/down", x, 1 / cap), Activation::Tanh);
  return to.scaled(name + "/up", x, cap);
}

}  // namespace strato::transformers_import
