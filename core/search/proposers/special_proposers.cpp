#include "core/search/proposers/special_proposers.h"

#include <algorithm>
#include <utility>

#include "core/search/local/memory_estimate.h"
#include "core/search/mcts/tree_rewards.h"

namespace strato {

// Places next in the order of their bounds, while these are below the best: strategies that the
// tree has seen as they are here are left out.
void SpaceProposer::find_places(std::size_t most) {
  // Bounds far below all times say little about which of them are good.
  constexpr std::int64_t kFar = 8;
  const Nanos best = search_.incumbent.score().step_time;
  for (; places_.size() < most; ++next_) {
    if (next_ >= space_->size() || space_->bound(next_) >= best) {
      proven_ = !search_.finishing.exists() && places_.empty();
      return;
    }
    if (space_->bound(next_) * kFar < best) return;
    ActionVector actions = space_->strategy(next_);
    if (!search_.finishing.is_of_tree() && search_.rewards.contains(actions)) continue;
    places_.push_back(next_);
    candidates_.push_back({std::move(actions), search_.finishing.all(search_.finishing.exists())});
  }
}

Proposal SpaceProposer::propose(const Turn& turn) {
  const Incumbent& incumbent = search_.incumbent;
  places_.clear();
  candidates_.clear();
  const bool usable = search_.bounds.is_small() && incumbent.exists() && incumbent.score().feasible;
  if (!usable || search_.tree.has_excluded()) return {};
  if (space_ == nullptr)
    space_ = std::make_unique<const SmallSpace>(search_.problem, search_.table.actions(),
                                                search_.table.legal_by_group(), search_.stop,
                                                search_.beat);
  if (space_->size() == 0) return {};
  find_places(turn.most);
  if (proven_ && incumbent.score().step_time < space_->bound_of(incumbent.actions())) {
    proven_ = false;
    search_.bounds.distrust();
  }
  return proposal();
}

void SpaceProposer::accept(std::span<const Score> scores) {
  for (std::size_t i = 0; i < scores.size() && !search_.bounds.is_contradicted(); ++i)
    if (scores[i].step_time < space_->bound(places_[i])) search_.bounds.distrust();
  Proposer::accept(scores);
}

Proposal PackingProposer::propose(const Turn&) {
  const Incumbent& incumbent = search_.incumbent;
  if (packed_ || !incumbent.exists() || incumbent.score().feasible) return {};
  packed_ = true;
  const auto free = std::span(search_.table.actions()).first(search_.table.free_action_count());
  for (ActionVector& packing : MemoryEstimate(search_.problem).packings(free))
    candidates_.push_back(
        {search_.table.with_pins(std::move(packing)), search_.finishing.flags_of_tree()});
  Proposal spread = proposal();
  spread.iterations = 0;
  return spread;
}

void PackingProposer::accept(std::span<const Score> scores) {
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    search_.consider(candidates_[i].actions, scores[i]);
}

void FinishingProposer::compare_unfinished(std::size_t most) {
  constexpr std::size_t kLook = 256;  // vertices: finishing takes its time
  const Finishing& finishing = search_.finishing;
  for (const std::int32_t id : best_vertices(search_.tree, kLook)) {
    if (candidates_.size() == most) break;
    ActionVector actions = search_.tree.completed_actions(id);
    if (std::ranges::find(candidates_, actions, &Candidate::actions) != candidates_.end() ||
        search_.tree.is_excluded(actions))
      continue;
    if (finishing.finished(actions) == finishing.unfinished(actions)) continue;
    candidates_.push_back({std::move(actions), finishing.all(true)});
  }
}

// In all groups, and in those alone that have most parameters.
void FinishingProposer::finish_incumbent(std::size_t most) {
  search_.incumbent.set_all_tried();
  const ActionVector& actions = search_.incumbent.actions();
  const std::vector<std::size_t> groups = search_.finishing.groups_of(actions);
  if (groups.empty()) return;
  candidates_.push_back({actions, search_.finishing.all(false)});
  if (groups.size() == 1) return;  // that is all of them
  for (const std::size_t group : groups) {
    if (candidates_.size() == most) break;
    candidates_.push_back({actions, search_.finishing.all(true)});
    candidates_.back().unfinished[group] = false;
  }
}

Proposal FinishingProposer::propose(const Turn& turn) {
  constexpr std::int64_t kEvery = 12;  // rounds
  const Finishing& finishing = search_.finishing;
  candidates_.clear();
  compares_ = turn.before == 0;
  if (compares_ && finishing.is_chosen())
    compare_unfinished(turn.most);
  else if (!compares_ && finishing.is_left_to_others() && !search_.incumbent.are_all_tried() &&
           turn.round % kEvery == kEvery - 1)
    finish_incumbent(turn.most);
  return proposal();
}

void FinishingProposer::decide(std::span<const Score> scores) {
  constexpr double kLittle = 1.02;
  Incumbent& incumbent = search_.incumbent;
  const std::size_t best = best_of(scores);
  const Score& now = incumbent.score();
  if (!scores[best].feasible) return;
  if (now.feasible && scores[best].step_time / now.step_time > kLittle) return;
  search_.finishing.leave_to_others();
  if (now.better_than(scores[best])) incumbent.keep_aside(incumbent.candidate(), now);
  incumbent.take(candidates_[best], scores[best], Incumbent::Local);
}

void FinishingProposer::accept(std::span<const Score> scores) {
  if (compares_) return decide(scores);
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i].better_than(search_.incumbent.score()))
      search_.incumbent.keep_aside(candidates_[i], scores[i]);
}

}  // namespace strato
