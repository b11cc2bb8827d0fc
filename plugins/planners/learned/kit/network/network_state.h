// A network as it stands between two steps of a training, in plain numbers: what a checkpoint and
// other processes get.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace strato::learned {

struct OptimizerState {
  std::int64_t steps = 0;
  std::vector<float> mean, square;  // moments of Adam, one a parameter; empty before the first step
  friend bool operator==(const OptimizerState&, const OptimizerState&) = default;
};

struct NetworkState {
  std::vector<float> parameters;  // in the order of declaration
  OptimizerState optimizer;
};

// Shares a step's gradients and rate where several processes learn together: it is called before
// every step, which is made with what it returns.
using ShareStep = std::function<std::pair<std::vector<float>, double>(std::vector<float>, double)>;

}  // namespace strato::learned
