#include "plugins/engines/torch/values/initial_elements.h"

#include <algorithm>
#include <cstring>

#include "plugins/engines/torch/values/noise.h"

namespace strato::torch_engine {
namespace {

using Kind = InitialValue::Kind;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T, class From>
std::string converted(const std::vector<From>& values) {
  return bytes_of(std::vector<T>(values.begin(), values.end()));
}

// Half precision has no type in C++20: the bits by way of a float's.
std::uint16_t bfloat_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}
std::uint16_t half_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7c00);
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3ff));
}

template <class From>
std::string in_type(DataType type, const std::vector<From>& values) {
  std::vector<std::uint16_t> halves;
  switch (type) {
    case DataType::F64:
      return converted<double>(values);
    case DataType::F32:
      return converted<float>(values);
    case DataType::F16:
      for (const From value : values) halves.push_back(half_bits(static_cast<float>(value)));
      return bytes_of(halves);
    case DataType::BF16:
      for (const From value : values) halves.push_back(bfloat_bits(static_cast<float>(value)));
      return bytes_of(halves);
    case DataType::I64:
      return converted<std::int64_t>(values);
    case DataType::I32:
      return converted<std::int32_t>(values);
    case DataType::I16:
      return converted<std::int16_t>(values);
    case DataType::I8:
      return converted<std::int8_t>(values);
    case DataType::U8:
    case DataType::Bool:
      return converted<std::uint8_t>(values);
  }
  return {};
}

std::size_t elements_on(const Tensor& tensor, std::int64_t batch, const Shard& shard) {
  const std::int64_t all = tensor.elements();
  const bool batched = tensor.batch.kind == BatchKind::Batched;
  return static_cast<std::size_t>(batched ? all / batch * shard.samples : all);
}

}  // namespace

std::string initial_elements(const Graph& graph, TensorId id, const Shard& shard) {
  const Tensor& tensor = graph.tensor(id);
  const InitialValue value = initial_value(graph, id);
  if (value.kind == Kind::Data) return *tensor.data;
  const std::size_t count = elements_on(tensor, graph.batch(), shard);
  const Noise noise(tensor, graph.batch(), tensor.name);
  if (value.kind == Kind::Integers) {
    std::vector<std::int64_t> values(count);
    noise.integers(shard, static_cast<std::int64_t>(value.high), values.data());
    return in_type(tensor.type, values);
  }
  if (tensor.type == DataType::F64) {
    std::vector<double> values(count, value.low);
    if (value.kind == Kind::Uniform) noise.uniform(shard, value.low, value.high, values.data());
    return bytes_of(values);
  }
  std::vector<float> values(count, static_cast<float>(value.low));
  if (value.kind == Kind::Uniform) noise.uniform(shard, value.low, value.high, values.data());
  return in_type(tensor.type, values);
}

}  // namespace strato::torch_engine
