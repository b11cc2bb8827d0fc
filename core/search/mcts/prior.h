// The prior of a tree search (TAG 4.2.2): how probable it is that an action is the right one for
// the next group. Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

struct PriorQuery {
  const Strategy& partial;
  GroupId next;  // the group that the prior is asked for
  // Of the completed partial strategy; with feedback when the evaluator gives it.
  const Score& score;
};

// Prior probabilities G(s, a) of the next group's actions.
class PriorProvider {
 public:
  virtual ~PriorProvider() = default;
  // One row of actions.size() non-negative numbers a query; an empty row means uniform.
  // Deterministic.
  virtual std::vector<std::vector<float>> priors(const Problem& problem,
                                                 const std::vector<Decision>& actions,
                                                 std::span<const PriorQuery> queries) = 0;
  // Whether every row is empty: then nobody needs to ask.
  virtual bool is_uniform() const { return false; }
};

class UniformPrior final : public PriorProvider {
 public:
  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>&,
                                         std::span<const PriorQuery> queries) override {
    return std::vector<std::vector<float>>(queries.size());
  }
  bool is_uniform() const override { return true; }
};
inline std::unique_ptr<PriorProvider> make_uniform_prior() {
  return std::make_unique<UniformPrior>();
}

}  // namespace strato
