// A second lane of local improvement, in which nothing is finished (SFB): where finishing makes
// good what is better decided otherwise, no single change of the best strategy is better than it,
// while plain a few of them in a row are. What it has found is tried finished, too, and what is
// better than the best is where the first lane goes on. Finished strategies are soon as good as
// they get: the plain lane has three turns in four.
#include <algorithm>

#include "core/base/error.h"
#include "core/search/mcts/tree_searcher.h"

namespace strato {

void TreeSearch::start_lane() {
  lane_.pin(tree_.pinned(), tree_.free_action_count());
  lane_.forbid([this](const ActionVector& actions) {
    if (tree_.is_excluded(actions)) return true;
    const bool known =
        known_.contains(key_of(actions)) && seen_by_tree(actions) == tree_.strategy_of(actions);
    return known || needs_no_look(lane_, actions);
  });
}

// Not before there is something that is finished.
bool TreeSearch::is_lane_turn() const {
  if (!options_.finish || options_.finish_always || plain_ || small_) return false;
  if (polish_iterations_ / options_.batch % kLaneTurns == 0) return false;
  return lane_.has_incumbent() || !incumbent().duplicated.empty();
}

// A plain best strategy that is better than the lane's is the lane's.
void TreeSearch::meet_lane() {
  if (!best_->better_than(lane_score_) || !incumbent().duplicated.empty()) return;
  lane_.restart_from(local_.incumbent(), *best_);
  lane_score_ = *best_;
  lane_finished_ = false;
}

// Returns the number of evaluations.
std::size_t TreeSearch::finish_lane() {
  if (lane_finished_) return 0;
  lane_finished_ = true;
  const Strategy strategy = finished(lane_.incumbent());
  if (strategy.duplicated.empty()) return 0;
  const Score score = evaluate_all({strategy}).front();
  if (score.better_than(*best_))
    take_way(lane_.incumbent(), GroupFlags(left_out_.size(), false), score);
  return 1;
}

// Begins at the best strategy. Returns the number of evaluations.
std::size_t TreeSearch::lane_round(std::size_t want) {
  std::size_t done = 0;
  if (!lane_.has_incumbent()) {
    lane_score_ = evaluate_all({tree_.strategy_of(local_.incumbent())}).front();
    lane_.restart_from(local_.incumbent(), lane_score_);
    done = 1;
  }
  meet_lane();
  if (done < want) done += finish_lane();
  polish_iterations_ += static_cast<std::int64_t>(done);
  if (done == want) return done;
  lane_.prefer(best_uniform_actions());
  begin_sieve(lane_.incumbent(), lane_score_);
  const std::vector<ActionVector> batch = lane_.propose(want - done);
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : batch) strategies.push_back(tree_.strategy_of(actions));
  const std::vector<Score> scores = evaluate_all(strategies);
  done += batch.size();
  polish_iterations_ += static_cast<std::int64_t>(batch.size());
  if (batch.empty() || !lane_.accept(scores)) return done;
  lane_finished_ = false;
  lane_score_ = *std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  if (lane_score_.better_than(*best_))
    take_way(lane_.incumbent(), GroupFlags(left_out_.size(), true), lane_score_);
  return done;
}

std::string TreeSearch::lane_state() const {
  if (!lane_.has_incumbent()) return "";
  return std::string(lane_finished_ ? "/f" : "/p") + lane_.state();
}

// Empty, or its strategy excluded by now: it begins anew.
void TreeSearch::restore_lane(std::string_view words) {
  if (words.empty() || options_.finish_always || !options_.finish) return;
  if (!words.starts_with("/f") && !words.starts_with("/p"))
    throw InputError("", "search tree", "the state of its plain lane is damaged",
                     "run the search again");
  lane_.restore(words.substr(2));
  if (!lane_.has_incumbent()) return;
  if (!is_allowed(lane_.incumbent())) return lane_.restart_from({}, {});
  lane_finished_ = words[1] == 'f';
  lane_score_ = evaluate_all({tree_.strategy_of(lane_.incumbent())}).front();
  lane_.set_incumbent_score(lane_score_);
}

}  // namespace strato
