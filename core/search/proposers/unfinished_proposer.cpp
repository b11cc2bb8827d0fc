#include "core/search/proposers/unfinished_proposer.h"

#include <utility>

#include "core/search/mcts/tree_ranking.h"

namespace strato {

UnfinishedProposer::UnfinishedProposer(LocalSearch search, const ActionTable& table,
                                       std::size_t batch, const Finishing& finishing,
                                       const GrowingTree& tree, const KnownRewards& rewards,
                                       BoundUse& bounds, Incumbent& incumbent)
    : search_(std::move(search)),
      table_(table),
      batch_(batch),
      finishing_(finishing),
      tree_(tree),
      bounds_(bounds),
      incumbent_(incumbent) {
  search_.forbid([this, &rewards](const ActionVector& actions) {
    if (tree_.is_excluded(actions)) return true;
    if (rewards.contains(actions) && finishing_.is_seen_by_tree({actions, finishing_.all(true)}))
      return true;
    return bounds_.prunes(finishing_.unfinished(actions), search_.to_beat());
  });
}

// An incumbent of all that finishes nothing and is better than its own becomes its own.
void UnfinishedProposer::meet_incumbent() {
  if (!incumbent_.score().better_than(score_) || !incumbent_.strategy().duplicated.empty()) return;
  search_.restart_from(incumbent_.actions(), incumbent_.score());
  score_ = incumbent_.score();
  tried_finished_ = false;
}

// It begins at the incumbent of all.
Proposal UnfinishedProposer::propose(const Turn& turn) {
  if (!search_.has_incumbent()) {
    step_ = Step::Begin;
    return Proposal::of({finishing_.unfinished(incumbent_.actions())}, true);
  }
  meet_incumbent();
  if (!std::exchange(tried_finished_, true)) {
    Strategy finished = finishing_.finished(search_.incumbent());
    step_ = Step::Finish;
    if (!finished.duplicated.empty()) return Proposal::of({std::move(finished)}, true);
  }
  step_ = Step::Improve;
  search_.prefer(best_uniform_actions(tree_, table_));
  bounds_.begin_round(finishing_.unfinished(search_.incumbent()), score_, batch_);
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : search_.propose(turn.most))
    strategies.push_back(finishing_.unfinished(actions));
  return Proposal::of(std::move(strategies));
}

void UnfinishedProposer::accept(std::span<const Score> scores) {
  const Score& first = scores.front();
  if (step_ == Step::Begin) {
    search_.restart_from(incumbent_.actions(), first);
    score_ = first;
  } else if (step_ == Step::Improve) {
    improve(scores);
  } else if (first.better_than(incumbent_.score())) {
    incumbent_.take({search_.incumbent(), finishing_.all(false)}, first, Incumbent::Local);
  }
}

void UnfinishedProposer::improve(std::span<const Score> scores) {
  if (!search_.accept(scores)) return;
  tried_finished_ = false;
  score_ = scores[best_of(scores)];
  if (score_.better_than(incumbent_.score()))
    incumbent_.take({search_.incumbent(), finishing_.all(true)}, score_, Incumbent::Local);
}

void UnfinishedProposer::save(SearchState& state) {
  if (has_begun()) state.second = {tried_finished_, search_.save()};
}

void UnfinishedProposer::restore(const SearchState& state) {
  if (!state.second) return;
  search_.restore(state.second->local);
  tried_finished_ = state.second->tried_finished;
}

void UnfinishedProposer::begin_anew() {
  search_.restart_from({}, {});
  tried_finished_ = false;
}

void UnfinishedProposer::set_score(const Score& score) {
  score_ = score;
  search_.set_incumbent_score(score);
}

}  // namespace strato
