#include "plugins/planners/learned/autodist/plan/choice.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato::autodist {

std::optional<double> ranking_accuracy(std::span<const Judged> trials) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < trials.size(); ++i)
    for (std::size_t j = i + 1; j < trials.size(); ++j) {
      if (trials[i].cost == trials[j].cost) continue;
      ++pairs;
      if (trials[i].score == trials[j].score)
        right += 0.5;
      else
        right += (trials[i].score > trials[j].score) == (trials[i].cost < trials[j].cost);
    }
  if (pairs == 0) return std::nullopt;
  return right / pairs;
}

std::optional<double> fidelity_level(std::span<const Judged> recent, double accuracy,
                                     std::size_t fewest) {
  std::vector<Judged> sorted(recent.begin(), recent.end());
  std::ranges::stable_sort(sorted, {}, &Judged::score);
  for (std::size_t count = sorted.size(); count >= std::max<std::size_t>(fewest, 2); --count) {
    const std::optional<double> here = ranking_accuracy(std::span(sorted).first(count));
    if (here && *here >= accuracy) return sorted[count - 1].score;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> tokens_of(const SyncPlan& plan) {
  std::vector<std::uint64_t> tokens;
  std::int32_t last_group = -1;
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const NodeConfig& sync = plan[v];
    Hasher hasher;
    hasher.number(v).number(sync.sharded).number(sync.axis).number(sync.parts.size());
    for (const SyncPart& part : sync.parts) {
      hasher.number(part.synchroniser).number(part.encoding).number(part.server.value());
      hasher.number(part.stations.size()).number(part.merge_group >= 0);
    }
    const std::int32_t group = sync.parts.front().merge_group;
    hasher.number(group >= 0 && group == last_group);
    last_group = sync.parts.back().merge_group;
    tokens.push_back(hasher.finish().low);
  }
  return tokens;
}

std::uint64_t kind_of(const SyncPlan& plan) {
  Hasher hasher;
  for (const NodeConfig& sync : plan) {
    const SyncPart& part = sync.parts.front();
    hasher.number(sync.sharded).number(part.synchroniser).number(part.encoding);
  }
  return hasher.finish().low;
}

std::vector<std::size_t> choose_diverse(std::span<const double> scores,
                                        std::span<const std::vector<std::uint64_t>> tokens,
                                        std::size_t count, double diversity) {
  CHECK(scores.size() == tokens.size(), "one score a proposal");
  std::vector<std::size_t> chosen;
  if (scores.empty()) return chosen;
  const auto [low, high] = std::ranges::minmax(scores);
  const double range = high > low ? high - low : 1;
  std::unordered_set<std::uint64_t> covered;
  std::vector<char> taken(scores.size(), 0);
  while (chosen.size() < std::min(count, scores.size())) {
    std::size_t best = scores.size();
    double best_gain = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (taken[i] != 0) continue;
      const auto fresh = std::ranges::count_if(
          tokens[i], [&](std::uint64_t token) { return !covered.contains(token); });
      const double part = tokens[i].empty()
                              ? 0
                              : static_cast<double>(fresh) / static_cast<double>(tokens[i].size());
      const double gain = (scores[i] - low) / range + diversity * part;
      if (best == scores.size() || gain > best_gain) best = i, best_gain = gain;
    }
    taken[best] = 1;
    covered.insert(tokens[best].begin(), tokens[best].end());
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace strato::autodist
