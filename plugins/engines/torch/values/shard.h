// An op's kernel is told this beside its inputs.
#pragma once

#include <cstdint>

namespace strato::torch_engine {

// A shard says which samples of the global batch the inputs hold, and the moment in training.
struct Shard {
  std::int64_t samples = 1;
  std::int64_t first_sample = 0;
  std::int64_t step = 1;  // counts from 1
  std::uint64_t seed = 1;
  double learning_rate = 0.01;
};

}  // namespace strato::torch_engine
