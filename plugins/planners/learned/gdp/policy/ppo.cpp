#include "plugins/planners/learned/gdp/policy/ppo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/base/at.h"

namespace strato::gdp {
namespace {

double gumbel(Random& random) { return -std::log(-std::log(random.uniform() + 1e-18) + 1e-18); }

using Blocks = std::vector<std::int32_t>;  // block by unit

Blocks every_unit(std::size_t units) {
  Blocks block(units);
  std::iota(block.begin(), block.end(), 0);
  return block;
}

// Runs of a power of two of units.
Blocks runs(std::size_t units, Random& random) {
  const auto doublings = static_cast<std::uint64_t>(std::bit_width(units));
  const std::size_t length = std::size_t{1} << random.below(doublings);
  const std::size_t offset = random.below(length);
  Blocks block(units);
  for (std::size_t u = 0; u < units; ++u)
    block[u] = static_cast<std::int32_t>((u + offset) / length);
  return block;
}

Blocks blocks_for(const PlacementTask& task, std::size_t trial, Random& random) {
  const std::size_t units = at(task.units().count);
  if (trial % 3 == 0) return task.group_of();
  return trial % 3 == 1 ? runs(units, random) : every_unit(units);
}

// The best placement with one block drawn; without logarithms.
RollOut redraw(const Probabilities& policy, const PlacementTask& task, const Placement& base,
               std::size_t trial, double heat, Random& random) {
  const Blocks block = trial % 2 == 0 ? task.group_of() : runs(at(policy.units), random);
  const Placement fresh = draw(policy, block, random, heat);
  const std::int32_t chosen = block[random.below(block.size())];
  RollOut change{base, {}, std::vector<float>(block.size(), 0.0F)};
  for (std::size_t u = 0; u < block.size(); ++u) {
    if (block[u] != chosen) continue;
    change.choice_of[u] = fresh[u];
    change.drawn[u] = 1;
  }
  return change;
}

// `make(heat)` until it is a placement that was not tried before, ever hotter: a policy that is
// sure of itself would spend its evaluations on what it knows. Small spaces come to an end: then
// the last.
template <class Make>
RollOut untried(PlacementTask& task, Make make) {
  constexpr int kTries = 12;
  double heat = 1;
  RollOut made = make(heat);
  for (int i = 1; i < kTries && !task.claim(made.choice_of); ++i) made = make(heat *= 2);
  return made;
}

// The placements that a round tries: drawn whole, and changes of the best one.
struct Attempts {
  std::vector<RollOut> whole, changes;
};

Attempts attempts_of_paper(const Probabilities& policy, std::size_t count, Random& random) {
  Attempts attempts;
  const Blocks every = every_unit(at(policy.units));
  while (attempts.whole.size() < count) attempts.whole.push_back({draw(policy, every, random)});
  return attempts;
}

// One after the other, so that those of a shorter round are the first of a longer one.
Attempts attempts_for(const Probabilities& policy, PlacementTask& task, const Placement& base,
                      double part_of_changes, std::size_t count, Random& random) {
  Attempts attempts;
  Placement first = task.promising.empty() ? greedy(policy) : std::exchange(task.promising, {});
  if (task.claim(first)) attempts.whole.push_back({std::move(first)});
  for (std::size_t i = attempts.whole.size(); i < count; ++i) {
    const std::size_t changes = attempts.changes.size(), whole = attempts.whole.size();
    const double due = part_of_changes * static_cast<double>(i + 1);
    if (whole > 0 && static_cast<double>(changes + 1) <= due)
      attempts.changes.push_back(untried(
          task, [&](double heat) { return redraw(policy, task, base, changes, heat, random); }));
    else
      attempts.whole.push_back(untried(task, [&](double heat) {
        return RollOut{draw(policy, blocks_for(task, whole, random), random, heat)};
      }));
  }
  return attempts;
}

// Advantages as multiples of their spread, so that one rate of learning fits every graph.
void standardise(std::span<RollOut> trials, double around) {
  constexpr double kMost = 3, kSmall = 1e-5;
  double square = 0;
  for (RollOut& trial : trials) {
    trial.advantage -= around;
    square += trial.advantage * trial.advantage / static_cast<double>(trials.size());
  }
  for (RollOut& trial : trials)
    trial.advantage = std::clamp(trial.advantage / (std::sqrt(square) + kSmall), -kMost, kMost);
}

double mean_advantage(std::span<const RollOut> trials) {
  double sum = 0;
  for (const RollOut& trial : trials) sum += trial.advantage;
  return trials.empty() ? 0 : sum / static_cast<double>(trials.size());
}

// Changes of other blocks that are better than what they changed, all in one.
Placement together(const Placement& base, std::span<const RollOut> changes,
                   std::span<const Score> scores, const Score& before) {
  std::vector<std::size_t> better;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (scores[i].better_than(before)) better.push_back(i);
  if (better.size() < 2) return {};
  std::ranges::stable_sort(
      better, [&](std::size_t a, std::size_t b) { return scores[a].better_than(scores[b]); });
  Placement all = base;
  std::vector<float> taken(base.size(), 0);
  for (const std::size_t i : better) {
    const std::vector<float>& drawn = changes[i].drawn;
    if (std::inner_product(taken.begin(), taken.end(), drawn.begin(), 0.0F) > 0) continue;
    for (std::size_t u = 0; u < taken.size(); ++u) {
      if (drawn[u] == 0) continue;
      all[u] = changes[i].choice_of[u];
      taken[u] = 1;
    }
  }
  return all;
}

}  // namespace

PpoOptions PpoOptions::of_paper() {
  return {.rollouts = 400, .minibatches = 40, .epochs = 5, .paper = true};
}

Placement draw(const Probabilities& policy, std::span<const std::int32_t> block, Random& random,
               double heat) {
  const std::size_t choices = at(policy.choices);
  std::unordered_map<std::int32_t, std::vector<double>> noise;
  Placement placement;
  placement.reserve(block.size());
  for (std::int32_t u = 0; u < policy.units; ++u) {
    std::vector<double>& mine = noise[block[at(u)]];
    while (mine.size() < choices) mine.push_back(heat * gumbel(random));
    const std::span<const float> row = policy.row(u);
    std::size_t best = 0;
    for (std::size_t c = 1; c < choices; ++c)
      if (row[c] + mine[c] > row[best] + mine[best]) best = c;
    placement.push_back(static_cast<std::int32_t>(best));
  }
  return placement;
}

Placement greedy(const Probabilities& policy) {
  return greedy(policy, every_unit(at(policy.units)));
}

Placement greedy(const Probabilities& policy, std::span<const std::int32_t> block) {
  std::unordered_map<std::int32_t, std::vector<double>> sums;
  for (std::int32_t u = 0; u < policy.units; ++u) {
    std::vector<double>& sum = sums[block[at(u)]];
    sum.resize(at(policy.choices), 0);
    const std::span<const float> row = policy.row(u);
    for (std::size_t c = 0; c < row.size(); ++c) sum[c] += static_cast<double>(row[c]);
  }
  Placement placement;
  for (const std::int32_t mine : block) {
    const std::vector<double>& sum = sums[mine];
    placement.push_back(static_cast<std::int32_t>(std::ranges::max_element(sum) - sum.begin()));
  }
  return placement;
}

std::vector<Placement> answers(const Probabilities& policy, const PlacementTask& task) {
  const Blocks all(at(policy.units), 0);
  return {greedy(policy), greedy(policy, task.group_of()), greedy(policy, all)};
}

Round try_round(const Network& network, PlacementTask& task, const PpoOptions& options,
                std::int64_t round, std::uint64_t seed, std::int64_t most) {
  Random random(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(round));
  const Probabilities policy = network.probabilities(task.features());
  const auto count = static_cast<std::size_t>(
      std::clamp<std::int64_t>(options.rollouts, 1, std::max<std::int64_t>(most, 1)));
  const Placement base = task.canonical(task.best());
  const Score before = *task.best_score();
  auto [tried, changes] = options.paper
                              ? attempts_of_paper(policy, count, random)
                              : attempts_for(policy, task, base, options.changes, count, random);
  const std::size_t whole = tried.size();
  std::ranges::move(changes, std::back_inserter(tried));
  std::vector<Placement> placements;
  for (RollOut& trial : tried) {
    placements.push_back(trial.choice_of);
    for (std::int32_t u = 0; u < policy.units; ++u)
      trial.logarithm.push_back(policy.row(u)[at(trial.choice_of[at(u)])]);
  }
  const std::vector<Score> scores = task.evaluate(placements);
  Round result{std::move(tried), {0, policy.entropy, static_cast<int>(scores.size())}, random};
  const double usual = task.mean_reward();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double reward = task.reward(scores[i]);
    result.tried[i].advantage = options.paper ? reward - usual : reward;
    if (i >= whole) continue;
    result.report.mean_reward += reward / static_cast<double>(whole);
    task.count_reward(reward);
  }
  if (options.paper) return result;
  const std::span changed = std::span(result.tried).subspan(whole);
  task.promising = together(base, changed, std::span(scores).subspan(whole), before);
  standardise(changed, task.reward(before));
  const std::span drawn = std::span(result.tried).first(whole);
  standardise(drawn, mean_advantage(drawn));
  return result;
}

void learn(Network& network, const PlacementTask& task, Round round, const PpoOptions& options) {
  const Placement answer = options.paper ? Placement() : task.canonical(task.best());
  const auto batches =
      std::min<std::size_t>(static_cast<std::size_t>(options.minibatches), round.tried.size());
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    round.random.shuffle(std::span(round.tried));
    for (std::size_t b = 0; b < batches; ++b) {
      const std::size_t begin = round.tried.size() * b / batches;
      const std::size_t end = round.tried.size() * (b + 1) / batches;
      network.improve(task.features(), std::span(round.tried).subspan(begin, end - begin),
                      options.learn, answer);
    }
  }
}

}  // namespace strato::gdp
