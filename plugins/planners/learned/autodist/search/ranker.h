// The learned simulator Q (AutoDist 2.4, Equation 3): scores plans of one model on one cluster,
// higher is faster, trained with a ranking loss on what trials showed.
//
// A variable-length LSTM over the rows of PlanFeatures; its last state and the mean of all states
// give a correction to the predefined model's estimate. Before it has learned anything the
// correction is zero: it starts as the predefined model and morphs into a learned one. Its weights
// persist from call to call of learn(). On LibTorch, which stays in ranker.cpp. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/autodist/plan/features.h"

namespace strato::autodist {

struct RankerOptions {
  int width = 32;  // of the LSTM's state
  double rate = 5e-3;
  int batch = 96;  // trials of one step, all pairs of them
};

class Ranker {
 public:
  Ranker(const RankerOptions& options, std::uint64_t seed);
  ~Ranker();

  // All plans of one model.
  std::vector<double> scores(std::span<const PlanFeatures* const> plans) const;
  // `steps` steps of Adam on the pairwise logistic loss: of two plans the one with the smaller cost
  // shall have the higher score. Costs are compared only. Returns the mean loss.
  double learn(std::span<const PlanFeatures* const> plans, std::span<const double> costs, int steps,
               Random& random);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strato::autodist
