// A running tree search. Internal to tree_search.cpp (the rounds), tree_polish.cpp and
// plain_lane.cpp (local improvement), tree_resume.cpp (going on from a stored tree) and reporter.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/search/api/reporter.h"
#include "core/search/local/local_search.h"
#include "core/search/local/partial_finish.h"
#include "core/search/local/sieve.h"
#include "core/search/local/small_space.h"
#include "core/search/mcts/tree_search.h"
#include "core/search/mcts/tree_state.h"
#include "core/search/tree/search_tree.h"

namespace strato {

inline Digest key_of(const ActionVector& actions) {
  return Hasher().numbers(std::span<const std::int32_t>(actions)).finish();
}

class TreeSearch {
 public:
  TreeSearch(const Problem& problem, Evaluator& evaluator, PriorProvider& prior,
             const PlannerOptions& common, const TreeSearchOptions& options, Observer& observer,
             const SearchTree* resume);

  PlanResult run(std::stop_token stop, const SearchTree* resume);

 private:
  // What is kept beside the tree itself, as text in SearchTree::random_state.
  struct Saved {
    std::int64_t polish_iterations = 0;
    std::int64_t baseline_ns = 0;    // of data parallelism; 0 in older files
    std::uint64_t pinned_since = 0;  // number of back-ups before the pins became what they are
    Digest pins;
    bool packed = false;  // pack_round was there
    bool plain = false;
    bool contradicted = false;  // something was faster than its bound
    std::uint64_t space_next = 0;
    std::string_view ways;        // left_out_ and ways_tried_
    std::string_view kept;        // kept_
    std::string_view remembered;  // remembered_
    std::string_view local;       // of the local improvement
    std::string_view lane;        // of the plain lane, from its slash; empty: it has not begun
  };
  // A strategy as a search writes it.
  struct Way {
    ActionVector actions;  // empty: there is none
    GroupFlags left_out;   // where options_.finish is left out
  };
  static Saved parse_state(const SearchTree& tree);
  std::string state() const;
  void restore_ways(const Saved& saved);
  struct Leaf {
    std::int32_t node;
    std::size_t evaluation;  // index into the batch
  };
  struct Batch {
    std::vector<Leaf> leaves;
    std::vector<ActionVector> fresh;  // strategies to evaluate
    // Known ones, of vertices that need a prior: their scores are asked for again, behind the
    // fresh ones, and cost no iteration.
    std::vector<ActionVector> again;
    std::vector<std::size_t> is_again;  // indices of leaves whose evaluation counts from there
    std::size_t repeats = 0;
  };
  struct Known {
    float reward;
    std::int64_t step_time_ns;
  };
  Known learn(const ActionVector& actions, const Score& score);

  void evaluate_root();
  void evaluate_baseline();
  void restore(const SearchTree& tree);
  void evaluate_seeds();
  void keep_seed(const Strategy& seed);
  void keep(Strategy strategy, const Score& score);
  Way parse_way(std::string_view word) const;
  std::string words_of(const Way& way) const;
  bool is_allowed(const ActionVector& actions) const;
  void restore_kept(const Way& kept);
  void remember(Way way);
  void recall();
  void restore_place(std::uint64_t space_next);
  void restore_known();
  void restore_incumbent(bool pins_changed);
  std::int32_t best_known_vertex(bool with_stale) const;
  Strategy seen_by_tree(const ActionVector& actions) const;
  Strategy finished(const ActionVector& actions) const;
  Strategy incumbent() const { return completed(local_.incumbent(), left_out_); }
  Strategy completed(const ActionVector& actions, const GroupFlags& left_out) const;
  bool is_known(const ActionVector& actions) const;
  void reset_ways();
  bool tree_round(std::size_t want);
  Batch collect(std::size_t want);
  bool wants_prior(std::int32_t leaf) const;
  void back_up(Batch batch);

  // Local improvement (tree_polish.cpp).
  bool is_polish_turn(std::size_t want) const;
  std::optional<LocalSearch::Start> next_start(const std::set<std::int64_t>& used) const;
  std::vector<std::int32_t> best_uniform_actions() const;
  GroupFlags other_way(std::size_t which) const;
  std::vector<std::size_t> next_ways(std::size_t most);
  std::size_t plain_round(std::size_t want);
  std::size_t finish_round(std::size_t want);
  void keep_way(const ActionVector& actions, const GroupFlags& left_out, const Score& score);
  void take_way(const ActionVector& actions, GroupFlags left_out, const Score& score);
  std::vector<GroupFlags> flags_of(const std::vector<ActionVector>& proposals) const;
  bool polish_round(std::size_t want);

  // Strategies that the prior decides as a whole (tree_decide.cpp).
  std::vector<ActionVector> decided_by_prior(std::size_t count);
  std::size_t decide_round(std::size_t want);

  // The plain lane (plain_lane.cpp).
  static constexpr std::int64_t kLaneTurns = 4;  // the first of which is the first lane's
  void start_lane();
  bool is_lane_turn() const;
  void meet_lane();
  std::size_t finish_lane();
  std::size_t lane_round(std::size_t want);
  std::string lane_state() const;
  void restore_lane(std::string_view words);

  // Bounds (tree_bounds.cpp).
  void begin_sieve(const ActionVector& plain, const Score& score);
  bool needs_no_look(const LocalSearch& search, const ActionVector& actions);
  void start_bounds();
  void drop_bounds();
  std::size_t bounded_round(std::size_t want);
  std::vector<std::size_t> next_by_bound(std::size_t want);
  std::vector<std::vector<std::int32_t>> legal_by_group() const;
  bool may_polish() const { return local_.has_incumbent() && !tree_.has_focus(); }

  bool pack_round();
  void ask_priors(const std::vector<Leaf>& leaves, const std::vector<Score>& scores);
  std::vector<Score> evaluate(const std::vector<ActionVector>& batch);
  std::vector<Score> evaluate_all(const std::vector<Strategy>& strategies);
  void accept_anything();
  void consider(const ActionVector& actions, const Score& score);
  void improved();
  float reward_of(const Score& score) const;
  Progress progress() const;
  std::shared_ptr<const SearchTree> snapshot() const;
  std::string note() const;
  PlanResult result();
  std::string pinned_note() const;

  // Iterations before anything else; before local improvement, while nothing beats data
  // parallelism.
  static constexpr std::int64_t kFirstTree = 48, kFirstLook = 8;

  const Problem& problem_;
  Evaluator& evaluator_;
  PriorProvider& prior_;
  const PlannerOptions& common_;
  const TreeSearchOptions& options_;
  Observer& observer_;
  Reporter report_;
  const std::vector<Strategy> seeds_;  // those whose decisions the search can take over
  const PartialFinish finish_;
  TreeState tree_;
  LocalSearch local_;
  LocalSearch lane_;
  Score lane_score_;            // of lane_'s incumbent, plain
  bool lane_finished_ = false;  // that was tried finished
  double largest_memory_ = 1;

  std::unordered_map<Digest, Known> known_;  // of the tree, by completed actions
  std::size_t pinned_since_ = 0;
  bool packed_ = false;
  Nanos baseline_time_;
  std::optional<Score> best_;  // of local_'s incumbent
  bool plain_ = false;         // the tree looks at strategies without options_.finish
  GroupFlags left_out_;        // where the incumbent is better without options_.finish
  Way kept_;                   // what best_seed_ is, where that is no seed
  Way remembered_;             // the best of before that pins or excluded branches do not allow now
  GroupFlags ways_tried_;      // since the incumbent changed: each group the other way; last: all
  // The best seed as it was given, when that is better than what its decisions alone are worth.
  std::optional<std::pair<Strategy, Score>> best_seed_;
  std::stop_token stop_;
  bool small_ = false;  // few strategies: space_ lists them all
  std::unique_ptr<const SmallSpace> space_;
  std::uint64_t space_next_ = 0;  // place in space_
  std::unique_ptr<Sieve> sieve_;  // of what is proposed plain; null: there is none
  ActionVector sieve_checked_;    // a strategy that is not faster than its bound
  bool contradicted_ = false;
  bool proven_ = false;  // all that is left has bounds that are no better than the best
  std::int64_t tree_iterations_ = 0, polish_iterations_ = 0, evaluations_ = 0;
  std::int64_t tree_wins_ = 0, polish_wins_ = 0;
};

}  // namespace strato
