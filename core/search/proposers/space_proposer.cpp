#include "core/search/proposers/space_proposer.h"

#include <utility>

namespace strato {

// Places next in the order of their bounds, while these are below the best: strategies that the
// tree has seen as they are here are left out.
std::vector<std::size_t> SpaceProposer::next_places(std::size_t most) {
  // Bounds far below all times say little about which of them are good.
  constexpr std::int64_t kFar = 8;
  const Nanos best = incumbent_.score().step_time;
  std::vector<std::size_t> places;
  for (; places.size() < most; ++next_) {
    if (next_ >= space_->size() || space_->bound(next_) >= best) {
      proven_ = !finishing_.exists() && places.empty();
      break;
    }
    if (space_->bound(next_) * kFar < best) break;
    if (!finishing_.is_of_tree() && rewards_.contains(space_->strategy(next_))) continue;
    places.push_back(next_);
  }
  return places;
}

Proposal SpaceProposer::propose(const Turn& turn) {
  places_.clear();
  const bool usable = bounds_.is_small() && incumbent_.exists() && incumbent_.score().feasible;
  if (!usable || tree_.has_excluded()) return {};
  if (space_ == nullptr) space_ = list_();
  if (space_->size() == 0) return {};
  places_ = next_places(turn.most);
  if (proven_ && incumbent_.score().step_time < space_->bound_of(incumbent_.actions())) {
    proven_ = false;
    bounds_.distrust();
  }
  std::vector<Strategy> strategies;
  for (const std::size_t place : places_)
    strategies.push_back(finishing_.unfinished(space_->strategy(place)));
  return Proposal::of(std::move(strategies));
}

void SpaceProposer::accept(std::span<const Score> scores) {
  for (std::size_t i = 0; i < scores.size() && !bounds_.is_contradicted(); ++i)
    if (scores[i].step_time < space_->bound(places_[i])) bounds_.distrust();
  const std::size_t best = best_of(scores);
  if (!scores[best].better_than(incumbent_.score())) return;
  incumbent_.take({space_->strategy(places_[best]), finishing_.all(finishing_.exists())},
                  scores[best], Incumbent::Local);
}

}  // namespace strato
