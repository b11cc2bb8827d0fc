// Where a search stands beside the vertices of its tree, as a value of integers, digests and lists:
// all that it needs to go on exactly as if it had never stopped.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"

namespace strato {

// A complete strategy as the action of every group (by group id).
using ActionVector = std::vector<std::int32_t>;
// One flag for every group, by group id.
using GroupFlags = std::vector<bool>;

// A complete strategy as a search writes it. Where a search finishes its strategies
// (TreeSearchOptions::finish), `unfinished` has the groups in which it does not.
struct Candidate {
  ActionVector actions;  // empty: there is none
  GroupFlags unfinished;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// How a neighbourhood search changes a strategy: a kind of move, the group that it begins at, and
// the action that is given.
struct Move {
  std::int32_t kind = 0, group = 0, action = 0;
  friend auto operator<=>(const Move&, const Move&) = default;
};

struct LocalSearchState {
  struct Yield {  // of a source of actions
    std::int64_t tries = 0, wins = 0;
    friend bool operator==(const Yield&, const Yield&) = default;
  };
  std::int64_t steps = 0;
  ActionVector incumbent;                 // empty: there is none
  std::vector<std::int64_t> successes;    // by kind of move
  std::vector<Yield> yields;              // by source; empty in trees of older versions
  std::vector<Move> tried;                // ascending; since the incumbent changed
  std::vector<Move> together;             // improvements beside the one that was taken
  std::vector<std::int64_t> tried_pairs;  // ascending; digests of neighbours of neighbours
  ActionVector away;                      // where it is, if not at the incumbent
  std::int64_t away_time_ns = 0;
  bool neighbours_done = false;
  std::vector<std::int64_t> used_starts;  // ascending
  friend bool operator==(const LocalSearchState&, const LocalSearchState&) = default;
};

struct SearchState {
  // The second local search, whose strategies are all unfinished.
  struct Unfinished {
    bool tried_finished = false;  // its incumbent was
    LocalSearchState local;
    friend bool operator==(const Unfinished&, const Unfinished&) = default;
  };
  std::int64_t local_iterations = 0;  // those of the tree's iterations that are not the tree's own
  std::int64_t baseline_ns = 0;       // time of data parallelism; 0 in trees of older versions
  std::uint64_t pinned_since = 0;     // back-ups before the pins became what they are
  Digest pins;
  bool packed = false;           // strategies that spread memory were tried
  bool unfinished = false;       // the tree looks at unfinished strategies
  bool contradicted = false;     // a strategy was faster than its bound: no bound is trusted
  std::uint64_t space_next = 0;  // place in the list of a small space
  // Of the incumbent: the groups that are not finished; those tried the other way, and whether all
  // at once were. Both lists are empty in trees of older versions.
  GroupFlags incumbent_unfinished, tried_otherwise;
  bool all_tried_otherwise = false;
  Candidate aside;   // better than the incumbent, but nothing to go on from
  Candidate barred;  // the best of before, which pins or excluded branches do not allow now
  LocalSearchState local;
  std::optional<Unfinished> second;
  friend bool operator==(const SearchState&, const SearchState&) = default;
};

// The evaluations of a planner that has no tree: with them it comes to where it was.
struct EvaluationRecord {
  struct Evaluation {
    std::int64_t step_time_ns = 0;
    bool feasible = true;
    std::int64_t overflow_bytes = 0;
    friend bool operator==(const Evaluation&, const Evaluation&) = default;
  };
  std::string planner;  // and the version of its record
  std::string options;  // they have to be the same
  std::vector<std::vector<Evaluation>> batches;
  friend bool operator==(const EvaluationRecord&, const EvaluationRecord&) = default;
};

}  // namespace strato
