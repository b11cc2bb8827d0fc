// The rewards of a tree search: those of every strategy that its tree has seen, and the vertices
// that are worth going on from by theirs. A reward is baseline time / time - 1. Infeasible is worse
// than anything feasible: -1, or, graded, the less the more bytes are missing.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/mcts/growing_tree.h"

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

// A uniform vertex has decided the first free group alone: all others follow it.

// The best feasible uniform vertex whose action is not in `used`; -1: there is none.
std::int32_t best_uniform_vertex(const GrowingTree& tree, const std::set<std::int64_t>& used);
// Free actions that did best for the whole graph, best first: for parts of it they are worth a try.
std::vector<std::int32_t> best_uniform_actions(const GrowingTree& tree, const ActionTable& table);
// Up to `most` vertices, best first.
std::vector<std::int32_t> best_vertices(const GrowingTree& tree, std::size_t most);
// The best vertex that may be the result; -1: there is none. Stale ones were evaluated under other
// pins.
std::int32_t best_vertex(const GrowingTree& tree, bool with_stale);

}  // namespace strato
