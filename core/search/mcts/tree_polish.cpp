// Local improvement of the best strategy, in turns with the tree; and the best strategy the other
// way: finished (SFB) in groups where it is plain, plain in groups where it is finished.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/search/mcts/tree_searcher.h"

namespace strato {

// Depends on what is stored only, so that a resumed search takes the same turns. Where the
// decisions that look best do not beat data parallelism for all groups, changing a few of it does
// so sooner.
bool TreeSearch::is_polish_turn(std::size_t want) const {
  if (options_.polish <= 0 || !may_polish()) return false;
  const bool unbeaten = best_ && best_->feasible && best_->step_time >= baseline_time_;
  if (tree_iterations_ < (unbeaten || small_ ? kFirstLook : kFirstTree)) return false;
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

// What a search of several groups can do otherwise with its best strategy: each group the other
// way, or all of them at once.
GroupFlags TreeSearch::other_way(std::size_t which) const {
  GroupFlags flags = left_out_;
  if (which < flags.size()) {
    flags[which] = !flags[which];
    return flags;
  }
  const bool all_plain = incumbent().duplicated.empty();
  return GroupFlags(flags.size(), !all_plain);
}

// Up to `most` ways that were not tried since the incumbent changed: all at once, then group by
// group, in every other round only while local improvement has something to propose, too.
std::vector<std::size_t> TreeSearch::next_ways(std::size_t most) {
  std::vector<std::size_t> ways;
  if (plain_ || options_.finish_always || !options_.finish || most == 0) return ways;
  const std::int64_t round = polish_iterations_ / options_.batch;
  const bool singles = (lane_.has_incumbent() ? round / kLaneTurns : round) % 2 == 1;
  if (!singles && ways_tried_.back()) return ways;
  const std::vector<std::size_t> groups = finish_.groups_of(tree_.strategy_of(local_.incumbent()));
  if (groups.empty()) return ways;
  if (!ways_tried_.back()) return {left_out_.size()};
  for (const std::size_t group : groups)
    if (ways.size() < most && !ways_tried_[group]) ways.push_back(group);
  return ways;
}

// Where finishing gains little at the outset, it misleads more than it helps: it makes good what is
// better done otherwise, and other decisions of its groups look worse than they are. Then the
// search goes on plain, and the finished strategy is kept. Returns the number of evaluations.
std::size_t TreeSearch::plain_round(std::size_t want) {
  constexpr double kLittle = 1.02;
  constexpr std::size_t kLook = 256;  // vertices: finishing takes its time
  if (options_.finish_always || !options_.finish) return 0;
  std::vector<std::pair<float, std::int32_t>> ranked;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const TreeNode& node = tree_.nodes()[i];
    if (node.evaluated && !node.closed && !node.stale)
      ranked.emplace_back(-node.reward, static_cast<std::int32_t>(i));
  }
  std::ranges::sort(ranked);
  ranked.resize(std::min(kLook, ranked.size()));
  std::vector<ActionVector> chosen;
  std::vector<Strategy> strategies;
  for (const auto& [reward, id] : ranked) {
    if (chosen.size() == want) break;
    ActionVector actions = tree_.completed_actions(id);
    if (std::ranges::find(chosen, actions) != chosen.end() || tree_.is_excluded(actions)) continue;
    Strategy plain = tree_.strategy_of(actions);
    if (finished(actions) == plain) continue;
    chosen.push_back(std::move(actions));
    strategies.push_back(std::move(plain));
  }
  if (chosen.empty()) return 0;
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(scores.size());
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  if (!best->feasible) return scores.size();
  if (best_->feasible && best->step_time / best_->step_time > kLittle) return scores.size();
  plain_ = true;
  if (best_->better_than(*best)) keep_way(local_.incumbent(), left_out_, *best_);
  take_way(chosen[static_cast<std::size_t>(best - scores.begin())],
           GroupFlags(left_out_.size(), true), *best);
  return scores.size();
}

void TreeSearch::keep_way(const ActionVector& actions, const GroupFlags& left_out,
                          const Score& score) {
  if (best_seed_ && !score.better_than(best_seed_->second)) return;
  kept_ = {actions, left_out};
  keep(completed(actions, left_out), score);
}

// While the search goes on plain: what it has now, finished in all groups, and in those alone that
// have most parameters. Not to go on from. Returns the number of evaluations.
std::size_t TreeSearch::finish_round(std::size_t want) {
  constexpr std::int64_t kEvery = 12;  // rounds
  if (!plain_ || ways_tried_.back() || polish_iterations_ / options_.batch % kEvery != kEvery - 1)
    return 0;
  ways_tried_.back() = true;
  const ActionVector& actions = local_.incumbent();
  const GroupFlags plain(left_out_.size(), true);
  std::vector<GroupFlags> flags = {GroupFlags(left_out_.size(), false)};
  for (const std::size_t group : finish_.groups_of(tree_.strategy_of(actions))) {
    flags.push_back(plain);
    flags.back()[group] = false;
  }
  if (flags.size() == 1) return 0;
  if (flags.size() == 2) flags.pop_back();  // one group: that is all
  flags.resize(std::min(flags.size(), want));
  std::vector<Strategy> strategies;
  for (const GroupFlags& left_out : flags) strategies.push_back(completed(actions, left_out));
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(scores.size());
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (scores[i].better_than(*best_)) keep_way(actions, flags[i], scores[i]);
  return scores.size();
}

void TreeSearch::take_way(const ActionVector& actions, GroupFlags left_out, const Score& score) {
  best_ = score;
  left_out_ = std::move(left_out);
  ways_tried_.assign(ways_tried_.size(), false);
  local_.restart_from(actions, score);
  ++polish_wins_;
  improved();
}

// Of proposals: what they change is finished in one and plain in the next, since what is best the
// one way may look bad the other.
std::vector<GroupFlags> TreeSearch::flags_of(const std::vector<ActionVector>& proposals) const {
  std::vector<GroupFlags> flags(proposals.size(), left_out_);
  if (plain_ || options_.finish_always || !options_.finish) return flags;
  const ActionVector& now = local_.incumbent();
  for (std::size_t i = 0; i < proposals.size(); ++i)
    for (std::size_t group = 0; group < now.size(); ++group)
      if (proposals[i][group] != now[group]) flags[i][group] = i % 2 == 1;
  return flags;
}

bool TreeSearch::polish_round(std::size_t want) {
  std::size_t done = decide_round(want);
  if (done == want) return true;
  if (is_lane_turn() && lane_round(want - done) > 0) return true;
  if (done == 0) done = polish_iterations_ == 0 ? plain_round(want) : finish_round(want);
  if (done < want) done += bounded_round(want - done);
  if (done == want || proven_) return done > 0;
  want -= done;  // so that a round always counts the same
  const ActionVector before = local_.incumbent();
  const std::vector<std::size_t> ways = next_ways(want > 1 ? 1 : 0);
  local_.prefer(best_uniform_actions());
  if (plain_ || !options_.finish) begin_sieve(before, *best_);
  const std::vector<ActionVector> batch = local_.propose(want - ways.size());
  if (batch.empty() && ways.empty()) return done > 0;
  std::vector<GroupFlags> flags = flags_of(batch);
  std::vector<Strategy> strategies;
  for (std::size_t i = 0; i < batch.size(); ++i)
    strategies.push_back(completed(batch[i], flags[i]));
  for (const std::size_t way : ways) {
    flags.push_back(other_way(way));
    strategies.push_back(completed(before, flags.back()));
    ways_tried_[way] = true;
  }
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(strategies.size());
  const auto proposed = std::span(scores).first(batch.size());
  const auto best_from = [&](std::size_t first, std::size_t end) {
    const auto part = std::span(scores).subspan(first, end - first);
    const auto best = std::ranges::min_element(
        part, [](const Score& a, const Score& b) { return a.better_than(b); });
    return first + static_cast<std::size_t>(best - part.begin());
  };
  const bool won = local_.accept(proposed);
  if (won) {
    const std::size_t winner = best_from(0, batch.size());
    best_ = scores[winner];
    if (!plain_) left_out_ = finish_.that_matter(flags[winner], tree_.strategy_of(batch[winner]));
  }
  const std::size_t other = best_from(batch.size(), scores.size());
  if (other < scores.size() && scores[other].better_than(*best_)) {
    take_way(before, std::move(flags[other]), scores[other]);
  } else if (won) {
    ways_tried_.assign(ways_tried_.size(), false);
    ++polish_wins_;
    improved();
  }
  return true;
}

}  // namespace strato
