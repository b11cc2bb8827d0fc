// Random numbers as a function of (seed, name, sample, place): a shard of the batch draws what the
// whole batch would have drawn for its samples, on any machine and with any library.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/graph/value/graph.h"
#include "plugins/engines/torch/values/shard.h"

namespace strato::torch_engine {

class Noise {
 public:
  // Makes noise for a tensor of this type and batch layout; `batch`: the graph's.
  Noise(const Tensor& tensor, std::int64_t batch, std::string_view name);

  // All fill the tensor's elements on this shard, in order.
  void uniform(const Shard& shard, double low, double high, float* to) const;
  void uniform(const Shard& shard, double low, double high, double* to) const;
  void integers(const Shard& shard, std::int64_t bound, std::int64_t* to) const;  // [0, bound)
  // False with probability `ratio`; another draw each step.
  void keep_mask(const Shard& shard, double ratio, bool* to) const;

 private:
  template <class T, class F>
  void fill(const Shard& shard, std::uint64_t salt, T* to, F of_bits) const;

  std::uint64_t name_;
  // The tensor as [outer, blocks, samples, each, inner]; the third is the batch.
  std::int64_t outer_ = 1, blocks_ = 1, each_ = 1, inner_ = 1;
  bool batched_ = false;
};

}  // namespace strato::torch_engine
