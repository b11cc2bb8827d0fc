#include "plugins/planners/learned/kit/network/trainable.h"

// LibTorch's logging defines a CHECK of its own.
#pragma push_macro("CHECK")
#undef CHECK
#include <torch/optim/adamw.h>
// This needs the one above.
#include <torch/nn/utils/clip_grad.h>
#undef CHECK
#pragma pop_macro("CHECK")

#include "core/base/error.h"

namespace strato::learned {

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
  device = device_named(name);
  const OptimizerState state = optimizer.state();
  parameters.move_to(device);
  optimizer.restore(state, parameters);
}

}  // namespace strato::learned
