// One way of coming by strategies that may be better than the incumbent. A scheduler
// (core/search/portfolio) gives proposers their turns, evaluates what they propose, and tells them
// the scores:
//
//   propose(turn) -> strategies -> accept(scores) -> propose(...) while there is more -> next turn
//
// Each is deterministic, and save() has all that restore() needs to go on as if it had not stopped.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/local/bound_use.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/known_rewards.h"
#include "core/search/mcts/prior.h"
#include "core/search/proposers/incumbent.h"

namespace strato {

// All that the proposers of one search share.
struct RunningSearch {
  // Refers to the first four. `steering`: the tree that is gone on from, or null; `known`: complete
  // strategies whose decisions become actions; `improved`: see Incumbent.
  RunningSearch(const Problem& problem, PriorProvider& prior, const PlannerOptions& common,
                const TreeSearchOptions& options, const SearchTree* steering,
                std::span<const Strategy> known, Incumbent::Listener improved);
  RunningSearch(const RunningSearch&) = delete;
  RunningSearch& operator=(const RunningSearch&) = delete;

  // A strategy as the tree sees it becomes the incumbent where it is better, and not excluded.
  void consider(const ActionVector& actions, const Score& score);
  // Nobody has to look at it: it is excluded, or the tree has seen it as it is.
  bool is_settled(const Candidate& candidate) const;
  // Before a local search proposes for a round: the strategy that it is at, unfinished.
  void begin_bounds(const ActionVector& incumbent, const Score& score);

  const Problem& problem;
  PriorProvider& prior;
  const PlannerOptions& common;
  const TreeSearchOptions& options;
  const ActionTable table;
  GrowingTree tree;
  KnownRewards rewards;
  Finishing finishing;
  Incumbent incumbent;
  BoundUse bounds;
  // What takes a while asks the one, and calls the other meanwhile.
  std::stop_token stop;
  std::function<void()> beat;
};

struct Turn {
  std::size_t most = 0;     // iterations at most
  std::int64_t round = 0;   // number of this turn
  std::int64_t before = 0;  // iterations before it
};

struct Proposal {
  std::vector<Strategy> strategies;
  std::size_t iterations = 0;  // as which they count
  std::size_t repeated = 0;    // the last so many were evaluated before, and do not count
  bool more = false;           // it has more to propose in this turn, knowing their scores
};

class Proposer {
 public:
  explicit Proposer(RunningSearch& search) : search_(search) {}
  virtual ~Proposer() = default;
  Proposer(const Proposer&) = delete;
  Proposer& operator=(const Proposer&) = delete;

  virtual Proposal propose(const Turn& turn) = 0;
  // Scores of the strategies proposed last, in their order; not called when there were none. Unless
  // a proposer knows better, the best of them becomes the incumbent where it is better than that.
  virtual void accept(std::span<const Score> scores);
  virtual void save(SearchState&) {}
  virtual void restore(const SearchState&) {}  // throws InputError for what does not fit

 protected:
  Proposal proposal(bool more = false) const;  // of the candidates

  RunningSearch& search_;
  std::vector<Candidate> candidates_;  // of the last proposal
};

// The place of the best score, the first of equals; their number when there are none.
std::size_t best_of(std::span<const Score> scores);

}  // namespace strato
