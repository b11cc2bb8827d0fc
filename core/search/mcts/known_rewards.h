// The rewards of a tree search, and of every strategy that its tree has seen. A reward is baseline
// time / time - 1. Infeasible is worse than anything feasible: -1, or, graded, the less the more
// bytes are missing.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"
#include "core/search/tree/search_state.h"

namespace strato {

Digest digest_of(const ActionVector& actions);

class KnownRewards {
 public:
  struct Known {
    float reward;
    std::int64_t step_time_ns;
  };
  KnownRewards(const Cluster& cluster, bool graded);

  void set_baseline(Nanos time) { baseline_ = time; }
  Nanos baseline() const { return baseline_; }

  Known learn(const ActionVector& actions, const Score& score);
  void learn(const ActionVector& actions, const Known& known);
  const Known* find(const Digest& actions) const;  // null: it was not seen
  bool contains(const ActionVector& actions) const;

 private:
  float reward_of(const Score& score) const;

  bool graded_;
  double largest_memory_ = 1;  // bytes
  Nanos baseline_;
  std::unordered_map<Digest, Known> known_;  // by completed actions
};

}  // namespace strato
