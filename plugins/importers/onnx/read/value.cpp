#include "plugins/importers/onnx/read/value.h"

#include <bit>
#include <utility>

#include "plugins/importers/onnx/read/half.h"

namespace strato::onnx_import {
namespace {

template <class T>
void append(std::string& out, T element) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&element), sizeof element);
}

}  // namespace

std::optional<std::int64_t> element_count(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) empty = true;
    if (extent > 0 && count > kMost / extent) return std::nullopt;
    if (extent > 0) count *= extent;
  }
  return empty ? 0 : count;
}

Value integers(std::vector<std::int64_t> elements) {
  Value value;
  value.shape = {static_cast<std::int64_t>(elements.size())};
  value.ints = std::move(elements);
  return value;
}

Value scalar(DataType type, double element) {
  Value value;
  value.type = type;
  if (value.floating())
    value.reals = {rounded(element, type)};
  else
    value.ints = {static_cast<std::int64_t>(element)};
  return value;
}

std::string little_endian(const Value& value) {
  std::string out;
  out.reserve(value.size() * static_cast<std::size_t>(size_of(value.type)));
  for (const double element : value.reals) {
    if (value.type == DataType::F64) append(out, element);
    if (value.type == DataType::F32) append(out, static_cast<float>(element));
    if (value.type == DataType::F16) append(out, half_bits(element));
    if (value.type == DataType::BF16) append(out, bfloat_bits(element));
  }
  for (const std::int64_t element : value.ints) {
    out.append(reinterpret_cast<const char*>(&element),
               static_cast<std::size_t>(size_of(value.type)));
  }
  return out;
}

double rounded(double element, DataType type) {
  switch (type) {
    case DataType::F32:
      return static_cast<float>(element);
    case DataType::F16:
      return half_value(half_bits(element));
    case DataType::BF16:
      return bfloat_value(bfloat_bits(element));
    default:
      return element;
  }
}

}  // namespace strato::onnx_import
