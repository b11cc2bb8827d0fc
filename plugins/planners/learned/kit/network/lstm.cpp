#include "plugins/planners/learned/kit/network/lstm.h"

#include <tuple>

namespace strato::learned {

Lstm::Lstm(Parameters& parameters, std::int64_t in, std::int64_t width, double forget)
    : parameters_(parameters),
      width_(width),
      forget_(forget),
      input_(parameters.matrix(4 * width, in)),
      recurrent_(parameters.matrix(4 * width, width)),
      bias_(parameters.declare({4 * width}, 0)) {}

LstmState Lstm::start(std::int64_t batch) const {
  const at::Tensor zeros = at::zeros({batch, width_}, parameters_.values.options());
  return {zeros, zeros};
}

// LibTorch's gates are input, forget, cell and output.
at::Tensor Lstm::forget_bias() const {
  at::Tensor bias = at::zeros({4 * width_}, parameters_.values.options());
  bias.narrow(0, width_, width_).fill_(forget_);
  return bias;
}

LstmState Lstm::step(const at::Tensor& row, const LstmState& before) const {
  const auto [h, c] = at::lstm_cell(row, {before.h, before.c}, parameters_[input_],
                                    parameters_[recurrent_], parameters_[bias_], forget_bias());
  return {h, c};
}

at::Tensor Lstm::run(const at::Tensor& rows) const {
  const at::Tensor zero = start(rows.size(1)).h.unsqueeze(0);  // of one layer
  return std::get<0>(
      at::lstm(rows, {zero, zero},
               {parameters_[input_], parameters_[recurrent_], parameters_[bias_], forget_bias()},
               /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
               /*bidirectional=*/false, /*batch_first=*/false));
}

}  // namespace strato::learned
