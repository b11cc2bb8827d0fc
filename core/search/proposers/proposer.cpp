#include "core/search/proposers/proposer.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

bool uses_bounds(const TreeSearchOptions& options) {
  return options.bounds && options.polish > 0 && !(options.finish && options.finish_always);
}

}  // namespace

RunningSearch::RunningSearch(const Problem& problem, PriorProvider& prior,
                             const PlannerOptions& common, const TreeSearchOptions& options,
                             const SearchTree* steering, std::span<const Strategy> known,
                             Incumbent::Listener improved)
    : problem(problem),
      prior(prior),
      common(common),
      options(options),
      table(problem, options, common.seed, steering, known),
      tree(problem, table, options),
      rewards(*problem.cluster, options.graded_overflow),
      finishing(problem, table, options),
      incumbent(finishing, std::move(improved)),
      bounds(problem, table.legal_by_group(), uses_bounds(options), options.sieve) {}

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

std::size_t best_of(std::span<const Score> scores) {
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  return static_cast<std::size_t>(best - scores.begin());
}

}  // namespace strato
