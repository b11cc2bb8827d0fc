// Whole strategies that the prior decides from the first group to the last, with no evaluation in
// between: where it has learned what good ones look like, local improvement begins there.
#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "core/search/mcts/tree_searcher.h"

namespace strato {
namespace {

// A chance in proportion to this power of the probability: strategies of many groups that follow
// the prior closely, and are not all the same.
constexpr double kSharpness = 3;

// The most probable of the legal actions, or one by chance; the most plausible where the prior says
// nothing.
std::int32_t draw(const std::vector<float>& row, const std::vector<std::int32_t>& legal,
                  Random* random) {
  if (row.empty()) return legal.front();
  const auto probability = [&](std::int32_t a) { return row[static_cast<std::size_t>(a)]; };
  if (random == nullptr) return *std::ranges::max_element(legal, {}, probability);
  std::vector<double> weights;
  for (const std::int32_t a : legal) weights.push_back(std::pow(probability(a), kSharpness));
  return legal[random->weighted(weights)];
}

}  // namespace

// The first takes the most probable action everywhere.
std::vector<ActionVector> TreeSearch::decided_by_prior(std::size_t count) {
  Random random(common_.seed);
  const std::size_t groups = tree_.order().size();
  std::vector<Strategy> partial(count);
  for (Strategy& strategy : partial) strategy.groups.resize(groups);
  std::vector<ActionVector> decided(count, ActionVector(groups, 0));
  const Score unseen;
  for (std::size_t depth = 0; depth < groups; ++depth) {
    const GroupId group = tree_.order()[depth];
    const std::int32_t pinned = tree_.pinned().empty() ? -1 : tree_.pinned()[group.index()];
    std::vector<PriorQuery> queries;
    for (const Strategy& strategy : partial) queries.push_back({strategy, group, unseen});
    const auto rows = prior_.priors(problem_, tree_.actions(), queries);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t action =
          pinned >= 0 ? pinned : draw(rows[i], tree_.ranked()[depth], i == 0 ? nullptr : &random);
      decided[i][group.index()] = action;
      partial[i].groups[group] = tree_.actions()[static_cast<std::size_t>(action)];
    }
  }
  return decided;
}

// Once, in the second round of local improvement. Returns the number of evaluations.
std::size_t TreeSearch::decide_round(std::size_t want) {
  if (!options_.decide || prior_.is_uniform() || small_ || polish_iterations_ != options_.batch)
    return 0;
  std::vector<ActionVector> decided = decided_by_prior(want);
  std::ranges::sort(decided);
  decided.erase(std::ranges::unique(decided).begin(), decided.end());
  std::erase_if(decided, [&](const ActionVector& actions) { return tree_.is_excluded(actions); });
  const GroupFlags plain(left_out_.size(), options_.finish && !options_.finish_always);
  std::vector<Strategy> strategies;
  for (const ActionVector& actions : decided) strategies.push_back(completed(actions, plain));
  const std::vector<Score> scores = evaluate_all(strategies);
  polish_iterations_ += static_cast<std::int64_t>(scores.size());
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  if (best != scores.end() && best->better_than(*best_))
    take_way(decided[static_cast<std::size_t>(best - scores.begin())], plain, *best);
  return scores.size();
}

}  // namespace strato
