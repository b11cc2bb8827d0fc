#include "plugins/engines/torch/values/made_elements.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/graph/value/op_reader.h"

namespace strato::torch_engine {
namespace {

using Kind = InitialValue::Kind;

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t hashed(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

// Half precision has no type in C++20: the bits by way of a float's, without rounding.
std::uint16_t bfloat_bits(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7c00);
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3ff));
}

template <class T, class From>
std::string converted(const std::vector<From>& values, T (*convert)(From)) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}
template <class T, class From>
std::string cast_to(const std::vector<From>& values) {
  return converted<T, From>(values, [](From value) { return static_cast<T>(value); });
}

template <class From>
std::string in_type(DataType type, const std::vector<From>& values) {
  using Halves = std::uint16_t (*)(From);
  const Halves half = [](From value) { return half_bits(static_cast<float>(value)); };
  const Halves bfloat = [](From value) { return bfloat_bits(static_cast<float>(value)); };
  switch (type) {
    case DataType::F64:
      return cast_to<double>(values);
    case DataType::F32:
      return cast_to<float>(values);
    case DataType::F16:
      return converted(values, half);
    case DataType::BF16:
      return converted(values, bfloat);
    case DataType::I64:
      return cast_to<std::int64_t>(values);
    case DataType::I32:
      return cast_to<std::int32_t>(values);
    case DataType::I16:
      return cast_to<std::int16_t>(values);
    case DataType::I8:
      return cast_to<std::int8_t>(values);
    default:
      return cast_to<std::uint8_t>(values);  // and booleans
  }
}

std::size_t elements_on(const Tensor& tensor, std::int64_t batch, const Shard& shard) {
  const std::int64_t all = tensor.elements();
  const bool batched = tensor.batch.kind == BatchKind::Batched;
  return static_cast<std::size_t>(batched ? all / batch * shard.samples : all);
}

std::int64_t extents(const Shape& shape, std::size_t first, std::size_t last) {
  return static_cast<std::int64_t>(product(shape, first, last));
}

}  // namespace

std::string initial_elements(const Graph& graph, TensorId id, const Shard& shard) {
  const Tensor& tensor = graph.tensor(id);
  const InitialValue value = initial_value(graph, id);
  if (value.kind == Kind::Data) return *tensor.data;
  const std::size_t count = elements_on(tensor, graph.batch(), shard);
  const Noise noise(tensor, graph.batch(), tensor.name);
  if (value.kind == Kind::Integers) {
    const auto bound = static_cast<std::int64_t>(value.high);
    std::vector<std::int64_t> values(count);
    noise.fill(shard, 0, values.data(), [bound](std::uint64_t bits) {
      const double at = unit(bits) * static_cast<double>(bound);
      return std::min(bound - 1, static_cast<std::int64_t>(at));
    });
    return in_type(tensor.type, values);
  }
  const auto reals = [&]<class T>(T low) {
    std::vector<T> values(count, low);
    const auto draw = [&value](std::uint64_t bits) {
      return static_cast<T>(value.low + (value.high - value.low) * unit(bits));
    };
    if (value.kind == Kind::Uniform) noise.fill(shard, 0, values.data(), draw);
    return in_type(tensor.type, values);
  };
  return tensor.type == DataType::F64 ? reals(value.low) : reals(static_cast<float>(value.low));
}

Noise::Noise(const Tensor& tensor, std::int64_t batch, std::string_view name)
    : name_(hashed(name)), batched_(tensor.batch.kind == BatchKind::Batched) {
  if (!batched_) {
    inner_ = tensor.elements();
    return;
  }
  const auto axis = static_cast<std::size_t>(tensor.batch.axis);
  outer_ = extents(tensor.shape, 0, axis);
  inner_ = extents(tensor.shape, axis + 1, tensor.shape.size());
  blocks_ = tensor.batch.blocks;
  each_ = tensor.shape[axis] / (blocks_ * batch);
}

template <class T, class F>
void Noise::fill(const Shard& shard, std::uint64_t salt, T* to, F of_bits) const {
  const std::uint64_t key = mixed(mixed(shard.seed ^ name_) + salt);
  const std::int64_t samples = batched_ ? shard.samples : 1;
  const std::int64_t run = each_ * inner_;
  for (std::int64_t block = 0; block < outer_ * blocks_; ++block) {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t number = batched_ ? shard.first_sample + sample : 0;
      const std::uint64_t start =
          mixed(key + static_cast<std::uint64_t>(number)) + static_cast<std::uint64_t>(block * run);
      for (std::int64_t i = 0; i < run; ++i)
        *to++ = of_bits(mixed(start + static_cast<std::uint64_t>(i)));
    }
  }
}

void Noise::keep_mask(const Shard& shard, double ratio, bool* to) const {
  const auto limit = static_cast<std::uint64_t>(ratio * 0x1.0p53);
  fill(shard, static_cast<std::uint64_t>(shard.step), to,
       [=](std::uint64_t bits) { return (bits >> 11) >= limit; });
}

}  // namespace strato::torch_engine
