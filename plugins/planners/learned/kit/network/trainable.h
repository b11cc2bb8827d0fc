// The parameters of a network with what moves them. For .cpp files, and headers that no other
// folder sees. Not thread safe.
#pragma once

#include <string>

#include "plugins/planners/learned/kit/network/optimizer.h"

namespace strato::learned {

struct Trainable {
  virtual ~Trainable() = default;

  // One step along parameters.gradients, or along what `share` makes of them.
  void step(OptimizerOptions options);
  // One step down the gradient of `loss`; returns its value before.
  double minimise(const at::Tensor& loss, const OptimizerOptions& options);
  // Throws InputError when LibTorch cannot compute there.
  void move_to(const std::string& name);

  Parameters parameters;
  Optimizer optimizer;
  ShareStep share;  // null: alone
  at::Device device = at::kCPU;
  std::string note;  // JSON: how its weights were made
};

}  // namespace strato::learned
