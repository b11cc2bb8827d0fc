#include "core/search/proposers/local_proposers.h"

#include <utility>

#include "core/search/mcts/tree_rewards.h"

namespace strato {
namespace {

LocalSearch local_search(const RunningSearch& search, std::uint64_t seed) {
  const ActionTable& table = search.table;
  Neighbourhood neighbourhood(search.problem, table.actions(), table.ranked_by_group());
  neighbourhood.pin(table.pinned(), table.free_action_count());
  return {std::move(neighbourhood), seed};
}

}  // namespace

LocalProposer::LocalProposer(RunningSearch& search)
    : Proposer(search), local_(local_search(search, search.common.seed)) {
  local_.forbid([this](const ActionVector& actions) { return is_forbidden(actions); });
  local_.start_again_from([this](const auto& used) { return next_start(used); });
}

bool LocalProposer::chooses_finishing() const {
  return search_.finishing.is_chosen() && !search_.finishing.is_left_to_others();
}

// How a proposal will be finished is not known yet where that is chosen: bounds say nothing then.
bool LocalProposer::is_forbidden(const ActionVector& actions) {
  if (search_.is_settled({actions, search_.incumbent.candidate().unfinished})) return true;
  return !search_.finishing.is_of_tree() &&
         search_.bounds.prunes(search_.finishing.unfinished(actions), local_.to_beat());
}

// The best uniform strategy that it has not started from.
std::optional<LocalSearch::Start> LocalProposer::next_start(
    const std::set<std::int64_t>& used) const {
  const std::int32_t best = best_uniform_vertex(search_.tree, used);
  if (best < 0) return std::nullopt;
  const TreeNode& node = search_.tree.node(best);
  return LocalSearch::Start{node.action,
                            search_.tree.completed_actions(best),
                            {Nanos(node.step_time_ns), true, Bytes(0), nullptr}};
}

// One that was not tried since the incumbent changed: all at once, then group by group, in every
// other round only while the search has something to propose, too.
std::optional<GroupFlags> LocalProposer::finished_otherwise(std::int64_t round) {
  Incumbent& incumbent = search_.incumbent;
  const bool singles = round % 2 == 1;
  if (!chooses_finishing() || (!singles && incumbent.are_all_tried())) return std::nullopt;
  const std::vector<std::size_t> groups = search_.finishing.groups_of(incumbent.actions());
  if (groups.empty()) return std::nullopt;
  if (!incumbent.are_all_tried()) {
    incumbent.set_all_tried();
    return search_.finishing.all(!incumbent.strategy().duplicated.empty());
  }
  for (const std::size_t group : groups) {
    if (incumbent.is_tried(group)) continue;
    incumbent.set_tried(group);
    GroupFlags flags = incumbent.candidate().unfinished;
    flags[group] = !flags[group];
    return flags;
  }
  return std::nullopt;
}

// Where finishing is chosen, groups that a proposal changes are finished in one and unfinished in
// the next, since what is best the one way may look bad the other.
void LocalProposer::add_candidates(const std::vector<ActionVector>& proposals) {
  const Candidate& now = search_.incumbent.candidate();
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    Candidate& candidate = candidates_.emplace_back(Candidate{proposals[i], now.unfinished});
    if (!chooses_finishing()) continue;
    for (std::size_t group = 0; group < now.actions.size(); ++group)
      if (proposals[i][group] != now.actions[group]) candidate.unfinished[group] = i % 2 == 1;
  }
}

Proposal LocalProposer::propose(const Turn& turn) {
  follow_incumbent();
  const Incumbent& incumbent = search_.incumbent;
  const std::optional<GroupFlags> otherwise =
      turn.most > 1 ? finished_otherwise(turn.round) : std::nullopt;
  local_.prefer(best_uniform_actions(search_.tree, search_.table));
  if (!search_.finishing.is_of_tree()) search_.begin_bounds(incumbent.actions(), incumbent.score());
  candidates_.clear();
  add_candidates(local_.propose(turn.most - (otherwise ? 1 : 0)));
  from_search_ = candidates_.size();
  if (otherwise) candidates_.push_back({incumbent.actions(), *otherwise});
  return proposal();
}

void LocalProposer::accept(std::span<const Score> scores) {
  Incumbent& incumbent = search_.incumbent;
  const auto proposed = scores.first(from_search_);
  const bool won = local_.accept(proposed);
  const std::size_t winner = best_of(proposed);
  const Score& to_beat = won ? scores[winner] : incumbent.score();
  if (from_search_ < scores.size() && scores.back().better_than(to_beat)) {
    incumbent.take(candidates_.back(), scores.back(), Incumbent::Local);
  } else if (won) {
    Candidate& candidate = candidates_[winner];
    if (!search_.finishing.is_left_to_others())
      candidate.unfinished = search_.finishing.that_matter(candidate.unfinished, candidate.actions);
    incumbent.take(std::move(candidate), scores[winner], Incumbent::Local);
    version_ = incumbent.version();
  }
}

// Another proposer, or finishing it otherwise, may have found a better one; after restore() its
// score was not known.
void LocalProposer::follow_incumbent() {
  const Incumbent& incumbent = search_.incumbent;
  const Score score = incumbent.exists() ? incumbent.score() : Score();
  if (version_ == incumbent.version()) return local_.set_incumbent_score(score);
  version_ = incumbent.version();
  local_.restart_from(incumbent.actions(), score);
}

void LocalProposer::save(SearchState& state) {
  follow_incumbent();
  state.local = local_.save();
}

UnfinishedProposer::UnfinishedProposer(RunningSearch& search)
    : Proposer(search), local_(local_search(search, ~search.common.seed)) {
  local_.forbid([this](const ActionVector& actions) {
    return search_.is_settled({actions, search_.finishing.all(true)}) ||
           search_.bounds.prunes(search_.finishing.unfinished(actions), local_.to_beat());
  });
}

void UnfinishedProposer::start_from_incumbent(const Score& score) {
  local_.restart_from(search_.incumbent.actions(), score);
  tried_finished_ = false;
}

// It begins at the incumbent of all. One of all that finishes nothing and is better than its own
// becomes its own.
Proposal UnfinishedProposer::propose(const Turn& turn) {
  const Finishing& finishing = search_.finishing;
  const Incumbent& incumbent = search_.incumbent;
  if (!has_begun()) {
    step_ = Step::Begin;
    candidates_ = {{incumbent.actions(), finishing.all(true)}};
    return proposal(true);
  }
  if (incumbent.score().better_than(local_.score()) && incumbent.strategy().duplicated.empty())
    start_from_incumbent(incumbent.score());
  if (!std::exchange(tried_finished_, true)) {
    step_ = Step::Finish;
    candidates_ = {{actions(), finishing.all(false)}};
    if (!finishing.finished(actions()).duplicated.empty()) return proposal(true);
  }
  step_ = Step::Improve;
  local_.prefer(best_uniform_actions(search_.tree, search_.table));
  search_.begin_bounds(actions(), local_.score());
  candidates_.clear();
  for (ActionVector& proposed : local_.propose(turn.most))
    candidates_.push_back({std::move(proposed), finishing.all(true)});
  return proposal();
}

void UnfinishedProposer::accept(std::span<const Score> scores) {
  if (step_ == Step::Begin) return start_from_incumbent(scores.front());
  if (step_ == Step::Improve) {
    if (!local_.accept(scores)) return;
    tried_finished_ = false;
  }
  Proposer::accept(scores);
}

void UnfinishedProposer::save(SearchState& state) {
  if (has_begun()) state.second = {tried_finished_, local_.save()};
}

void UnfinishedProposer::restore(const SearchState& state) {
  if (!state.second) return;
  local_.restore(state.second->local);
  tried_finished_ = state.second->tried_finished;
}

void UnfinishedProposer::begin_anew() {
  local_.restart_from({}, {});
  tried_finished_ = false;
}

}  // namespace strato
