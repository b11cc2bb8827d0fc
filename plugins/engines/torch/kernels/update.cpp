#include "plugins/engines/torch/kernels/update.h"

#include <cmath>

namespace strato::torch_engine {
namespace {

constexpr double kMomentum = 0.9;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

Kernel sgd(const Site&) {
  return [](const Tensors& in, const Shard& shard) {
    at::Tensor parameter = in[0];
    parameter.sub_(in[1], shard.learning_rate);
    return Tensors();
  };
}

Kernel momentum(const Site&) {
  return [](const Tensors& in, const Shard& shard) {
    at::Tensor parameter = in[0], velocity = in[2];
    velocity.mul_(kMomentum).add_(in[1]);
    parameter.sub_(velocity, shard.learning_rate);
    return Tensors();
  };
}

// Kingma and Ba: Adam, 2015, Algorithm 1.
Kernel adam(const Site&) {
  return [](const Tensors& in, const Shard& shard) {
    at::Tensor parameter = in[0], mean = in[2], square = in[3];
    const at::Tensor& gradient = in[1];
    const auto step = static_cast<double>(shard.step);
    mean.lerp_(gradient, 1 - kBeta1);
    square.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    const double correction = std::sqrt(1 - std::pow(kBeta2, step));
    const at::Tensor scale = square.sqrt().div_(correction).add_(kEpsilon);
    parameter.addcdiv_(mean, scale, -shard.learning_rate / (1 - std::pow(kBeta1, step)));
    return Tensors();
  };
}

}  // namespace

KernelTable update_kernels() {
  return {{"ApplyAdam", adam}, {"ApplyMomentum", momentum}, {"ApplySgd", sgd}};
}

}  // namespace strato::torch_engine
