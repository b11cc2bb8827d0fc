// A neighbourhood search from one complete strategy (neighbourhood.h). Proposals come from a seed
// and a step number, more of them from where better ones came; a better one becomes the incumbent,
// and improvements found side by side are tried together. From a local optimum it goes on at other
// good strategies, and then to neighbours of neighbours. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/local/neighbourhood.h"

namespace strato {

class LocalSearch {
 public:
  LocalSearch(Neighbourhood neighbourhood, std::uint64_t seed);

  // Strategies that are never proposed: illegal ones, or those that are known.
  void forbid(std::function<bool(const ActionVector&)> forbidden) {
    forbidden_ = std::move(forbidden);
  }
  void prefer(std::vector<std::int32_t> actions) { neighbourhood_.prefer(std::move(actions)); }

  // Where to start again from a local optimum: a strategy with its score, by a number that is not
  // among those used so far.
  struct Start {
    std::int64_t number;
    ActionVector strategy;
    Score score;
  };
  using Starts = std::function<std::optional<Start>(const std::set<std::int64_t>& used)>;
  void start_again_from(Starts starts) { starts_ = std::move(starts); }

  bool has_incumbent() const { return !state_.incumbent.empty(); }
  const ActionVector& incumbent() const { return state_.incumbent; }
  const Score& score() const { return score_; }  // of the incumbent
  // What a proposal has to beat: the incumbent, or where it is away from that.
  const Score& to_beat() const { return is_away() ? away_score_ : score_; }
  // A better strategy from elsewhere: start from it.
  void restart_from(ActionVector strategy, const Score& score);

  // Up to `count` strategies that were not tried yet; fewer when there are few.
  std::vector<ActionVector> propose(std::size_t count);
  // Scores of the last proposals, in order. True when the incumbent improved.
  bool accept(std::span<const Score> scores);

  const LocalSearchState& save() const { return state_; }
  // Throws InputError. The incumbent's score is not part of the state: set it before going on.
  void restore(const LocalSearchState& state);
  void set_incumbent_score(const Score& score) { score_ = score; }

 private:
  using Source = Neighbourhood::Source;
  struct Proposal {
    ActionVector strategy;
    std::vector<Move> moves;
    std::optional<Source> source;  // of a single move's action
  };
  Source random_source(Random& random) const;
  Move random_move(Random& random, Source source) const;
  void add(ActionVector strategy, std::vector<Move> moves, std::optional<Source> source = {});
  void add_together(std::size_t count);
  void add_neighbours(Random& random, std::size_t count);
  void add_pairs(Random& random, std::size_t count);
  bool start_again();
  bool is_away() const { return !state_.away.empty() && !pairs_turn_; }
  const ActionVector& base() const { return is_away() ? state_.away : state_.incumbent; }
  std::vector<std::size_t> winners(std::span<const Score> scores);
  void go_away(ActionVector strategy, const Score& score);

  Neighbourhood neighbourhood_;
  const std::uint64_t seed_;
  std::function<bool(const ActionVector&)> forbidden_;
  Starts starts_;

  LocalSearchState state_;
  Score score_;  // of the incumbent
  Score away_score_;
  bool pairs_turn_ = false;  // these proposals are pairs at the incumbent, although it is away
  std::vector<Proposal> proposals_;
};

}  // namespace strato
