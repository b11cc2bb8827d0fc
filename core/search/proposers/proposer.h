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
#include <span>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/tree/search_state.h"

namespace strato {

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

  static Proposal of(std::vector<Strategy> strategies, bool more = false) {
    const std::size_t count = strategies.size();
    return {std::move(strategies), count, 0, more};
  }
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual Proposal propose(const Turn& turn) = 0;
  // Of the strategies proposed last, in their order; not called when there were none.
  virtual void accept(std::span<const Score> scores) = 0;
  virtual void save(SearchState&) {}
  virtual void restore(const SearchState&) {}  // throws InputError for what does not fit
};

// The place of the best score, the first of equals; their number when there are none.
std::size_t best_of(std::span<const Score> scores);

}  // namespace strato
