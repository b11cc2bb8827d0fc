#include "plugins/planners/learned/kit/network/trainable.h"

// LibTorch's logging defines a CHECK of its own.
#pragma push_macro("CHECK")
#undef CHECK
#include <torch/optim/adamw.h>
// This needs the one above.
#include <torch/nn/utils/clip_grad.h>
#undef CHECK
#pragma pop_macro("CHECK")

#include <cmath>
#include <tuple>

#include "core/base/error.h"
#include "core/base/random.h"

namespace strato::learned {

at::Tensor view_of(std::span<const float> values) {
  return at::from_blob(const_cast<float*>(values.data()), {std::ssize(values)}, at::kFloat);
}

at::Tensor view_of(std::span<const std::int64_t> values) {
  return at::from_blob(const_cast<std::int64_t*>(values.data()), {std::ssize(values)}, at::kLong);
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
  const std::int64_t length = c10::multiply_integers(shape);
  parts_.push_back({std::move(shape), length, spread, fill});
  size_ += static_cast<std::size_t>(length);
  return parts_.size() - 1;
}

std::size_t Parameters::matrix(std::int64_t in, std::int64_t out, double gain) {
  return declare({in, out}, gain * std::sqrt(6.0 / static_cast<double>(in + out)));
}

Dense Parameters::dense(std::int64_t in, std::int64_t out, double gain) {
  return {matrix(in, out, gain), declare({out}, 0)};
}

Norm Parameters::norm(std::int64_t width) { return {declare({width}, 0, 1), declare({width}, 0)}; }

void Parameters::allocate(std::uint64_t seed, const at::Device& device) {
  Random random(seed);
  std::vector<float> start;
  start.reserve(size_);
  for (const Part& part : parts_)
    for (std::int64_t i = 0; i < part.length; ++i)
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
  std::int64_t begin = 0;
  for (const Part& part : parts_) {
    const auto view = [&](const at::Tensor& flat) {
      return flat.narrow(0, begin, part.length).view(part.shape);
    };
    at::Tensor leaf = view(values).detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = view(gradients);
    views_.push_back(std::move(leaf));
    begin += part.length;
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

void on_one_thread() {
  if (at::get_num_threads() != 1) at::set_num_threads(1);
}

// To it the network is one tensor, so that a step is a few operations.
struct Optimizer::Adam {
  explicit Adam(const Parameters& parameters)
      : values(parameters.values), optimizer(std::vector<at::Tensor>{values}) {}

  void step(const at::Tensor& gradient, const OptimizerOptions& how) {
    values.mutable_grad() = gradient;
    if (how.clip > 0) torch::nn::utils::clip_grad_norm_(values, how.clip);
    auto& options =
        static_cast<torch::optim::AdamWOptions&>(optimizer.param_groups().front().options());
    options.lr(how.rate).weight_decay(how.weight_decay);
    optimizer.step();
    values.mutable_grad() = at::Tensor();
  }
  torch::optim::AdamWParamState& state() {
    return static_cast<torch::optim::AdamWParamState&>(*optimizer.state().begin()->second);
  }

  at::Tensor values;
  torch::optim::AdamW optimizer;
};

Optimizer::Optimizer() = default;
Optimizer::~Optimizer() = default;

void Optimizer::step(Parameters& parameters, const OptimizerOptions& options) {
  const at::NoGradGuard no_gradient;
  if (adam_ == nullptr) adam_ = std::make_unique<Adam>(parameters);
  adam_->step(parameters.gradients.clone(), options);
}

OptimizerState Optimizer::state() const {
  if (adam_ == nullptr) return {};
  const torch::optim::AdamWParamState& state = adam_->state();
  return {state.step(), floats_of(state.exp_avg()), floats_of(state.exp_avg_sq())};
}

void Optimizer::restore(const OptimizerState& state, const Parameters& parameters) {
  adam_.reset();
  if (state.steps == 0) return;
  if (state.mean.size() != parameters.size() || state.square.size() != parameters.size())
    throw InputError("", "optimizer state", "it is for a network of other sizes, or cut",
                     "start the training anew, or take another checkpoint");
  const at::NoGradGuard no_gradient;
  adam_ = std::make_unique<Adam>(parameters);
  // A step that moves nothing makes the moments; how they are kept differs from version to version.
  adam_->step(at::zeros_like(parameters.values), {.rate = 0, .weight_decay = 0, .clip = 0});
  adam_->state().step(state.steps);
  adam_->state().exp_avg().copy_(tensor_of(state.mean));
  adam_->state().exp_avg_sq().copy_(tensor_of(state.square));
}

at::Tensor Trainable::product(const at::Tensor& rows, std::size_t weight) const {
  return at::matmul(rows, parameters[weight]);
}

at::Tensor Trainable::apply(const Dense& layer, const at::Tensor& rows) const {
  return product(rows, layer.weight) + parameters[layer.bias];
}

at::Tensor Trainable::apply(const Norm& layer, const at::Tensor& rows) const {
  return at::layer_norm(rows, {rows.size(-1)}, parameters[layer.scale], parameters[layer.shift]);
}

void Trainable::step(OptimizerOptions options) {
  if (share) {
    const auto [gradients, rate] = share(floats_of(parameters.gradients), options.rate);
    parameters.assign_gradients(gradients);
    options.rate = rate;
  }
  optimizer.step(parameters, options);
}

double Trainable::minimise(const at::Tensor& loss, const OptimizerOptions& options) {
  parameters.gradients.zero_();
  loss.backward();
  step(options);
  return loss.item<double>();
}

void Trainable::move_to(const std::string& name) {
  const at::NoGradGuard no_gradient;
  try {
    const at::Device there(name);
    at::zeros({1}, at::TensorOptions().device(there));
    device = there;
  } catch (const std::exception&) {
    throw InputError("", "device " + name, "LibTorch cannot compute there",
                     "give cpu, or cuda:0 with a GPU");
  }
  const OptimizerState state = optimizer.state();
  parameters.move_to(device);
  optimizer.restore(state, parameters);
}

}  // namespace strato::learned
