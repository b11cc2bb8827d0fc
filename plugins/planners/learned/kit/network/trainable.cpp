#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::learned {

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
