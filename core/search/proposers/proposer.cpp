#include "core/search/proposers/proposer.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

bool uses_bounds(const TreeSearchOptions& options) {
  return options.bounds && options.polish > 0 && !(options.finish && options.finish_always);
}

}  // namespace

Strategy Finishing::of(const Candidate& candidate) const {
  Strategy strategy = unfinished(candidate.actions);
  if (!exists() || std::ranges::all_of(candidate.unfinished, std::identity())) return strategy;
  options_.finish(strategy);
  std::erase_if(strategy.duplicated,
                [&](OpId op) { return candidate.unfinished[grouping_.group_of(op).index()]; });
  return strategy;
}

// Otherwise finished than the tree's they are others, unless there is nothing to finish.
bool Finishing::is_seen_by_tree(const Candidate& candidate) const {
  return candidate.unfinished == flags_of_tree() ||
         seen_by_tree(candidate.actions) == of(candidate);
}

std::vector<std::size_t> Finishing::groups_of(const ActionVector& actions) const {
  if (!exists()) return {};
  std::vector<std::size_t> groups;
  for (const OpId op : finished(actions).duplicated)
    groups.push_back(grouping_.group_of(op).index());
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  std::ranges::stable_sort(groups, std::greater(), [&](std::size_t group) {
    return grouping_.group(GroupId(group)).parameter_bytes;
  });
  return groups;
}

GroupFlags Finishing::that_matter(const GroupFlags& unfinished, const ActionVector& actions) const {
  GroupFlags result(unfinished.size(), false);
  for (const std::size_t group : groups_of(actions)) result[group] = unfinished[group];
  return result;
}

Incumbent::Incumbent(const Finishing& finishing, Listener improved)
    : finishing_(finishing), improved_(std::move(improved)) {
  reset_finishing();
}

void Incumbent::take(Candidate candidate, const Score& score, Origin origin) {
  candidate_ = std::move(candidate);
  score_ = score;
  ++version_;
  ++wins_[origin];
  tried_ = finishing_.all(false);
  all_tried_ = false;
  if (better_aside() == nullptr) improved_(strategy(), score);  // else that was told
}

void Incumbent::forget() {
  candidate_.actions.clear();
  score_.reset();
  ++version_;
}

void Incumbent::resume(ActionVector actions, const Score& score) {
  candidate_.actions = std::move(actions);
  score_ = score;
}

void Incumbent::reset_finishing() {
  candidate_.unfinished = finishing_.flags_of_tree();
  tried_ = finishing_.all(false);
  all_tried_ = false;
}

void Incumbent::keep_aside(const Candidate& candidate, const Score& score) {
  if (aside_ && !score.better_than(aside_->second)) return;
  keep_aside(finishing_.of(candidate), score);
  aside_candidate_ = candidate;
}

void Incumbent::keep_aside(Strategy strategy, const Score& score) {
  if (aside_ && !score.better_than(aside_->second)) return;
  aside_candidate_ = {};
  aside_ = {std::move(strategy), score};
  improved_(aside_->first, score);
}

const Strategy* Incumbent::better_aside() const {
  const bool better = aside_ && (!score_ || aside_->second.better_than(*score_));
  return better ? &aside_->first : nullptr;
}

std::optional<Score> Incumbent::best_score() const {
  return better_aside() != nullptr ? aside_->second : score_;
}

void Incumbent::save(SearchState& state) const {
  state.incumbent_unfinished = candidate_.unfinished;
  state.tried_otherwise = tried_;
  state.all_tried_otherwise = all_tried_;
  if (better_aside() != nullptr) state.aside = aside_candidate_;
}

void Incumbent::restore_finishing(const SearchState& state) {
  reset_finishing();
  if (state.tried_otherwise.empty()) return;
  candidate_.unfinished = state.incumbent_unfinished;
  tried_ = state.tried_otherwise;
  all_tried_ = state.all_tried_otherwise;
}

RunningSearch::RunningSearch(const PlanRequest& request, const TreeSearchOptions& options,
                             PriorProvider* prior, std::span<const Strategy> known,
                             Incumbent::Listener improved)
    : problem(request.problem),
      prior(prior),
      common(request.options),
      options(options),
      table(problem, options, common.seed, request.resume.get(), known),
      tree(problem, table, options),
      rewards(*problem.cluster, options.graded_overflow),
      finishing(problem, table, options),
      incumbent(finishing, std::move(improved)),
      bounds(problem, table.legal_by_group(), uses_bounds(options), options.sieve),
      stop(request.stop) {}

void RunningSearch::consider(const ActionVector& actions, const Score& score) {
  if (!incumbent.is_improved_by(score) || tree.is_excluded(actions)) return;
  incumbent.take({actions, finishing.flags_of_tree()}, score, Incumbent::Tree);
}

bool RunningSearch::is_settled(const Candidate& candidate) const {
  return tree.is_excluded(candidate.actions) ||
         (rewards.contains(candidate.actions) && finishing.is_seen_by_tree(candidate));
}

void RunningSearch::begin_bounds(const ActionVector& incumbent, const Score& score) {
  bounds.begin_round(finishing.unfinished(incumbent), score,
                     static_cast<std::size_t>(options.batch));
}

Proposal Proposer::proposal(bool more) const {
  Proposal proposal{{}, candidates_.size(), 0, more};
  for (const Candidate& candidate : candidates_)
    proposal.strategies.push_back(search_.finishing.of(candidate));
  return proposal;
}

void Proposer::accept(std::span<const Score> scores) {
  const std::size_t best = best_of(scores);
  if (scores[best].better_than(search_.incumbent.score()))
    search_.incumbent.take(candidates_[best], scores[best], Incumbent::Local);
}

}  // namespace strato
