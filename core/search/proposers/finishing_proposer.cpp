#include "core/search/proposers/finishing_proposer.h"

#include <algorithm>
#include <utility>

#include "core/search/mcts/tree_ranking.h"

namespace strato {

void FinishingProposer::compare_unfinished(std::size_t most) {
  constexpr std::size_t kLook = 256;  // vertices: finishing takes its time
  for (const std::int32_t id : best_vertices(tree_, kLook)) {
    if (candidates_.size() == most) break;
    ActionVector actions = tree_.completed_actions(id);
    const auto is_same = [&](const Candidate& other) { return other.actions == actions; };
    if (std::ranges::any_of(candidates_, is_same) || tree_.is_excluded(actions)) continue;
    if (finishing_.finished(actions) == finishing_.unfinished(actions)) continue;
    candidates_.push_back({std::move(actions), finishing_.all(true)});
  }
}

// In all groups, and in those alone that have most parameters.
void FinishingProposer::finish_incumbent(std::size_t most) {
  incumbent_.set_all_tried();
  const ActionVector& actions = incumbent_.actions();
  const std::vector<std::size_t> groups = finishing_.groups_of(actions);
  if (groups.empty()) return;
  candidates_.push_back({actions, finishing_.all(false)});
  if (groups.size() == 1) return;  // that is all of them
  for (const std::size_t group : groups) {
    if (candidates_.size() == most) break;
    candidates_.push_back({actions, finishing_.all(true)});
    candidates_.back().unfinished[group] = false;
  }
}

Proposal FinishingProposer::propose(const Turn& turn) {
  constexpr std::int64_t kEvery = 12;  // rounds
  candidates_.clear();
  compares_ = turn.before == 0;
  if (compares_ && finishing_.is_chosen())
    compare_unfinished(turn.most);
  else if (!compares_ && finishing_.is_left_to_others() && !incumbent_.are_all_tried() &&
           turn.round % kEvery == kEvery - 1)
    finish_incumbent(turn.most);
  std::vector<Strategy> strategies;
  for (const Candidate& candidate : candidates_) strategies.push_back(finishing_.of(candidate));
  return Proposal::of(std::move(strategies));
}

void FinishingProposer::decide(std::span<const Score> scores) {
  constexpr double kLittle = 1.02;
  const std::size_t best = best_of(scores);
  const Score& now = incumbent_.score();
  if (!scores[best].feasible) return;
  if (now.feasible && scores[best].step_time / now.step_time > kLittle) return;
  finishing_.leave_to_others();
  if (now.better_than(scores[best])) incumbent_.keep_aside(incumbent_.candidate(), now);
  incumbent_.take(candidates_[best], scores[best], Incumbent::Local);
}

void FinishingProposer::accept(std::span<const Score> scores) {
  if (compares_) return decide(scores);
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i].better_than(incumbent_.score())) incumbent_.keep_aside(candidates_[i], scores[i]);
}

}  // namespace strato
