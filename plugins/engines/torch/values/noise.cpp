#include "plugins/engines/torch/values/noise.h"

#include <algorithm>

#include "plugins/engines/torch/values/extents.h"

namespace strato::torch_engine {
namespace {

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

}  // namespace

Noise::Noise(const Tensor& tensor, std::int64_t batch, std::string_view name)
    : name_(hashed(name)), batched_(tensor.batch.kind == BatchKind::Batched) {
  if (!batched_) {
    inner_ = tensor.elements();
    return;
  }
  const auto axis = static_cast<std::size_t>(tensor.batch.axis);
  outer_ = extent_product(tensor.shape, 0, axis);
  inner_ = extent_product(tensor.shape, axis + 1, tensor.shape.size());
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
      for (std::int64_t i = 0; i < run; ++i) {
        *to++ = of_bits(mixed(start + static_cast<std::uint64_t>(i)));
      }
    }
  }
}

void Noise::uniform(const Shard& shard, double low, double high, float* to) const {
  fill(shard, 0, to,
       [=](std::uint64_t bits) { return static_cast<float>(low + (high - low) * unit(bits)); });
}

void Noise::uniform(const Shard& shard, double low, double high, double* to) const {
  fill(shard, 0, to, [=](std::uint64_t bits) { return low + (high - low) * unit(bits); });
}

void Noise::integers(const Shard& shard, std::int64_t bound, std::int64_t* to) const {
  fill(shard, 0, to, [=](std::uint64_t bits) {
    return std::min(bound - 1, static_cast<std::int64_t>(unit(bits) * static_cast<double>(bound)));
  });
}

void Noise::keep_mask(const Shard& shard, double ratio, bool* to) const {
  const auto limit = static_cast<std::uint64_t>(ratio * 0x1.0p53);
  fill(shard, static_cast<std::uint64_t>(shard.step), to,
       [=](std::uint64_t bits) { return (bits >> 11) >= limit; });
}

}  // namespace strato::torch_engine
