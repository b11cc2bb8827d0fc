// The parameters of a network with what moves them: LibTorch's AdamW (Loshchilov and Hutter 2019).
// For .cpp files, and headers that no other folder sees. Not thread safe.
#pragma once

#include <memory>
#include <string>

#include "plugins/planners/learned/kit/network/parameters.h"
#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::learned {

class Optimizer {
 public:
  Optimizer();
  ~Optimizer();

  // One step along parameters.gradients, which stay as they are.
  void step(Parameters& parameters, const OptimizerOptions& options);
  OptimizerState state() const;
  // Throws InputError when the state is of other parameters. Also called when they have moved to
  // another device.
  void restore(const OptimizerState& state, const Parameters& parameters);

 private:
  struct Adam;
  std::unique_ptr<Adam> adam_;  // null before the first step
};

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
