#include "plugins/planners/learned/autodist/search/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/error.h"

namespace strato::autodist {
namespace {

std::vector<Judged> judged_of(std::span<const PlanTrial> trials) {
  std::vector<Judged> judged;
  for (const PlanTrial& trial : trials)
    if (trial.judged) judged.push_back({*trial.judged, cost_of(trial.score)});
  return judged;
}

}  // namespace

double cost_of(const Score& score) {
  constexpr double kInfeasible = 1e9;
  if (score.feasible) return to_seconds(score.step_time);
  return kInfeasible + static_cast<double>(score.overflow.value);
}

Search::Search(const SyncTask& task, const SearchOptions& options, TrialSource trials,
               std::uint64_t seed)
    : task_(task), options_(options), run_(std::move(trials)), seed_(seed), featurizer_(task) {
  if (options_.learned) ranker_ = std::make_unique<Ranker>(options_.ranker, seed);
}

void Search::keep(PlanTrial trial) {
  trial.hit =
      trial.round >= 0 && best_builder_score() && trial.score.better_than(*best_builder_score());
  trial.kind = kind_of(trial.plan);
  if (!trial.builder.empty() &&
      (!best_builder_score() || trial.score.better_than(*best_builder_score())))
    compare_with(trial.builder, trial.score);
  history_.trials.push_back(std::move(trial));
  const bool better =
      trials().size() == 1 || trials().back().score.better_than(trials()[best_].score);
  if (!better) return;
  best_ = trials().size() - 1;
  if (found) found(trials().back());
}

bool Search::try_plans(std::vector<BuiltPlan> plans, std::size_t most) {
  std::vector<PlanTrial> fresh;
  for (BuiltPlan& plan : plans) {
    if (fresh.size() == most) break;
    if (!claim(plan.plan)) continue;
    PlanTrial& trial = fresh.emplace_back();
    if (ranker_) trial.features = featurizer_.of(plan.plan);
    trial.plan = std::move(plan.plan);
    trial.builder = std::move(plan.name);
  }
  if (fresh.empty()) return false;
  try_all(std::move(fresh), -1);
  return true;
}

bool Search::claim(const SyncPlan& plan) {
  return seen_.insert(strategy_of(task_, plan).digest()).second;
}

bool Search::has_seen(const SyncPlan& plan) const {
  return seen_.contains(strategy_of(task_, plan).digest());
}

void Search::compare_with(const std::string& builder, const Score& score) {
  history_.best_builder = builder;
  history_.best_builder_score = score;
}

bool Search::play_round(std::size_t count) {
  const auto round = std::ssize(rounds());
  Random random(seed_ * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(round));
  RoundFigures figures;
  if (ranker_ && round == 0 && options_.known) learn(random);
  std::vector<PlanTrial> proposals = propose(count, random);
  if (proposals.empty()) return false;
  if (ranker_) {
    judge(proposals);
    reject(proposals, count, figures);
    proposals = choose(std::move(proposals), count);
  }
  const std::size_t before = trials().size();
  try_all(std::move(proposals), round);
  const std::vector<Judged> judged = judged_of(std::span(trials()).subspan(before));
  figures.accuracy = ranking_accuracy(judged);
  history_.rounds.push_back(figures);
  if (!ranker_) return true;
  level_.reset();
  if (const std::optional<double> level = fidelity_level(judged, options_.accuracy))
    for (std::size_t t = before; t < trials().size(); ++t)
      if (trials()[t].judged == level) level_ = t;
  learn(random);
  return true;
}

// The best trial of each kind (ranker.h), the best kinds first.
std::vector<std::size_t> Search::good_ones(std::size_t most) const {
  std::vector<std::size_t> order(trials().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!options_.known) std::erase_if(order, [&](std::size_t t) { return trials()[t].round < 0; });
  std::ranges::stable_sort(order, {}, [&](std::size_t t) { return cost_of(trials()[t].score); });
  std::unordered_set<std::uint64_t> kinds;
  std::erase_if(order, [&](std::size_t t) {
    return kinds.size() == most || !kinds.insert(trials()[t].kind).second;
  });
  return order;
}

// A plan out of the best few is changed, or crossed with another one of them.
SyncPlan Search::changed(std::span<const std::size_t> good, Random& random) const {
  const auto any = [&] {  // the best one as often as all others
    return good[random.uniform() < 0.5 ? 0 : random.below(good.size())];
  };
  const SyncPlan& plan = trials()[any()].plan;
  if (random.uniform() < 0.15) {
    SyncPlan crossed =
        crossed_plan(task_, plan, trials()[good[random.below(good.size())]].plan, random);
    if (crossed != plan) return crossed;
  }
  return changed_plan(task_, plan, options_.sampler, random);
}

std::vector<PlanTrial> Search::propose(std::size_t count, Random& random) {
  const std::size_t wanted =
      ranker_ ? std::max(count, static_cast<std::size_t>(options_.proposals)) : count;
  constexpr std::size_t kGood = 6;
  const std::vector<std::size_t> good = good_ones(kGood);
  std::vector<PlanTrial> proposals;
  // A smaller round finds the first of what a larger one finds: so a search can be followed again.
  constexpr int kPatience = 100;
  for (int misses = 0; misses < kPatience && proposals.size() < wanted; ++misses) {
    const bool change = !good.empty() && random.uniform() < options_.changes;
    SyncPlan plan = change ? changed(good, random) : sample_plan(task_, options_.sampler, random);
    if (!claim(plan)) continue;
    proposals.emplace_back().plan = std::move(plan);
    misses = -1;
  }
  return proposals;
}

void Search::judge(std::vector<PlanTrial>& proposals) const {
  std::vector<const PlanFeatures*> features;
  for (PlanTrial& proposal : proposals) {
    proposal.features = featurizer_.of(proposal.plan);
    features.push_back(&proposal.features);
  }
  const std::vector<double> scores = ranker_->scores(features);
  for (std::size_t i = 0; i < proposals.size(); ++i) proposals[i].judged = scores[i];
}

// Below the fidelity level the simulator is to be trusted: what it dislikes is not tried. But
// enough for a round stays.
void Search::reject(std::vector<PlanTrial>& proposals, std::size_t count,
                    RoundFigures& figures) const {
  std::ranges::stable_sort(proposals, std::greater(), &PlanTrial::judged);
  if (!level_) return;
  const PlanFeatures* at_level = &trials()[*level_].features;
  const double level = ranker_->scores({&at_level, 1})[0];
  figures.level = true;
  const std::size_t before = proposals.size();
  while (proposals.size() > count && proposals.back().judged < level) proposals.pop_back();
  figures.rejected = before - proposals.size();
}

std::vector<PlanTrial> Search::choose(std::vector<PlanTrial> proposals, std::size_t count) const {
  std::vector<double> scores;
  std::vector<std::vector<std::uint64_t>> tokens;
  for (const PlanTrial& proposal : proposals) {
    scores.push_back(*proposal.judged);
    tokens.push_back(tokens_of(proposal.plan));
  }
  std::vector<PlanTrial> chosen;
  for (const std::size_t i : choose_diverse(scores, tokens, count, options_.diversity))
    chosen.push_back(std::move(proposals[i]));
  return chosen;
}

void Search::try_all(std::vector<PlanTrial> proposals, std::int64_t round) {
  std::vector<Strategy> strategies;
  for (const PlanTrial& proposal : proposals)
    strategies.push_back(strategy_of(task_, proposal.plan));
  const std::vector<Score> scores = run_(strategies);
  CHECK(scores.size() == proposals.size(), "one score a trial");
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    proposals[i].score = scores[i];
    proposals[i].round = round;
    keep(std::move(proposals[i]));
  }
}

void Search::learn(Random& random) {
  std::vector<const PlanFeatures*> features;
  std::vector<double> costs;
  for (const PlanTrial& trial : trials()) {
    if (trial.round < 0 && !options_.known) continue;
    features.push_back(&trial.features);
    costs.push_back(cost_of(trial.score));
  }
  ranker_->learn(features, costs, options_.steps, random);
}

}  // namespace strato::autodist
