// Exercises: what the best strategy of a small problem is, and the best single change of one. Pure
// functions that take long: for background threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"

namespace strato {

// Every strategy that gives each op group one of the actions of the searches
// (core/search/evaluate/actions.h).
struct StrategySpace {
  std::vector<Decision> actions;
  std::size_t groups = 0;
  // Nothing where there are more than can be counted.
  std::optional<std::uint64_t> size() const;
  Strategy at(std::uint64_t number) const;  // 0: all groups have the first action
};
StrategySpace strategy_space(const Problem& problem);

struct Optimum {
  Strategy strategy;
  Score score;
  std::uint64_t tried = 0;
  bool proven = false;  // all of the space was tried
};
inline constexpr std::uint64_t kMostTried = 200'000;

// The best of the whole space where it has at most `most` strategies; otherwise what changing one
// group at a time from the simple baselines finds, until no change helps. Tells how many strategies
// were tried; stops soon after it is asked to, with the best so far.
Optimum find_optimum(const Problem& problem, std::stop_token stop,
                     const std::function<void(const Optimum&)>& progress = {},
                     std::uint64_t most = kMostTried);

struct SingleChange {
  GroupId group;
  Decision decision;
  Score score;
};
// Nothing where no change of one group makes `strategy` better, or it was stopped before.
std::optional<SingleChange> best_single_change(const Problem& problem, const Strategy& strategy,
                                               std::stop_token stop);

// 0: as slow as data parallelism, or slower, or it does not fit; 100: as fast as the optimum; above
// where it is faster (shares that no search tries).
int exercise_points(const Score& score, const Score& data_parallel, const Score& optimum);

}  // namespace strato
