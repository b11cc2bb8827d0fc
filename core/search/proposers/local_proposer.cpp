#include "core/search/proposers/local_proposer.h"

#include <algorithm>
#include <utility>

#include "core/search/mcts/tree_ranking.h"

namespace strato {

LocalProposer::LocalProposer(LocalSearch search, const ActionTable& table, std::size_t batch,
                             const Finishing& finishing, const GrowingTree& tree,
                             const KnownRewards& rewards, BoundUse& bounds, Incumbent& incumbent)
    : search_(std::move(search)),
      table_(table),
      batch_(batch),
      finishing_(finishing),
      tree_(tree),
      rewards_(rewards),
      bounds_(bounds),
      incumbent_(incumbent) {
  search_.forbid([this](const ActionVector& actions) { return is_forbidden(actions); });
  search_.start_again_from([this](const auto& used) { return next_start(used); });
}

// How a proposal will be finished is not known yet where that is chosen: bounds say nothing then.
bool LocalProposer::is_forbidden(const ActionVector& actions) {
  if (rewards_.contains(actions) &&
      finishing_.is_seen_by_tree({actions, incumbent_.candidate().unfinished}))
    return true;
  if (tree_.is_excluded(actions)) return true;
  return !finishing_.is_of_tree() &&
         bounds_.prunes(finishing_.unfinished(actions), search_.to_beat());
}

// The best uniform strategy that it has not started from.
std::optional<LocalSearch::Start> LocalProposer::next_start(
    const std::set<std::int64_t>& used) const {
  const std::int32_t best = best_uniform_vertex(tree_, used);
  if (best < 0) return std::nullopt;
  const TreeNode& node = tree_.node(best);
  return LocalSearch::Start{node.action,
                            tree_.completed_actions(best),
                            {Nanos(node.step_time_ns), true, Bytes(0), nullptr}};
}

// One that was not tried since the incumbent changed: all at once, then group by group, in every
// other round only while the search has something to propose, too.
std::optional<GroupFlags> LocalProposer::finished_otherwise(std::int64_t round) {
  const bool singles = round % 2 == 1;
  if (!chooses_finishing() || (!singles && incumbent_.are_all_tried())) return std::nullopt;
  const std::vector<std::size_t> groups = finishing_.groups_of(incumbent_.actions());
  if (groups.empty()) return std::nullopt;
  if (!incumbent_.are_all_tried()) {
    incumbent_.set_all_tried();
    return finishing_.all(!incumbent_.strategy().duplicated.empty());
  }
  for (const std::size_t group : groups) {
    if (incumbent_.is_tried(group)) continue;
    incumbent_.set_tried(group);
    GroupFlags flags = incumbent_.candidate().unfinished;
    flags[group] = !flags[group];
    return flags;
  }
  return std::nullopt;
}

// Where finishing is chosen, groups that a proposal changes are finished in one and unfinished in
// the next, since what is best the one way may look bad the other.
void LocalProposer::add_proposals(const std::vector<ActionVector>& proposals) {
  const Candidate& now = incumbent_.candidate();
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    Candidate& candidate = candidates_.emplace_back(Candidate{proposals[i], now.unfinished});
    if (!chooses_finishing()) continue;
    for (std::size_t group = 0; group < now.actions.size(); ++group)
      if (proposals[i][group] != now.actions[group]) candidate.unfinished[group] = i % 2 == 1;
  }
}

Proposal LocalProposer::propose(const Turn& turn) {
  follow_incumbent();
  candidates_.clear();
  const std::optional<GroupFlags> otherwise =
      turn.most > 1 ? finished_otherwise(turn.round) : std::nullopt;
  search_.prefer(best_uniform_actions(tree_, table_));
  if (!finishing_.is_of_tree())
    bounds_.begin_round(finishing_.unfinished(incumbent_.actions()), incumbent_.score(), batch_);
  add_proposals(search_.propose(turn.most - (otherwise ? 1 : 0)));
  from_search_ = candidates_.size();
  if (otherwise) candidates_.push_back({incumbent_.actions(), *otherwise});
  std::vector<Strategy> strategies;
  for (const Candidate& candidate : candidates_) strategies.push_back(finishing_.of(candidate));
  return Proposal::of(std::move(strategies));
}

void LocalProposer::accept(std::span<const Score> scores) {
  const auto proposed = scores.first(from_search_);
  const bool won = search_.accept(proposed);
  const std::size_t winner = best_of(proposed);
  const Score& to_beat = won ? scores[winner] : incumbent_.score();
  if (from_search_ < scores.size() && scores.back().better_than(to_beat)) {
    incumbent_.take(candidates_.back(), scores.back(), Incumbent::Local);
  } else if (won) {
    Candidate& candidate = candidates_[winner];
    if (!finishing_.is_left_to_others())
      candidate.unfinished = finishing_.that_matter(candidate.unfinished, candidate.actions);
    incumbent_.take(std::move(candidate), scores[winner], Incumbent::Local);
    version_ = incumbent_.version();
  }
}

// Another proposer, or finishing it otherwise, may have found a better one; after restore() its
// score was not known.
void LocalProposer::follow_incumbent() {
  const Score score = incumbent_.exists() ? incumbent_.score() : Score();
  if (version_ == incumbent_.version()) return search_.set_incumbent_score(score);
  version_ = incumbent_.version();
  search_.restart_from(incumbent_.actions(), score);
}

void LocalProposer::save(SearchState& state) {
  follow_incumbent();
  state.local = search_.save();
}

void LocalProposer::restore(const SearchState& state) { search_.restore(state.local); }

}  // namespace strato
