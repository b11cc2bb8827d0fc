// Going on from a stored tree, as if the search had never stopped or with new wishes of a person.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/search/mcts/tree_rewards.h"
#include "core/search/portfolio/portfolio.h"
#include "core/search/tree/search_tree.h"

namespace strato {

void Portfolio::restore(const SearchTree& tree) {
  if (tree.seed != search_.common.seed)
    throw InputError("", "search tree", fmt::format("it was made with seed {}", tree.seed),
                     "resume with that seed, or start a new search");
  check_state(tree);
  SearchState state = tree.state;
  const bool pins_changed = state.pins != search_.table.digest_of_pins();
  pinned_since_ = pins_changed ? tree.log.size() : state.pinned_since;
  search_.tree.restore(tree,
                       pins_changed ? std::numeric_limits<std::size_t>::max() : pinned_since_);
  if (pins_changed) {
    state.packed = false;
    state.space_next = 0;
    state.second.reset();
  }
  if (!search_.options.finish_always) {
    if (state.unfinished) search_.finishing.leave_to_others();
    search_.incumbent.restore_finishing(state);
  }
  // Behind the last strategy nothing would be left to try, and the best so far be told for the
  // optimum.
  if (search_.bounds.is_small() &&
      static_cast<double>(state.space_next) > SmallSpace::count_of(search_.table.legal_by_group()))
    throw InputError("", "search tree", "it has tried more strategies than there are",
                     "run the search again");
  if (state.contradicted) search_.bounds.distrust();
  local_iterations_ = state.local_iterations;
  tree_iterations_ = tree.iterations - local_iterations_;
  if (!search_.tree.node(0).is_evaluated()) return evaluate_root();
  for (Proposer* proposer : stored()) proposer->restore(state);
  search_.rewards.set_baseline(
      Nanos(state.baseline_ns > 0 ? state.baseline_ns : search_.tree.node(0).step_time_ns));
  barred_ = state.barred;
  restore_incumbent(state.local.incumbent, pins_changed);
  restore_aside(state.aside);
  recall();
  restore_unfinished(state);
}

bool Portfolio::is_allowed(const ActionVector& actions) const {
  return search_.table.obeys_pins(actions) && !search_.tree.is_excluded(actions);
}

// Steering may have made the incumbent illegal: then it gets the pins, or, in an excluded branch,
// the best that is known outside takes its place. Where pins are gone, what was known before them
// may be better.
void Portfolio::restore_incumbent(const ActionVector& stored, bool pins_changed) {
  for (std::size_t i = 0; i < search_.tree.nodes().size(); ++i) {
    const TreeNode& node = search_.tree.nodes()[i];
    if (!node.closed && !node.stale)
      search_.rewards.learn(search_.tree.completed_actions(static_cast<std::int32_t>(i)),
                            KnownRewards::Known{node.reward, node.step_time_ns});
  }
  ActionVector best = stored.empty() ? search_.tree.completed_actions(0) : stored;
  if (!stored.empty() && !is_allowed(best)) bar({best, search_.incumbent.candidate().unfinished});
  best = search_.table.with_pins(std::move(best));
  if (search_.tree.is_excluded(best)) {
    const std::int32_t vertex = best_vertex(search_.tree, false);
    if (vertex < 0) return search_.incumbent.forget();
    best = search_.tree.completed_actions(vertex);
    search_.incumbent.reset_finishing();
  }
  const Candidate candidate{best, search_.incumbent.candidate().unfinished};
  const Score score = evaluate(search_.finishing.of(candidate));
  if (!pins_changed && stored == best) return search_.incumbent.resume(best, score);
  search_.incumbent.take(candidate, score, Incumbent::Given);
  const std::int32_t vertex = pins_changed ? best_vertex(search_.tree, true) : -1;
  if (vertex < 0) return;
  best = search_.tree.completed_actions(vertex);
  const Score other = evaluate(search_.finishing.seen_by_tree(best));
  search_.rewards.learn(best, other);
  search_.consider(best, other);
}

void Portfolio::restore_aside(const Candidate& aside) {
  if (aside.actions.empty() || search_.options.finish_always) return;
  if (!is_allowed(aside.actions)) return bar(aside);
  const Score score = evaluate(search_.finishing.of(aside));
  if (search_.incumbent.exists() && score.better_than(search_.incumbent.score()))
    search_.incumbent.keep_aside(aside, score);
}

void Portfolio::restore_unfinished(const SearchState& state) {
  if (!search_.finishing.is_chosen()) return;
  unfinished_.restore(state);
  if (!unfinished_.has_begun()) return;
  if (!is_allowed(unfinished_.actions())) return unfinished_.begin_anew();
  unfinished_.set_score(evaluate(search_.finishing.unfinished(unfinished_.actions())));
}

// One at a time: the better one of two.
void Portfolio::bar(const Candidate& candidate) {
  if (!barred_.actions.empty()) {
    const std::vector<Strategy> both = {search_.finishing.of(candidate),
                                        search_.finishing.of(barred_)};
    const std::vector<Score> scores = evaluate(both);
    if (!scores.front().better_than(scores.back())) return;
  }
  barred_ = candidate;
}

// What was in its way is gone: from there on where that is better than what was found since.
void Portfolio::recall() {
  if (barred_.actions.empty() || !is_allowed(barred_.actions)) return;
  Candidate candidate = std::exchange(barred_, {});
  const Score score = evaluate(search_.finishing.of(candidate));
  if (search_.incumbent.is_improved_by(score))
    search_.incumbent.take(std::move(candidate), score, Incumbent::Local);
}

}  // namespace strato
