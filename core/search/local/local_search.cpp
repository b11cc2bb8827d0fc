#include "core/search/local/local_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/error.h"

namespace strato {
namespace {

[[noreturn]] void damaged() {
  throw InputError("", "search tree", "the state of its local search is damaged",
                   "run the search again");
}

// Numbers separated by spaces, each row ended by a semicolon.
std::vector<std::vector<std::int64_t>> parse_rows(std::string_view text) {
  std::vector<std::vector<std::int64_t>> rows(1);
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
    } else if (text.front() == ';') {
      rows.emplace_back();
      text.remove_prefix(1);
    } else {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) damaged();
      rows.back().push_back(value);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
  }
  return rows;
}

// Early places more often: geometric.
std::size_t early_place(Random& random, double mean, std::size_t count) {
  const double place = -mean * std::log(1 - random.uniform());
  return std::min(static_cast<std::size_t>(place), count - 1);
}

}  // namespace

LocalSearch::LocalSearch(const Problem& problem, std::vector<Decision> actions,
                         std::vector<std::vector<std::int32_t>> ranked, std::uint64_t seed)
    : actions_(std::move(actions)),
      ranked_(std::move(ranked)),
      seed_(seed),
      free_actions_(actions_.size()) {
  const Grouping& grouping = *problem.grouping;
  const std::size_t n = grouping.size();
  neighbours_.resize(n);
  for (const Grouping::Edge& edge : grouping.edges()) {
    neighbours_[edge.from.index()].push_back(edge.to.value());
    neighbours_[edge.to.index()].push_back(edge.from.value());
  }
  along_.resize(n);
  place_.resize(n);
  std::iota(along_.begin(), along_.end(), 0);
  std::ranges::stable_sort(along_, {}, [&](std::int32_t g) {
    const auto& ops = grouping.group(GroupId(static_cast<std::size_t>(g))).ops;
    return ops.empty() ? OpId() : ops.front();
  });
  for (std::size_t i = 0; i < n; ++i)
    place_[static_cast<std::size_t>(along_[i])] = static_cast<std::int32_t>(i);
  double compute = 1, parameters = 1;
  for (const OpGroup& group : grouping.groups()) {
    compute += static_cast<double>(group.compute_time.value);
    parameters += static_cast<double>(group.parameter_bytes.value);
  }
  for (const OpGroup& group : grouping.groups()) {
    const auto time = static_cast<double>(group.compute_time.value);
    const auto bytes = static_cast<double>(group.parameter_bytes.value);
    weight_.push_back(1.0 / static_cast<double>(n) + time / compute + bytes / parameters);
    density_.push_back(bytes / (time + 1));
  }
}

void LocalSearch::pin(std::vector<std::int32_t> pinned, std::size_t free_actions) {
  pinned_ = std::move(pinned);
  free_actions_ = free_actions;
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) weight_[g] = 0;
}

void LocalSearch::restart_from(ActionVector strategy, const Score& score) {
  incumbent_ = std::move(strategy);
  score_ = score;
  away_.clear();
  neighbours_done_ = false;
  tried_.clear();
  together_.clear();
}

ActionVector LocalSearch::apply(const Move& move, ActionVector strategy) const {
  const auto group = static_cast<std::size_t>(move.group);
  const std::int32_t before = strategy[group];
  const auto alike = [&](std::size_t g) { return strategy[g] == before; };
  ActionVector result = strategy;
  result[group] = move.action;
  switch (move.kind) {
    case Around:
      for (std::int32_t g : neighbours_[group]) result[static_cast<std::size_t>(g)] = move.action;
      break;
    case Alike:
    case Heavy:
      for (std::size_t g = 0; g < result.size(); ++g)
        if (alike(g) && (move.kind == Alike || density_[g] >= density_[group]))
          result[g] = move.action;
      break;
    case Stretch:
      for (std::size_t at = static_cast<std::size_t>(place_[group]), left = 1 + result.size() / 8;
           at < along_.size() && left > 0; ++at, --left)
        result[static_cast<std::size_t>(along_[at])] = move.action;
      break;
    default:
      break;
  }
  for (std::size_t g = 0; g < pinned_.size(); ++g)
    if (pinned_[g] >= 0) result[g] = pinned_[g];
  return result;
}

// An action that shares the device set or the mode with the group's own.
std::int32_t LocalSearch::related_action(Random& random, std::int32_t group) const {
  const auto& legal = ranked_[static_cast<std::size_t>(group)];
  const Decision& own = actions_[static_cast<std::size_t>(base()[static_cast<std::size_t>(group)])];
  std::vector<std::int32_t> related;
  for (std::int32_t a : legal) {
    const Decision& other = actions_[static_cast<std::size_t>(a)];
    if (other.mode == own.mode || std::ranges::equal(other.devices, own.devices, {},
                                                     &DeviceShare::device, &DeviceShare::device))
      related.push_back(a);
  }
  return related.empty() ? legal.front() : related[random.below(related.size())];
}

// Returns the action that another group is decided as.
std::optional<std::int32_t> LocalSearch::used_action(Random& random, std::int32_t group) const {
  const std::int32_t own = base()[static_cast<std::size_t>(group)];
  std::vector<std::int32_t> used;
  for (const std::int32_t action : base())
    if (action != own && static_cast<std::size_t>(action) < free_actions_) used.push_back(action);
  if (used.empty()) return std::nullopt;
  return used[random.below(used.size())];
}

// It depends on the problem and on how far the search is which source finds better strategies: each
// by its share at the outset times its rate of success, which begins as two in a hundred.
LocalSearch::Source LocalSearch::random_source(Random& random) const {
  constexpr std::array<double, kSources> kShares = {0.2, 0.08, 0.2, 0.08, 0.44};
  std::vector<double> weights;
  for (std::size_t i = 0; i < kSources; ++i)
    weights.push_back(kShares[i] * static_cast<double>(2 + yields_[i].wins) /
                      static_cast<double>(100 + yields_[i].tries));
  if (preferred_.empty()) weights[Preferred] = 0;
  if (std::ranges::adjacent_find(base(), std::not_equal_to()) == base().end()) weights[Used] = 0;
  return static_cast<Source>(random.weighted(weights));
}

// The ranks of the first group serve better for all that are decided alike: they are those of the
// whole graph. What is dear to synchronise does well on other, often far fewer devices, as its own
// ranks say.
std::int32_t LocalSearch::random_action(Random& random, Source source, std::int32_t kind,
                                        std::int32_t group) const {
  const auto& legal = ranked_[kind == Alike ? 0 : static_cast<std::size_t>(group)];
  if (source == Preferred) return preferred_[early_place(random, 4, preferred_.size())];
  if (source == Related) return related_action(random, group);
  if (source == Any) return legal[random.below(legal.size())];
  if (source == Used)
    if (const auto used = used_action(random, group)) return *used;
  const double mean = std::max(2.0, static_cast<double>(legal.size()) / 32);
  return legal[early_place(random, mean, legal.size())];
}

LocalSearch::Move LocalSearch::random_move(Random& random, Source source) const {
  std::vector<double> kinds;
  for (std::int64_t successes : successes_) kinds.push_back(1.0 + static_cast<double>(successes));
  kinds[Single] += 2;
  Move move;
  move.kind = static_cast<std::int32_t>(random.weighted(kinds));
  move.group = static_cast<std::int32_t>(random.weighted(weight_));
  move.action = random_action(random, source, move.kind, move.group);
  return move;
}

bool LocalSearch::add(ActionVector strategy, std::vector<Move> moves, Source source) {
  if (strategy == base() || std::ranges::find(proposals_, strategy) != proposals_.end())
    return false;
  if (forbidden_ && forbidden_(strategy)) return false;
  proposals_.push_back(std::move(strategy));
  proposal_moves_.push_back(std::move(moves));
  proposal_sources_.push_back(source);
  return true;
}

void LocalSearch::add_together(std::size_t count) {
  if (together_.size() > 1) {
    ActionVector all = base();
    for (const Move& move : together_) all = apply(move, std::move(all));
    add(std::move(all), together_);
  }
  for (const Move& move : together_)
    if (proposals_.size() < count) add(apply(move, base()), {move});
  together_.clear();
}

void LocalSearch::add_neighbours(Random& random, std::size_t count) {
  for (std::size_t attempt = 0; attempt < 50 * count && proposals_.size() < count; ++attempt) {
    const Source source = random_source(random);
    const Move move = random_move(random, source);
    if (tried_.insert(move).second) add(apply(move, base()), {move}, source);
  }
}

// Two moves at once; each pair's strategy once.
void LocalSearch::add_pairs(Random& random, std::size_t count) {
  for (std::size_t attempt = 0; attempt < 50 * count && proposals_.size() < count; ++attempt) {
    const Move first = random_move(random, random_source(random));
    const Move second = random_move(random, random_source(random));
    ActionVector strategy = apply(second, apply(first, base()));
    const Digest hash = Hasher().numbers(std::span<const std::int32_t>(strategy)).finish();
    if (!tried_pairs_.insert(static_cast<std::int64_t>(hash.low)).second) continue;
    add(std::move(strategy), {first, second});
  }
}

// Starts at another good strategy, or, when there is none left, at the incumbent for its pairs.
bool LocalSearch::start_again() {
  away_.clear();
  tried_.clear();
  std::optional<Start> start = starts_ ? starts_(used_starts_) : std::nullopt;
  neighbours_done_ = !start;
  if (!start) return false;
  used_starts_.insert(start->number);
  away_ = std::move(start->strategy);
  away_score_ = start->score;
  return true;
}

std::vector<ActionVector> LocalSearch::propose(std::size_t count) {
  Random random(seed_ ^ (0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(++step_)));
  proposals_.clear();
  proposal_moves_.clear();
  proposal_sources_.clear();
  pairs_turn_ = !away_.empty() && step_ % 2 == 0;
  if (!pairs_turn_) add_together(count);
  const bool all_pinned = std::ranges::none_of(weight_, [](double weight) { return weight > 0; });
  if (all_pinned) return proposals_;
  if (!neighbours_done_ && !pairs_turn_) {
    add_neighbours(random, count);
    while (proposals_.empty() && start_again()) add_neighbours(random, count);
  }
  if (neighbours_done_ || pairs_turn_) add_pairs(random, count);
  return proposals_;
}

void LocalSearch::take(const ActionVector& strategy, const Score& score, std::size_t winner) {
  for (const Move& move : proposal_moves_[winner])
    ++successes_[static_cast<std::size_t>(move.kind)];
  tried_.clear();
  if (is_away() && !score.better_than(score_)) {
    away_ = strategy;
    away_score_ = score;
    return;
  }
  incumbent_ = strategy;
  score_ = score;
  away_.clear();
  neighbours_done_ = false;
}

bool LocalSearch::accept(std::span<const Score> scores) {
  CHECK(scores.size() == proposals_.size(), "one score a proposal");
  const Score before = to_beat();
  std::vector<std::size_t> better;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool won = scores[i].better_than(before);
    if (won) better.push_back(i);
    if (proposal_sources_[i] == kSources) continue;
    Yield& yield = yields_[proposal_sources_[i]];
    ++yield.tries;
    if (won) ++yield.wins;
  }
  if (better.empty()) return false;
  std::ranges::stable_sort(
      better, [&](std::size_t a, std::size_t b) { return scores[a].better_than(scores[b]); });
  for (std::size_t i = 1; i < better.size(); ++i)
    if (proposal_moves_[better[i]].size() == 1)
      together_.push_back(proposal_moves_[better[i]].front());
  take(proposals_[better.front()], scores[better.front()], better.front());
  return away_.empty();
}

std::string LocalSearch::state() const {
  std::string text = std::to_string(step_) + ";";
  const auto row = [&](const auto& values, auto&& write) {
    for (const auto& value : values) write(value);
    text += ";";
  };
  const auto number = [&](auto value) { text += " " + std::to_string(value); };
  const auto move = [&](const Move& m) { number(m.kind), number(m.group), number(m.action); };
  row(incumbent_, number);
  row(successes_, number);
  row(tried_, move);
  row(together_, move);
  row(tried_pairs_, number);
  row(away_, number);
  number(static_cast<int>(neighbours_done_));
  number(away_score_.step_time.value);
  row(used_starts_, number);
  row(yields_, [&](const Yield& yield) { number(yield.tries), number(yield.wins); });
  return text;
}

void LocalSearch::restore(std::string_view state) {
  const auto rows = parse_rows(state);
  const bool has_yields = rows.size() == 10;
  if ((rows.size() != 6 && rows.size() != 9 && !has_yields) || rows[0].size() != 1 ||
      rows[2].size() != kKinds)
    damaged();
  if (rows[1].size() != 0 && rows[1].size() != ranked_.size()) damaged();
  const auto below = [](std::int64_t value, std::size_t bound) {
    if (value < 0 || static_cast<std::size_t>(value) >= bound) damaged();
    return static_cast<std::int32_t>(value);
  };
  if (rows[0][0] < 0 || rows[0][0] > std::int64_t{1} << 60) damaged();
  step_ = rows[0][0];
  incumbent_.clear();
  for (std::int64_t action : rows[1]) incumbent_.push_back(below(action, actions_.size()));
  successes_ = rows[2];
  for (std::int64_t& count : successes_) count = std::clamp<std::int64_t>(count, 0, 1'000'000);
  const auto moves = [&](const std::vector<std::int64_t>& row) {
    if (row.size() % 3 != 0) damaged();
    std::vector<Move> result;
    for (std::size_t i = 0; i < row.size(); i += 3)
      result.push_back({below(row[i], kKinds), below(row[i + 1], ranked_.size()),
                        below(row[i + 2], actions_.size())});
    return result;
  };
  const std::vector<Move> tried = moves(rows[3]);
  tried_ = {tried.begin(), tried.end()};
  together_ = moves(rows[4]);
  if (rows.size() == 6) return;  // an older file
  if (rows[6].size() != 0 && rows[6].size() != ranked_.size()) damaged();
  if (rows[7].size() < 2) damaged();
  tried_pairs_ = {rows[5].begin(), rows[5].end()};
  away_.clear();
  for (std::int64_t action : rows[6]) away_.push_back(below(action, actions_.size()));
  neighbours_done_ = rows[7][0] != 0;
  away_score_ = {Nanos(rows[7][1]), true, Bytes(0), nullptr};  // only what fits is started from
  used_starts_ = {rows[7].begin() + 2, rows[7].end()};
  if (has_yields) restore_yields(rows[8]);
}

void LocalSearch::restore_yields(const std::vector<std::int64_t>& row) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (row.size() != 2 * kSources) damaged();
  for (std::size_t i = 0; i < kSources; ++i) {
    yields_[i] = {row[2 * i], row[2 * i + 1]};
    if (yields_[i].wins < 0 || yields_[i].tries < yields_[i].wins || yields_[i].tries > kMost)
      damaged();
  }
}

}  // namespace strato
