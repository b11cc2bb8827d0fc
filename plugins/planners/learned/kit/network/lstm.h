// An LSTM (Hochreiter and Schmidhuber 1997) as LibTorch computes it. For .cpp files. Not thread
// safe.
#pragma once

#include "plugins/planners/learned/kit/network/parameters.h"

namespace strato::learned {

struct LstmState {
  at::Tensor h, c;  // [batch, width]
};

class Lstm {
 public:
  // Declares its parameters, which must outlive it. `forget`: what is added to the forget gate.
  Lstm(Parameters& parameters, std::int64_t in, std::int64_t width, double forget = 0);

  LstmState start(std::int64_t batch) const;  // zeros
  LstmState step(const at::Tensor& row, const LstmState& before) const;
  // From the start over rows [steps, batch, in]: all hidden states, [steps, batch, width].
  at::Tensor run(const at::Tensor& rows) const;

 private:
  at::Tensor forget_bias() const;

  const Parameters& parameters_;
  std::int64_t width_;
  double forget_;
  std::size_t input_, recurrent_, bias_;
};

}  // namespace strato::learned
