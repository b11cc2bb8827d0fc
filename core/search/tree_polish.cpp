// Local improvement of the best strategy, in turns with the tree; and the best strategy the other
// way: with `finish` (SFB) where it is plain, plain where it is finished.
#include <algorithm>
#include <utility>

#include "core/search/tree_searcher.h"

namespace strato {

// Depends on counters only, so that a resumed search takes the same turns.
bool TreeSearch::is_polish_turn(std::size_t want) const {
  if (options_.polish <= 0 || tree_iterations_ < kFirstTree || !may_polish()) return false;
  const auto after = static_cast<double>(polish_iterations_) + static_cast<double>(want);
  return after <= options_.polish * (static_cast<double>(tree_iterations_) + after);
}

// The best uniform strategy that local improvement has not started from.
std::optional<LocalSearch::Start> TreeSearch::next_start(const std::set<std::int64_t>& used) const {
  std::int32_t best = -1;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tree_.nodes().size()); ++id) {
    const TreeNode& node = tree_.node(id);
    const bool uniform = node.first_action >= 0 && tree_.node(node.parent).first_action < 0;
    if (!uniform || node.closed || node.stale || node.reward <= -1 || used.contains(node.action))
      continue;
    if (best < 0 || node.reward > tree_.node(best).reward) best = id;
  }
  if (best < 0) return std::nullopt;
  const TreeNode& node = tree_.node(best);
  return LocalSearch::Start{node.action,
                            tree_.completed_actions(best),
                            {Nanos(node.step_time_ns), true, Bytes(0), nullptr}};
}

// Decisions that did best for the whole graph, best first: for parts of it they are worth a try.
std::vector<std::int32_t> TreeSearch::best_uniform_actions() const {
  constexpr std::size_t kMost = 16;
  std::vector<std::pair<float, std::int32_t>> found;
  for (const TreeNode& node : tree_.nodes()) {
    const bool uniform = node.first_action >= 0 && tree_.node(node.parent).first_action < 0;
    if (!uniform || !node.evaluated || node.closed || node.stale || node.reward <= -1) continue;
    if (static_cast<std::size_t>(node.action) < tree_.free_action_count())
      found.emplace_back(-node.reward, node.action);
  }
  std::ranges::sort(found);
  found.resize(std::min(kMost, found.size()));
  std::vector<std::int32_t> actions;
  for (const auto& [reward, action] : found) actions.push_back(action);
  return actions;
}

// Whether the incumbent is another strategy without `finish`.
bool TreeSearch::has_twin() const {
  if (options_.finish_always || !options_.finish) return false;
  return finished(local_.incumbent()) != tree_.strategy_of(local_.incumbent());
}

// While both ways are nearly as good, either may lead on: every other round is the twin's.
bool TreeSearch::is_twins_turn() const {
  constexpr double kNear = 1.01;
  if (twin_.value == 0 || polish_iterations_ / options_.batch % 2 == 0) return false;
  return twin_ / best_->step_time < kNear;
}

void TreeSearch::look_at_twin(const ActionVector& actions, const Score& score, Nanos other) {
  if (!score.better_than(*best_)) {
    twin_ = score.feasible ? score.step_time : Nanos::max();
    return;
  }
  plain_ = !plain_;
  twin_ = other;
  best_ = score;
  local_.restart_from(actions, score);
}

bool TreeSearch::polish_round(std::size_t want) {
  const bool twin = want > 1 && twin_.value == 0 && has_twin();
  const ActionVector before = local_.incumbent();
  const Nanos time_before = best_->step_time;
  plain_round_ = plain_ != is_twins_turn();
  local_.prefer(best_uniform_actions());
  const std::vector<ActionVector> batch = local_.propose(twin ? want - 1 : want);
  if (batch.empty() && !twin) return false;
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : batch) strategies.push_back(completed(actions, plain_round_));
  if (twin) strategies.push_back(completed(before, !plain_));
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(strategies.size());
  const auto proposed = std::span(scores).first(batch.size());
  const bool won = local_.accept(proposed);
  if (won) {
    best_ = *std::ranges::min_element(
        proposed, [](const Score& a, const Score& b) { return a.better_than(b); });
    plain_ = plain_round_;
    twin_ = Nanos(0);
  }
  const bool twin_won = twin && scores.back().better_than(*best_);
  if (twin && (twin_won || !won)) look_at_twin(before, scores.back(), time_before);
  if (!won && !twin_won) return true;
  ++polish_wins_;
  improved();
  return true;
}

}  // namespace strato
