#include "plugins/planners/learned/kit/network/parameters.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato::learned {

at::Tensor view_of(std::span<const float> values) {
  return at::from_blob(const_cast<float*>(values.data()), {std::ssize(values)}, at::kFloat);
}

at::Tensor tensor_of(std::span<const float> values) { return view_of(values).clone(); }

at::Tensor indices_of(std::span<const std::int32_t> values) {
  return at::from_blob(const_cast<std::int32_t*>(values.data()), {std::ssize(values)}, at::kInt)
      .to(at::kLong);
}

std::vector<float> floats_of(const at::Tensor& tensor) {
  const at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
  const float* begin = here.data_ptr<float>();
  return {begin, begin + here.numel()};
}

std::size_t Parameters::declare(std::vector<std::int64_t> shape, double spread, double fill) {
  const auto length = static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies()));
  parts_.push_back({std::move(shape), size_, length, spread, fill});
  size_ += length;
  return parts_.size() - 1;
}

std::size_t Parameters::matrix(std::int64_t in, std::int64_t out, double gain) {
  return declare({in, out}, gain * std::sqrt(6.0 / static_cast<double>(in + out)));
}

void Parameters::allocate(std::uint64_t seed, const at::Device& device) {
  Random random(seed);
  std::vector<float> start;
  start.reserve(size_);
  for (const Part& part : parts_)
    for (std::size_t i = 0; i < part.length; ++i)
      start.push_back(static_cast<float>(part.fill + random.uniform(-part.spread, part.spread)));
  values = tensor_of(start).to(device);
  gradients = at::zeros_like(values);
  make_views();
}

void Parameters::move_to(const at::Device& device) {
  values = values.to(device);
  gradients = gradients.to(device);
  make_views();
}

void Parameters::make_views() {
  views_.clear();
  for (const Part& part : parts_) {
    const auto begin = static_cast<std::int64_t>(part.begin);
    const auto length = static_cast<std::int64_t>(part.length);
    at::Tensor leaf = values.narrow(0, begin, length).view(part.shape).detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = gradients.narrow(0, begin, length).view(part.shape);
    views_.push_back(std::move(leaf));
  }
}

void Parameters::copy(std::span<const float> flat, at::Tensor& to) {
  CHECK(std::ssize(flat) == to.numel(), "one value a parameter");
  const at::NoGradGuard no_gradient;
  to.copy_(tensor_of(flat));
}

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

at::Device device_named(const std::string& name) {
  try {
    const at::Device device(name);
    at::zeros({1}, at::TensorOptions().device(device));
    return device;
  } catch (const std::exception&) {
    throw InputError("", "device " + name, "LibTorch cannot compute there",
                     "give cpu, or cuda:0 with a GPU");
  }
}

void on_one_thread() {
  if (at::get_num_threads() != 1) at::set_num_threads(1);
}

}  // namespace strato::learned
