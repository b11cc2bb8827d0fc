#include "core/search/local/local_search.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {
namespace {

// Refuses what does not belong to `groups` groups with so many actions.
void check(const LocalSearchState& state, std::size_t groups, std::size_t actions) {
  constexpr std::int64_t kMostSteps = std::int64_t{1} << 60, kMostTries = std::int64_t{1} << 40;
  const auto below = [](std::int32_t value, std::size_t bound) {
    return value >= 0 && at(value) < bound;
  };
  const auto is_strategy = [&](const ActionVector& strategy) {
    return (strategy.empty() || strategy.size() == groups) &&
           std::ranges::all_of(strategy, [&](std::int32_t a) { return below(a, actions); });
  };
  const auto is_move = [&](const Move& move) {
    return below(move.kind, Neighbourhood::kKinds) && below(move.group, groups) &&
           below(move.action, actions);
  };
  const auto is_yield = [](const LocalSearchState::Yield& yield) {
    return yield.wins >= 0 && yield.tries >= yield.wins && yield.tries <= kMostTries;
  };
  if (state.steps >= 0 && state.steps <= kMostSteps &&
      state.successes.size() == Neighbourhood::kKinds && is_strategy(state.incumbent) &&
      is_strategy(state.away) && std::ranges::all_of(state.tried, is_move) &&
      std::ranges::all_of(state.together, is_move) &&
      (state.yields.empty() || state.yields.size() == Neighbourhood::kSources) &&
      std::ranges::all_of(state.yields, is_yield))
    return;
  throw InputError("", "search tree", "the state of its local search is damaged",
                   "run the search again");
}

}  // namespace

LocalSearch::LocalSearch(Neighbourhood neighbourhood, std::uint64_t seed)
    : neighbourhood_(std::move(neighbourhood)), seed_(seed) {
  state_.successes.resize(Neighbourhood::kKinds);
  state_.yields.resize(Neighbourhood::kSources);
}

void LocalSearch::restart_from(ActionVector strategy, const Score& score) {
  state_.incumbent = std::move(strategy);
  score_ = score;
  state_.away.clear();
  state_.neighbours_done = false;
  state_.tried.clear();
  state_.together.clear();
}

// Which of them finds better strategies depends on the problem and on how far the search is: each
// by its share at the outset times its rate of success, which begins as two in a hundred.
LocalSearch::Source LocalSearch::random_source(Random& random) const {
  constexpr std::array<double, Neighbourhood::kSources> kShares = {0.2, 0.08, 0.2, 0.08, 0.44};
  std::array<double, Neighbourhood::kSources> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (neighbourhood_.offers(static_cast<Source>(i), base()))
      weights[i] = kShares[i] * static_cast<double>(2 + state_.yields[i].wins) /
                   static_cast<double>(100 + state_.yields[i].tries);
  return static_cast<Source>(random.weighted(weights));
}

Move LocalSearch::random_move(Random& random, Source source) const {
  std::vector<double> kinds;
  for (std::int64_t successes : state_.successes)
    kinds.push_back(1.0 + static_cast<double>(successes));
  kinds[Neighbourhood::Single] += 2;
  return neighbourhood_.random_move(random, source, kinds, base());
}

void LocalSearch::add(ActionVector strategy, std::vector<Move> moves,
                      std::optional<Source> source) {
  if (strategy == base()) return;
  if (std::ranges::find(proposals_, strategy, &Proposal::strategy) != proposals_.end()) return;
  if (forbidden_ && forbidden_(strategy)) return;
  proposals_.push_back({std::move(strategy), std::move(moves), source});
}

void LocalSearch::add_together(std::size_t count) {
  if (state_.together.size() > 1) {
    ActionVector all = base();
    for (const Move& move : state_.together) all = neighbourhood_.apply(move, all);
    add(std::move(all), state_.together);
  }
  for (const Move& move : state_.together)
    if (proposals_.size() < count) add(neighbourhood_.apply(move, base()), {move});
  state_.together.clear();
}

void LocalSearch::add_neighbours(Random& random, std::size_t count) {
  for (std::size_t attempt = 0; attempt < 50 * count && proposals_.size() < count; ++attempt) {
    const Source source = random_source(random);
    const Move move = random_move(random, source);
    if (state_.tried.insert(move).second) add(neighbourhood_.apply(move, base()), {move}, source);
  }
}

// Two moves at once; each pair's strategy once.
void LocalSearch::add_pairs(Random& random, std::size_t count) {
  for (std::size_t attempt = 0; attempt < 50 * count && proposals_.size() < count; ++attempt) {
    const Move first = random_move(random, random_source(random));
    const Move second = random_move(random, random_source(random));
    ActionVector strategy = neighbourhood_.apply(second, neighbourhood_.apply(first, base()));
    const Digest hash = Hasher().numbers(std::span<const std::int32_t>(strategy)).finish();
    if (!state_.tried_pairs.insert(static_cast<std::int64_t>(hash.low)).second) continue;
    add(std::move(strategy), {first, second});
  }
}

// At another good strategy, or, when there is none left, at the incumbent for its pairs.
bool LocalSearch::start_again() {
  state_.away.clear();
  state_.tried.clear();
  std::optional<Start> start = starts_ ? starts_(state_.used_starts) : std::nullopt;
  state_.neighbours_done = !start;
  if (!start) return false;
  state_.used_starts.insert(start->number);
  go_away(std::move(start->strategy), start->score);
  return true;
}

// Only what fits is started from.
void LocalSearch::go_away(ActionVector strategy, const Score& score) {
  state_.away = std::move(strategy);
  state_.away_time_ns = score.step_time.value;
  away_score_ = score;
}

std::vector<ActionVector> LocalSearch::propose(std::size_t count) {
  Random random(seed_ ^ (0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(++state_.steps)));
  proposals_.clear();
  pairs_turn_ = !state_.away.empty() && state_.steps % 2 == 0;
  if (!pairs_turn_) add_together(count);
  if (!neighbourhood_.is_pinned_everywhere()) {
    if (!state_.neighbours_done && !pairs_turn_) {
      add_neighbours(random, count);
      while (proposals_.empty() && start_again()) add_neighbours(random, count);
    }
    if (state_.neighbours_done || pairs_turn_) add_pairs(random, count);
  }
  std::vector<ActionVector> strategies;
  for (const Proposal& proposal : proposals_) strategies.push_back(proposal.strategy);
  return strategies;
}

// Proposals that are better than what they had to beat, best first.
std::vector<std::size_t> LocalSearch::winners(std::span<const Score> scores) {
  const Score before = to_beat();
  std::vector<std::size_t> better;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool won = scores[i].better_than(before);
    if (won) better.push_back(i);
    if (!proposals_[i].source) continue;
    LocalSearchState::Yield& yield = state_.yields[*proposals_[i].source];
    ++yield.tries;
    if (won) ++yield.wins;
  }
  std::ranges::stable_sort(
      better, [&](std::size_t a, std::size_t b) { return scores[a].better_than(scores[b]); });
  return better;
}

bool LocalSearch::accept(std::span<const Score> scores) {
  CHECK(scores.size() == proposals_.size(), "one score a proposal");
  const std::vector<std::size_t> better = winners(scores);
  if (better.empty()) return false;
  for (const std::size_t other : std::span(better).subspan(1))
    if (proposals_[other].moves.size() == 1)
      state_.together.push_back(proposals_[other].moves.front());
  const Proposal& winner = proposals_[better.front()];
  const Score& score = scores[better.front()];
  for (const Move& move : winner.moves) ++state_.successes[at(move.kind)];
  state_.tried.clear();
  if (is_away() && !score.better_than(score_)) {
    go_away(winner.strategy, score);
    return false;
  }
  state_.incumbent = winner.strategy;
  score_ = score;
  state_.away.clear();
  state_.neighbours_done = false;
  return true;
}

void LocalSearch::restore(const LocalSearchState& state) {
  check(state, neighbourhood_.groups(), neighbourhood_.actions());
  state_ = state;
  state_.yields.resize(Neighbourhood::kSources);
  for (std::int64_t& count : state_.successes)
    count = std::clamp<std::int64_t>(count, 0, 1'000'000);
  go_away(state.away, {Nanos(state.away_time_ns), true, Bytes(0), nullptr});
}

}  // namespace strato
