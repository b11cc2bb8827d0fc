// Elements that no file has: what tensors hold before the first step, and dropout masks. Random
// numbers are a function of (seed, name, sample, place): a shard of the batch draws what the whole
// batch would have drawn for its samples, on any machine and with any library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/graph/train/initial_value.h"
#include "core/strategy/value/part.h"

namespace strato::torch_engine {

// Which samples of the global batch the inputs hold, and the moment in training: an op's kernel is
// told this beside its inputs.
struct Shard {
  AxisRange samples{kBatchAxis, 0, 1};
  std::int64_t step = 1;  // counts from 1
  std::uint64_t seed = 1;
  double learning_rate = 0.01;

  Part part() const { return Part().cut(samples); }
  Shard on(const Part& part) const {  // of a part's samples
    Shard shard = *this;
    if (const AxisRange* range = part.along(kBatchAxis)) shard.samples = *range;
    return shard;
  }
};

// The elements of an input, parameter, constant or optimizer state
// (core/graph/train/initial_value.h) on this shard, little endian, in the tensor's type.
std::string initial_elements(const Graph& graph, TensorId tensor, const Shard& shard);

class Noise {
 public:
  // Makes noise for a tensor of this type and batch layout; `batch`: the graph's.
  Noise(const Tensor& tensor, std::int64_t batch, std::string_view name);

  // Fills the tensor's elements on this shard, in order: false with probability `ratio`; another
  // draw each step.
  void keep_mask(const Shard& shard, double ratio, bool* to) const;
  // The same with what `of_bits` makes of 64 random bits. `salt`: for another draw.
  template <class T, class F>
  void fill(const Shard& shard, std::uint64_t salt, T* to, F of_bits) const;

 private:
  std::uint64_t name_;
  // The tensor as [blocks, samples, run]; the second is the batch.
  std::int64_t blocks_ = 1, run_ = 1;
  bool batched_ = false;
};

}  // namespace strato::torch_engine
