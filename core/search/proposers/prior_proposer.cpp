#include "core/search/proposers/prior_proposer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"

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
std::vector<ActionVector> PriorProposer::roll_out(std::size_t count) {
  Random random(seed_);
  const std::size_t groups = table_.groups();
  std::vector<Strategy> partial(count);
  for (Strategy& strategy : partial) strategy.groups.resize(groups);
  std::vector<ActionVector> decided(count, ActionVector(groups, 0));
  const Score unseen;
  for (std::size_t depth = 0; depth < groups; ++depth) {
    const GroupId group = table_.order()[depth];
    const std::int32_t pinned = table_.pin_at(depth);
    std::vector<PriorQuery> queries;
    for (const Strategy& strategy : partial) queries.push_back({strategy, group, unseen});
    const auto rows = prior_.priors(problem_, table_.actions(), queries);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t action =
          pinned >= 0 ? pinned : draw(rows[i], table_.ranked()[depth], i == 0 ? nullptr : &random);
      decided[i][group.index()] = action;
      partial[i].groups[group] = table_.action(action);
    }
  }
  return decided;
}

Proposal PriorProposer::propose(const Turn& turn) {
  std::vector<ActionVector> decided = roll_out(turn.most);
  std::ranges::sort(decided);
  decided.erase(std::ranges::unique(decided).begin(), decided.end());
  std::erase_if(decided, [&](const ActionVector& actions) { return tree_.is_excluded(actions); });
  candidates_.clear();
  std::vector<Strategy> strategies;
  for (ActionVector& actions : decided) {
    candidates_.push_back({std::move(actions), finishing_.all(finishing_.is_chosen())});
    strategies.push_back(finishing_.of(candidates_.back()));
  }
  return Proposal::of(std::move(strategies));
}

void PriorProposer::accept(std::span<const Score> scores) {
  const std::size_t best = best_of(scores);
  if (scores[best].better_than(incumbent_.score()))
    incumbent_.take(candidates_[best], scores[best], Incumbent::Local);
}

}  // namespace strato
