// A proposer is one way of coming by strategies that may be better than the incumbent. A scheduler
// (core/search/portfolio) gives proposers their turns, evaluates what they propose, and tells them
// the scores:
//
//   propose(turn) -> strategies -> accept(scores) -> propose(...) while there is more -> next turn
//
// Each is deterministic, and save() has all that restore() needs to go on as if it had not stopped.
// One thread at a time. Here are the interface and what all proposers of one search share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/local/bound_use.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/tree_options.h"
#include "core/search/mcts/tree_rewards.h"

namespace strato {

// How a search finishes its strategies (TreeSearchOptions::finish): always, group by group as that
// is better, or not at all. A choice that is worth it for a gradient on its own may delay other
// transfers on the network. Where it chooses, the tree looks at finished strategies, until the
// search finds that it had better look at unfinished ones.
class Finishing {
 public:
  // Refers to all of them.
  Finishing(const Problem& problem, const ActionTable& table, const TreeSearchOptions& options)
      : grouping_(*problem.grouping), table_(table), options_(options) {}

  bool exists() const { return options_.finish != nullptr; }
  bool is_chosen() const { return exists() && !options_.finish_always; }  // group by group
  bool is_of_tree() const { return exists() && !tree_unfinished_; }
  // From now on the tree looks at unfinished strategies.
  void leave_to_others() { tree_unfinished_ = true; }
  bool is_left_to_others() const { return tree_unfinished_; }

  Strategy of(const Candidate& candidate) const;
  Strategy finished(const ActionVector& actions) const { return of({actions, all(false)}); }
  Strategy unfinished(const ActionVector& actions) const { return table_.strategy_of(actions); }
  Strategy seen_by_tree(const ActionVector& actions) const {
    return of({actions, flags_of_tree()});
  }
  bool is_seen_by_tree(const Candidate& candidate) const;  // as it is

  // Flags of groups that are not finished.
  GroupFlags all(bool flag) const { return GroupFlags(table_.groups(), flag); }
  GroupFlags flags_of_tree() const { return all(tree_unfinished_); }
  // Groups in which finishing changes something, those with most parameters first.
  std::vector<std::size_t> groups_of(const ActionVector& actions) const;
  // Those of `unfinished` in which finishing would change something.
  GroupFlags that_matter(const GroupFlags& unfinished, const ActionVector& actions) const;

 private:
  const Grouping& grouping_;
  const ActionTable& table_;
  const TreeSearchOptions& options_;
  bool tree_unfinished_ = false;
};

// The best strategy that a search goes on from: its decisions, how it is finished, its score, and
// in which groups finishing it otherwise was tried. Beside it the best of those that are nothing to
// go on from: a seed with groups of its own, or a finished strategy of a search that goes on
// unfinished.
class Incumbent {
 public:
  enum Origin : std::size_t { Tree, Local, Given, kOrigins };  // who found it
  using Listener = std::function<void(const Strategy&, const Score&)>;
  // Refers to `finishing`. `improved` is told of all that is better than everything before.
  Incumbent(const Finishing& finishing, Listener improved);

  bool exists() const { return score_.has_value(); }
  const Score& score() const { return *score_; }
  const Candidate& candidate() const { return candidate_; }
  const ActionVector& actions() const { return candidate_.actions; }
  Strategy strategy() const { return finishing_.of(candidate_); }
  bool is_improved_by(const Score& score) const { return !score_ || score.better_than(*score_); }
  // Another number whenever it has become another one.
  std::int64_t version() const { return version_; }
  std::int64_t wins(Origin origin) const { return wins_[origin]; }

  void take(Candidate candidate, const Score& score, Origin origin);
  void forget();  // there is none, until one is taken
  // The one of a stored state, evaluated again; it is not another one.
  void resume(ActionVector actions, const Score& score);

  // Finishing it otherwise: in one group, or in all at once.
  bool is_tried(std::size_t group) const { return tried_[group]; }
  bool are_all_tried() const { return all_tried_; }
  void set_tried(std::size_t group) { tried_[group] = true; }
  void set_all_tried() { all_tried_ = true; }
  void reset_finishing();  // the tree's way, nothing else tried

  // Where that is better than what is aside already. A candidate is stored, a strategy is not.
  void keep_aside(const Candidate& candidate, const Score& score);
  void keep_aside(Strategy strategy, const Score& score);
  // A strategy that is not the incumbent and is better; null: there is none.
  const Strategy* better_aside() const;
  bool has_candidate_aside() const { return !aside_candidate_.actions.empty(); }
  std::optional<Score> best_score() const;  // of both

  void save(SearchState& state) const;
  void restore_finishing(const SearchState& state);

 private:
  const Finishing& finishing_;
  const Listener improved_;
  Candidate candidate_;
  std::optional<Score> score_;
  std::int64_t version_ = 0;
  std::array<std::int64_t, kOrigins> wins_{};
  GroupFlags tried_;
  bool all_tried_ = false;
  std::optional<std::pair<Strategy, Score>> aside_;
  Candidate aside_candidate_;  // as which the one aside is stored
};

// All that the proposers of one search share.
struct RunningSearch {
  // Refers to the first three. `known`: complete strategies whose decisions become actions;
  // `improved`: see Incumbent.
  RunningSearch(const PlanRequest& request, const TreeSearchOptions& options, PriorProvider* prior,
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
  PriorProvider* const prior;  // null: uniform
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

}  // namespace strato
