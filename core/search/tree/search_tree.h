// The tree of a search over partial strategies, as a value that views show and the store keeps. A
// vertex is a partial strategy: depth d decides the first d op groups. Its edges are the actions
// for the next group. Only expanded edges have a child; priors of the rest are kept so that a
// person sees what was not tried.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/strategy/value/strategy.h"

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
  ActionVector incumbent;               // empty: there is none
  std::vector<std::int64_t> successes;  // by kind of move
  std::vector<Yield> yields;            // by source; empty in trees of older versions
  std::set<Move> tried;                 // since the incumbent changed
  std::vector<Move> together;           // improvements beside the one that was taken
  std::set<std::int64_t> tried_pairs;   // digests of neighbours of neighbours
  ActionVector away;                    // where it is, if not at the incumbent
  std::int64_t away_time_ns = 0;
  bool neighbours_done = false;
  std::set<std::int64_t> used_starts;  // numbers of those that it started from again
  friend bool operator==(const LocalSearchState&, const LocalSearchState&) = default;
};

// Where a search stands beside the vertices of its tree: all that it needs to go on exactly as if
// it had never stopped.
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
  // Rows of actions.size(): G(s, .) of vertices with a prior of their own.
  std::vector<float> priors;
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

// The rules that every search tree obeys, checked when one is read, and when a search goes on from
// it. What breaks one is an InputError.

[[noreturn]] void damaged_tree(const std::string& what);       // "it is damaged: <what>"
[[noreturn]] void tree_does_not_fit(const std::string& what);  // "it does not fit this search: ..."
void check_decision(const Decision& decision);                 // a known mode, devices ascending
// Refuses broken links, depths, statistics, order, steering and log.
void check_tree(const SearchTree& tree);
// Refuses a state from which a tree search cannot go on: of another planner, or with numbers and
// strategies that do not belong to the tree. The rest of its local searches is up to them.
void check_state(const SearchTree& tree);

// A container (core/io/container.h) whose lists of numbers are packed, for the store.
// parse_search_tree() reads the forms of older versions, too (legacy_tree.h), and throws InputError
// for what is damaged.
std::string serialise(const SearchTree& tree);
SearchTree parse_search_tree(std::string_view bytes);

}  // namespace strato
