// The smallest network that can be trained: a few numbers that are to become 3.
#pragma once

#include <memory>

#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::learned {

class TinyNetwork final : public TrainedNetwork {
 public:
  explicit TinyNetwork(std::uint64_t seed) : TrainedNetwork(make(seed)) {}

  double loss() const { return square().item<double>(); }
  double learn(double rate) { return trainable_->minimise(square(), {rate, 0, 0}); }

 private:
  static std::unique_ptr<Trainable> make(std::uint64_t seed) {
    auto trainable = std::make_unique<Trainable>();
    trainable->parameters.declare({2, 2}, 1);
    trainable->parameters.allocate(seed, at::kCPU);
    return trainable;
  }
  at::Tensor square() const { return (trainable_->parameters[0] - 3).square().sum(); }
  Weights empty_weights() const override { return {"tiny", "{}", "", {}}; }
};

}  // namespace strato::learned
