#include "plugins/engines/torch/values/made_elements.h"

#include <algorithm>
#include <vector>

#include "core/base/half.h"
#include "core/graph/value/op_reader.h"
#include "plugins/engines/torch/values/stored.h"

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

template <class From>
std::string in_type(DataType type, const std::vector<From>& values) {
  if (type != DataType::F16 && type != DataType::BF16) {
    const bool boolean = type == DataType::Bool;
    const at::Tensor tensor = at::tensor(at::ArrayRef<From>(values));
    return elements_of(tensor.to(boolean ? at::kByte : scalar_type(type)));
  }
  std::vector<std::uint16_t> bits;
  for (const From value : values) {
    const auto real = static_cast<float>(value);
    bits.push_back(type == DataType::F16 ? half_bits(real) : bfloat_bits(real));
  }
  return {reinterpret_cast<const char*>(bits.data()), bits.size() * sizeof(std::uint16_t)};
}

}  // namespace

std::string initial_elements(const Graph& graph, TensorId id, const Shard& shard) {
  const Tensor& tensor = graph.tensor(id);
  const InitialValue value = initial_value(graph, id);
  if (value.kind == Kind::Data) return *tensor.data;
  const auto count =
      static_cast<std::size_t>(strato::elements_of(tensor, shard.part(), graph.batch()));
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
    run_ = tensor.elements();
    return;
  }
  const auto axis = static_cast<std::size_t>(tensor.batch.axis);
  blocks_ = static_cast<std::int64_t>(product(tensor.shape, 0, axis)) * tensor.batch.blocks;
  run_ = tensor.shape[axis] / (tensor.batch.blocks * batch) *
         static_cast<std::int64_t>(product(tensor.shape, axis + 1));
}

template <class T, class F>
void Noise::fill(const Shard& shard, std::uint64_t salt, T* to, F of_bits) const {
  const std::uint64_t key = mixed(mixed(shard.seed ^ name_) + salt);
  const AxisRange samples = batched_ ? shard.samples : AxisRange{kBatchAxis, 0, 1};
  for (std::int64_t block = 0; block < blocks_; ++block) {
    for (std::int64_t sample = samples.begin; sample < samples.end; ++sample) {
      const std::uint64_t start = mixed(key + static_cast<std::uint64_t>(sample)) +
                                  static_cast<std::uint64_t>(block * run_);
      for (std::int64_t i = 0; i < run_; ++i)
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
