#include "plugins/importers/exported_program/translate/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/utf8.h"

namespace strato::exported_program_import {
namespace {

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
std::string whole_bytes(double value) {
  constexpr double kLargest = 9.2e18;
  const double kept = value >= -kLargest && value <= kLargest ? value : 0;
  return bytes_of(static_cast<T>(static_cast<std::int64_t>(kept)));
}

std::string encoded(double value, DataType type) {
  switch (type) {
    case DataType::F64:
      return bytes_of(value);
    case DataType::F32:
      return bytes_of(static_cast<float>(value));
    case DataType::F16:
      return bytes_of(half_bits(static_cast<float>(value)));
    case DataType::BF16:
      return bytes_of(bfloat_bits(static_cast<float>(value)));
    case DataType::I64:
      return whole_bytes<std::int64_t>(value);
    case DataType::I32:
      return whole_bytes<std::int32_t>(value);
    case DataType::I16:
      return whole_bytes<std::int16_t>(value);
    case DataType::I8:
    case DataType::U8:
      return whole_bytes<std::int8_t>(value);
    case DataType::Bool:
      break;
  }
  return std::string(1, value != 0 ? '\1' : '\0');
}

}  // namespace

Lowering::Lowering(const Call& call, Translation& out,
                   const std::unordered_map<std::string, TensorId>& tensors, Ids made)
    : call(call), out_(out), tensors_(tensors), made_(std::move(made)), name_(call.name()) {}

TensorId Lowering::in(std::string_view argument) const {
  const std::string name = call.tensor(argument);
  if (name.empty()) return {};
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  call.refuse(fmt::format("reads tensor \"{}\", which nothing makes before it", shown_text(name)),
              "export the program again");
}

TensorId Lowering::required(std::string_view argument) const {
  const TensorId id = in(argument);
  if (!id.valid())
    call.refuse(fmt::format("lacks its tensor \"{}\"", argument), "export the program again");
  return id;
}

Ids Lowering::list(std::string_view argument) const {
  Ids ids;
  for (const std::string& name : call.tensors(argument)) {
    if (name.empty()) {
      ids.emplace_back();
      continue;
    }
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      call.refuse(
          fmt::format("reads tensor \"{}\", which nothing makes before it", shown_text(name)),
          "export the program again");
    ids.push_back(found->second);
  }
  return ids;
}

TensorId Lowering::operand(std::string_view argument, TensorId like) {
  const TensorId given = in(argument);
  if (given.valid()) return given;
  if (!call.is_number(argument))
    call.refuse(fmt::format("lacks its operand \"{}\"", argument), "export the program again");
  return number(call.real(argument, 0), tensor(like).type);
}

std::int64_t Lowering::axis(std::int64_t given, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const std::int64_t counted = given < 0 ? given + count : given;
  if (counted < 0 || counted >= count)
    call.refuse(fmt::format("works along axis {} of a tensor of {}", given, rank),
                "export the program again");
  return counted;
}

TensorId Lowering::turned_parameter(TensorId id) const {
  const auto maker = out_.maker.find(id.index());
  if (maker == out_.maker.end() || rank(id) != 2) return {};
  const Op& op = out_.ops[maker->second];
  if (op.type != "Transpose" || op.integers("perm") != Ints{1, 0}) return {};
  return is_trained(op.inputs[0]) ? op.inputs[0] : TensorId();
}

const Tensor& Lowering::result(std::size_t i) const {
  if (i >= made_.size() || !made_[i].valid())
    call.refuse("makes no tensor", "export the program again");
  return out_.tensors[made_[i]];
}

void Lowering::add_op(std::string name, std::string type, Ids inputs, Ids outputs,
                      Attributes attributes) {
  constexpr std::size_t kMostOps = 2'000'000;
  if (out_.ops.size() >= kMostOps)
    call.refuse(fmt::format("is one of more than {} ops", kMostOps), "export a smaller program");
  Op op = {.name = std::move(name), .type = std::move(type), .inputs = std::move(inputs)};
  std::ranges::sort(attributes, {}, &Attributes::value_type::first);
  op.attributes = std::move(attributes);
  op.outputs = std::move(outputs);
  for (const TensorId id : op.outputs) out_.maker[id.index()] = out_.ops.size();
  out_.ops.push_back(std::move(op));
}

void Lowering::emit(std::string type, Ids inputs, Attributes attributes, std::size_t count) {
  Ids first, others;
  for (std::size_t i = 0; i < made_.size(); ++i)
    if (made_[i].valid()) (i < count ? first : others).push_back(made_[i]);
  if (first.empty()) call.refuse("makes no tensor", "export the program again");
  Ids read = inputs;
  add_op(name_, std::move(type), std::move(inputs), std::move(first), std::move(attributes));
  if (!others.empty()) add_op(name_ + "/others", call.op(), std::move(read), std::move(others), {});
}

void Lowering::emit_one(std::size_t result, std::string type, Ids inputs, Attributes attributes) {
  add_op(result == 0 ? name_ : fmt::format("{}/{}", name_, result), std::move(type),
         std::move(inputs), {made_[result]}, std::move(attributes));
}

TensorId Lowering::step(std::string type, Ids inputs, Shape shape, Attributes attributes) {
  std::string name = fmt::format("{}/{}_{}", name_, type, steps_++);
  const TensorId made =
      add({.name = name, .type = tensor(inputs[0]).type, .shape = std::move(shape)});
  add_op(std::move(name), std::move(type), std::move(inputs), {made}, std::move(attributes));
  return made;
}

void Lowering::unknown(Ids inputs) {
  std::erase_if(inputs, [](TensorId id) { return !id.valid(); });
  emit(call.op(), std::move(inputs), {}, made_.size());
}

TensorId Lowering::integers(const Ints& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += bytes_of(value);
  return constant(DataType::I64, {std::ssize(values)}, std::move(bytes));
}

TensorId Lowering::number(double value, DataType type) {
  return constant(type, {}, encoded(value, type));
}

TensorId Lowering::constant(DataType type, Shape shape, std::string bytes) {
  Tensor made = {.name = fmt::format("{}/constant_{}", name_, steps_++),
                 .type = type,
                 .role = TensorRole::Constant,
                 .shape = std::move(shape)};
  if (!bytes.empty()) made.data = std::make_shared<const std::string>(std::move(bytes));
  return add(std::move(made));
}

TensorId Lowering::add(Tensor tensor) {
  const TensorId id = out_.tensors.next_id();
  out_.tensors.push_back(std::move(tensor));
  return id;
}

}  // namespace strato::exported_program_import
