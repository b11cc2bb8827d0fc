// Improves one complete strategy by changing the decision of a group, or of several that belong
// together: those around it, those that are decided alike, those of them with more parameters for
// their work, a stretch along the graph. Proposals come from a seed and a step number, more of them
// from where better ones came; better ones are kept, and improvements found side by side are tried
// together. From a local optimum it goes on at other good strategies, and then to neighbours of
// neighbours. Its whole state is a line of text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"

namespace strato {

// A complete strategy as the action of every group (by group id).
using ActionVector = std::vector<std::int32_t>;

class LocalSearch {
 public:
  // `ranked`: legal actions by group id, most plausible first.
  LocalSearch(const Problem& problem, std::vector<Decision> actions,
              std::vector<std::vector<std::int32_t>> ranked, std::uint64_t seed);

  // Groups that a person has decided (by group id the action, or -1; empty: none) are never
  // changed. Actions from `free_actions` on belong to them: no other group is given one.
  void pin(std::vector<std::int32_t> pinned, std::size_t free_actions);
  // Strategies that are never proposed: illegal ones, or those that are known.
  void forbid(std::function<bool(const ActionVector&)> forbidden) {
    forbidden_ = std::move(forbidden);
  }

  // Actions that did well for all groups at once, best first: drawn more often from then on.
  void prefer(std::vector<std::int32_t> actions) { preferred_ = std::move(actions); }

  // The search starts again from a local optimum at one of these: a strategy with its score, by a
  // number that is not among those used so far.
  struct Start {
    std::int64_t number;
    ActionVector strategy;
    Score score;
  };
  using Starts = std::function<std::optional<Start>(const std::set<std::int64_t>& used)>;
  void start_again_from(Starts starts) { starts_ = std::move(starts); }

  bool has_incumbent() const { return !incumbent_.empty(); }
  const ActionVector& incumbent() const { return incumbent_; }
  // Returns the score that a proposal has to beat: the incumbent's, or the current one's where the
  // search is away from it.
  const Score& to_beat() const { return is_away() ? away_score_ : score_; }
  // A better strategy from elsewhere: start from it.
  void restart_from(ActionVector strategy, const Score& score);

  // Up to `count` strategies that were not tried yet; fewer when there are few.
  std::vector<ActionVector> propose(std::size_t count);
  // Scores of the last proposals, in order. True when the incumbent improved.
  bool accept(std::span<const Score> scores);

  std::string state() const;
  // Throws InputError. The incumbent's score is not part of the state: set it before going on.
  void restore(std::string_view state);
  void set_incumbent_score(const Score& score) { score_ = score; }

 private:
  enum Kind : std::int32_t { Single, Around, Alike, Heavy, Stretch, kKinds };
  struct Move {
    std::int32_t kind = 0, group = 0, action = 0;
    friend auto operator<=>(const Move&, const Move&) = default;
  };
  // The action of a move comes from one of these: what did well for all groups, what is like the
  // group's own, what another group has, anything, the ranks.
  enum Source : std::size_t { Preferred, Related, Used, Any, Ranked, kSources };
  struct Yield {
    std::int64_t tries = 0, wins = 0;
  };
  ActionVector apply(const Move& move, ActionVector strategy) const;
  Source random_source(Random& random) const;
  Move random_move(Random& random, Source source) const;
  std::int32_t random_action(Random& random, Source source, std::int32_t kind,
                             std::int32_t group) const;
  std::int32_t related_action(Random& random, std::int32_t group) const;
  std::optional<std::int32_t> used_action(Random& random, std::int32_t group) const;
  bool add(ActionVector strategy, std::vector<Move> moves, Source source = kSources);
  void add_together(std::size_t count);
  void add_neighbours(Random& random, std::size_t count);
  void add_pairs(Random& random, std::size_t count);
  bool start_again();
  bool is_away() const { return !away_.empty() && !pairs_turn_; }
  const ActionVector& base() const { return is_away() ? away_ : incumbent_; }
  void restore_yields(const std::vector<std::int64_t>& row);
  void take(const ActionVector& strategy, const Score& score, std::size_t winner);

  const std::vector<Decision> actions_;
  const std::vector<std::vector<std::int32_t>> ranked_;
  const std::uint64_t seed_;
  std::vector<std::int32_t> pinned_;
  std::size_t free_actions_;
  std::function<bool(const ActionVector&)> forbidden_;
  std::vector<std::int32_t> preferred_;
  std::vector<std::vector<std::int32_t>> neighbours_;  // by group
  std::vector<std::int32_t> along_;                    // groups in the order of their first op
  std::vector<std::int32_t> place_;                    // inverse of along_
  std::vector<double> weight_;                         // chance of a group to be changed
  std::vector<double> density_;                        // parameter bytes per nanosecond of compute

  ActionVector incumbent_;
  Score score_;
  std::int64_t step_ = 0;
  std::vector<std::int64_t> successes_ = std::vector<std::int64_t>(kKinds, 0);
  std::vector<Yield> yields_ = std::vector<Yield>(kSources);
  std::set<Move> tried_;  // since the incumbent changed
  // While it is away from the incumbent: where, and how good that is. Empty: at the incumbent.
  ActionVector away_;
  Score away_score_;
  bool neighbours_done_ = false;  // of the incumbent, and no start is left
  std::set<std::int64_t> used_starts_;
  std::set<std::int64_t> tried_pairs_;  // hashes of neighbours of neighbours
  Starts starts_;
  std::vector<Move> together_;  // improvements that were found beside the one taken

  bool pairs_turn_ = false;  // these proposals are pairs at the incumbent, although it is away
  std::vector<ActionVector> proposals_;
  std::vector<std::vector<Move>> proposal_moves_;
  std::vector<Source> proposal_sources_;  // kSources: of none
};

}  // namespace strato
