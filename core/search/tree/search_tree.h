// The tree of a search over partial strategies, as a value that views show and the store keeps. A
// vertex is a partial strategy: depth d decides the first d op groups. Its edges are the actions
// for the next group. Only expanded edges have a child; priors of the rest are kept so that a
// person sees what was not tried.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/search/tree/search_state.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct SearchTree {
  struct Vertex {
    std::int32_t parent = -1;
    std::int32_t action = -1;  // index into actions: the edge from the parent
    std::int32_t depth = 0;
    std::int32_t visits = 0;  // N(s, a) of the edge from the parent (root: all)
    double value_sum = 0;     // Q(s, a) * N(s, a)
    float prior = 1;          // G(s, a)
    // The reward of this vertex's own evaluation: baseline time / time - 1. Infeasible: -1, or less
    // with more overflow where the search grades infeasible strategies; so feasible means > -1.
    float reward = 0;
    std::int64_t step_time_ns = 0;  // 0 when not evaluated
    std::int32_t first_child = -1;  // children are consecutive, in order of expansion
    std::int32_t child_count = 0;
    std::int32_t prior_row = -1;  // row of `priors`; -1: every action has the prior 1 / actions
    // A person's: selection multiplies the prior by it. 0: excluded, with all that is below.
    float weight = 1;
    double value() const { return visits > 0 ? value_sum / visits : 0; }
  };

  std::vector<Decision> actions;  // the same for every group
  std::vector<GroupId> order;     // the group decided at each depth
  std::vector<Vertex> vertices;   // 0 is the root; breadth first, so parents come before children
  std::vector<float>
      priors;  // rows of actions.size(): G(s, .) of vertices with a prior of their own
  // Decisions that the search has to respect; empty: none, else one entry per op group. They may be
  // decisions that are not among `actions` of an unsteered search: then they stand at its end, and
  // are legal for the group that is pinned to them only. Statistics from before a pin stay;
  // vertices that contradict it are never selected, and best_path() does not go there.
  IdVector<GroupId, std::optional<Decision>> pinned;
  // Selection starts here instead of at the root ("push this candidate deeper"); -1: at the root.
  std::int32_t focus = -1;

  // Every back-up in order: with the vertices' parents they tell the whole history of N and Q
  // (core/search/mcts/tree_replay.h).
  struct BackUp {
    std::int32_t vertex;
    float reward;
    friend bool operator==(const BackUp&, const BackUp&) = default;
  };
  std::vector<BackUp> log;

  std::int64_t iterations = 0;
  std::uint64_t seed = 0;
  SearchState state;
  std::optional<EvaluationRecord> record;  // of a planner without a tree: it has one vertex
  Digest problem;

  Strategy strategy_at(std::int32_t vertex, std::size_t group_count) const;
  std::vector<std::int32_t> children(std::int32_t vertex) const;
  // Tells whether selection never takes the edge to this vertex: it is excluded, or contradicts a
  // pin. The vertices below it do not say so themselves.
  bool is_closed(std::int32_t vertex) const;
  // Returns the path of most visits from the root, on open edges only.
  std::vector<std::int32_t> best_path() const;
};

}  // namespace strato
