// What bounds are good for: local improvement leaves out what cannot be better; of a problem with
// few strategies those whose bounds are least come first, and what cannot be better than the best
// is left out.
#include <algorithm>
#include <utility>

#include "core/search/mcts/tree_searcher.h"

namespace strato {

void TreeSearch::start_bounds() {
  if (!options_.bounds || options_.polish <= 0) return;
  const bool finished = options_.finish && options_.finish_always;
  small_ = !finished && SmallSpace::is_small(problem_, legal_by_group());
  if (options_.sieve && !finished && !small_) sieve_ = std::make_unique<Sieve>(problem_);
}

// An evaluator may measure, or add to strategies what bounds know nothing of.
void TreeSearch::drop_bounds() {
  contradicted_ = true;
  small_ = false;
  sieve_.reset();
}

// Of a search whose best strategy is plain: before it proposes for a round.
void TreeSearch::begin_sieve(const ActionVector& plain, const Score& score) {
  constexpr std::size_t kMost = 4;  // left out, for each that is evaluated
  if (!sieve_) return;
  sieve_->begin_round(kMost * static_cast<std::size_t>(options_.batch));
  if (plain == sieve_checked_) return;
  sieve_checked_ = plain;
  if (sieve_->is_contradicted_by(tree_.strategy_of(plain), score)) drop_bounds();
}

// What SFB makes of a proposal is not known yet when it is made.
bool TreeSearch::needs_no_look(const LocalSearch& search, const ActionVector& actions) {
  const bool plain = &search == &lane_ || plain_ || !options_.finish;
  return sieve_ && plain && sieve_->leaves_out(tree_.strategy_of(actions), search.to_beat());
}

std::vector<std::vector<std::int32_t>> TreeSearch::legal_by_group() const {
  std::vector<std::vector<std::int32_t>> legal(tree_.order().size());
  for (std::size_t depth = 0; depth < legal.size(); ++depth) {
    const std::size_t group = tree_.order()[depth].index();
    const bool pinned = !tree_.pinned().empty() && tree_.pinned()[group] >= 0;
    legal[group] = pinned ? std::vector{tree_.pinned()[group]} : tree_.ranked()[depth];
    std::ranges::sort(legal[group]);
  }
  return legal;
}

// Places next in the order of their bounds, while these are below the best: what the tree has seen
// as it is here is left out.
std::vector<std::size_t> TreeSearch::next_by_bound(std::size_t want) {
  // Bounds far below all times say little about which of them are good.
  constexpr std::int64_t kFar = 8;
  std::vector<std::size_t> chosen;
  const bool as_the_tree = !options_.finish || plain_;
  for (; chosen.size() < want; ++space_next_) {
    const bool left = space_next_ < space_->size();
    if (!left || space_->bound(space_next_) >= best_->step_time) {
      proven_ = !options_.finish && chosen.empty();
      break;
    }
    if (space_->bound(space_next_) * kFar < best_->step_time) break;
    const ActionVector actions = space_->strategy(space_next_);
    if (as_the_tree && known_.contains(key_of(actions))) continue;
    chosen.push_back(space_next_);
  }
  return chosen;
}

// Few strategies: best first, as they are without `finish`. Not while a person excludes some, who
// may think better of it when their turn is over. Returns the number of evaluations.
std::size_t TreeSearch::bounded_round(std::size_t want) {
  if (!small_ || !best_ || !best_->feasible || tree_.has_excluded()) return 0;
  if (space_ == nullptr)
    space_ = std::make_unique<const SmallSpace>(problem_, tree_.actions(), legal_by_group(), stop_,
                                                [this] { report_.progress(progress(), false); });
  if (space_->size() == 0) return 0;
  const std::vector<std::size_t> places = next_by_bound(want);
  if (proven_ && best_->step_time < space_->bound_of(local_.incumbent())) {
    proven_ = false;
    drop_bounds();
  }
  if (places.empty()) return 0;
  std::vector<ActionVector> chosen;
  std::vector<Strategy> strategies;
  for (const std::size_t place : places) {
    chosen.push_back(space_->strategy(place));
    strategies.push_back(tree_.strategy_of(chosen.back()));
  }
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(scores.size());
  for (std::size_t i = 0; i < scores.size() && !contradicted_; ++i)
    if (scores[i].step_time < space_->bound(places[i])) drop_bounds();
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  if (best->better_than(*best_))
    take_way(chosen[static_cast<std::size_t>(best - scores.begin())],
             GroupFlags(left_out_.size(), options_.finish != nullptr), *best);
  return scores.size();
}

}  // namespace strato
