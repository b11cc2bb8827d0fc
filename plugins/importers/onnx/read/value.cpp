#include "plugins/importers/onnx/read/value.h"

#include <utility>

namespace strato::onnx_import {
namespace {

// Both round to the nearest, ties to even.
std::uint16_t half_bits(double element) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(element));
}
std::uint16_t bfloat_bits(double element) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(element));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
void append(std::string& out, T element, std::size_t bytes = sizeof(T)) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&element), bytes);
}

}  // namespace

Facts known(Value value) {
  auto shared = std::make_shared<const Value>(std::move(value));
  return {shared->type, shared->shape, shared};
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > kMost / extent)) return std::nullopt;
    if (extent == 0)
      empty = true;
    else
      count *= extent;
  }
  return empty ? 0 : count;
}

Value integers(std::vector<std::int64_t> elements) {
  return {DataType::I64, {std::ssize(elements)}, std::move(elements), {}};
}

Value scalar(DataType type, double element) {
  if (is_floating(type)) return {type, {}, {}, {rounded(element, type)}};
  return {type, {}, {static_cast<std::int64_t>(element)}, {}};
}

std::string little_endian(const Value& value) {
  const auto width = static_cast<std::size_t>(size_of(value.type));
  std::string out;
  out.reserve(value.size() * width);
  for (const double element : value.reals) {
    if (value.type == DataType::F64) append(out, element);
    if (value.type == DataType::F32) append(out, static_cast<float>(element));
    if (value.type == DataType::F16) append(out, half_bits(element));
    if (value.type == DataType::BF16) append(out, bfloat_bits(element));
  }
  for (const std::int64_t element : value.ints) append(out, element, width);
  return out;
}

double rounded(double element, DataType type) {
  if (type == DataType::F32) return static_cast<float>(element);
  if (type == DataType::F16) return half_value(half_bits(element));
  if (type == DataType::BF16) return bfloat_value(bfloat_bits(element));
  return element;
}

}  // namespace strato::onnx_import
