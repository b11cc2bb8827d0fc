// The best strategy that a search goes on from, and how it is finished. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/mcts/action_table.h"

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

// Its decisions, how it is finished, its score, and in which groups finishing it otherwise was
// tried. Beside it the best of those that are nothing to go on from: a seed with groups of its own,
// or a finished strategy of a search that goes on unfinished.
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

}  // namespace strato
