// LibTorch's AdamW (Loshchilov and Hutter 2019) on a network's flat parameters. For .cpp files. Not
// thread safe.
#pragma once

#include <memory>

#include "plugins/planners/learned/kit/network/network_state.h"
#include "plugins/planners/learned/kit/network/parameters.h"

namespace strato::learned {

struct OptimizerOptions {
  double rate = 1e-3;
  double weight_decay = 1e-4;
  double clip = 1.0;  // most length of the gradient; 0: any
};

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

}  // namespace strato::learned
