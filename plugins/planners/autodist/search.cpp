#include "plugins/planners/autodist/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "plugins/planners/autodist/changes.h"

namespace strato::autodist {
namespace {

std::vector<Judged> judged_of(std::span<const Trial> trials) {
  std::vector<Judged> judged;
  for (const Trial& trial : trials)
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

void Search::keep(Trial trial) {
  trial.hit =
      trial.round >= 0 && best_builder_score_ && trial.score.better_than(*best_builder_score_);
  trials_.push_back(std::move(trial));
  const bool better = trials_.size() == 1 || trials_.back().score.better_than(trials_[best_].score);
  if (!better) return;
  best_ = trials_.size() - 1;
  if (found) found(trials_.back());
}

void Search::know(std::vector<SyncPlan> plans, std::span<const Score> scores) {
  CHECK(plans.size() == scores.size() && trials_.empty(), "known plans come first, with scores");
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!seen_.insert(strategy_of(task_, plans[i]).digest()).second) continue;
    Trial trial{std::move(plans[i]), scores[i], {}, {}, -1, false};
    if (ranker_) trial.features = featurizer_.of(trial.plan);
    keep(std::move(trial));
  }
}

void Search::try_builders(std::size_t most, SyncPlan likely) {
  std::vector<BuiltPlan> builds = all_builds(task_, seed_);
  const bool more = !likely.empty() && most > 1;
  builds.resize(std::min(builds.size(), std::max<std::size_t>(more ? most - 1 : most, 1)));
  if (more) builds.push_back({"", std::move(likely)});
  std::vector<Strategy> strategies;
  for (const BuiltPlan& built : builds) strategies.push_back(strategy_of(task_, built.plan));
  const std::vector<Score> scores = run_(strategies);
  for (std::size_t i = 0; i < builds.size(); ++i) {
    seen_.insert(strategies[i].digest());
    const bool built = !builds[i].name.empty();
    if (built && (!best_builder_score_ || scores[i].better_than(*best_builder_score_))) {
      best_builder_name_ = builds[i].name;
      best_builder_score_ = scores[i];
    }
    Trial trial{std::move(builds[i].plan), scores[i], {}, {}, -1, false};
    if (ranker_) trial.features = featurizer_.of(trial.plan);
    keep(std::move(trial));
  }
}

bool Search::play_round(std::size_t count) {
  const auto round = std::ssize(rounds_);
  Random random(seed_ * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(round));
  RoundFigures figures;
  if (ranker_ && round == 0 && options_.known) learn(random);
  std::vector<Proposal> proposals = propose(count, random);
  if (proposals.empty()) return false;
  if (ranker_) reject(proposals, count, figures);
  const std::size_t before = trials_.size();
  try_all(choose(std::move(proposals), count), round);
  const std::vector<Judged> judged = judged_of(std::span(trials_).subspan(before));
  figures.accuracy = ranking_accuracy(judged);
  rounds_.push_back(figures);
  if (!ranker_) return true;
  level_.reset();
  if (const std::optional<double> level = fidelity_level(judged, options_.accuracy))
    for (std::size_t t = before; t < trials_.size(); ++t)
      if (trials_[t].judged == level) level_ = t;
  learn(random);
  return true;
}

// A plan out of the best few is changed, or crossed with another one of them.
SyncPlan Search::changed(Random& random) const {
  constexpr std::size_t kGood = 6;
  std::vector<std::size_t> order(trials_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!options_.known) std::erase_if(order, [&](std::size_t t) { return trials_[t].round < 0; });
  const std::size_t good = std::min(kGood, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(good), {},
                            [&](std::size_t t) { return cost_of(trials_[t].score); });
  const auto any = [&] {  // the best one as often as all others
    return order[random.uniform() < 0.5 ? 0 : random.below(good)];
  };
  const SyncPlan& plan = trials_[any()].plan;
  if (random.uniform() < 0.15) {
    SyncPlan crossed = crossed_plan(task_, plan, trials_[order[random.below(good)]].plan, random);
    if (crossed != plan) return crossed;
  }
  return changed_plan(task_, plan, options_.sampler, random);
}

bool Search::add(std::vector<Proposal>& proposals, SyncPlan plan, bool changed) {
  if (!seen_.insert(strategy_of(task_, plan).digest()).second) return false;
  proposals.push_back({std::move(plan), {}, 0, changed});
  return true;
}

std::vector<Search::Proposal> Search::propose(std::size_t count, Random& random) {
  const std::size_t wanted =
      ranker_ ? std::max(count, static_cast<std::size_t>(options_.proposals)) : count;
  const bool may_change =
      std::ranges::any_of(trials_, [&](const Trial& t) { return options_.known || t.round >= 0; });
  std::vector<Proposal> proposals;
  // A smaller round finds the first of what a larger one finds: so a search can be followed again.
  constexpr int kPatience = 100;
  for (int misses = 0; misses < kPatience && proposals.size() < wanted; ++misses) {
    const bool change = may_change && random.uniform() < options_.changes;
    if (add(proposals, change ? changed(random) : sample_plan(task_, options_.sampler, random),
            change))
      misses = -1;
  }
  if (!ranker_) return proposals;
  std::vector<const PlanFeatures*> features;
  for (Proposal& proposal : proposals) {
    proposal.features = featurizer_.of(proposal.plan);
    features.push_back(&proposal.features);
  }
  const std::vector<double> scores = ranker_->scores(features);
  for (std::size_t i = 0; i < proposals.size(); ++i) proposals[i].score = scores[i];
  return proposals;
}

// Below the fidelity level the simulator is to be trusted: what it dislikes is not tried. But
// enough for a round stays.
void Search::reject(std::vector<Proposal>& proposals, std::size_t count,
                    RoundFigures& figures) const {
  std::ranges::stable_sort(proposals, std::greater(), &Proposal::score);
  if (!level_) return;
  const PlanFeatures* at_level = &trials_[*level_].features;
  const double level = ranker_->scores({&at_level, 1})[0];
  figures.level = true;
  const std::size_t before = proposals.size();
  while (proposals.size() > count && proposals.back().score < level) proposals.pop_back();
  figures.rejected = before - proposals.size();
}

std::vector<Search::Proposal> Search::choose(std::vector<Proposal> proposals,
                                             std::size_t count) const {
  if (!ranker_) return proposals;
  std::vector<double> scores;
  std::vector<std::vector<std::uint64_t>> tokens;
  for (const Proposal& proposal : proposals) {
    scores.push_back(proposal.score);
    tokens.push_back(tokens_of(proposal.plan));
  }
  std::vector<Proposal> chosen;
  for (const std::size_t i : choose_diverse(scores, tokens, count, options_.diversity))
    chosen.push_back(std::move(proposals[i]));
  return chosen;
}

void Search::try_all(std::vector<Proposal> proposals, std::int64_t round) {
  std::vector<Strategy> strategies;
  for (const Proposal& proposal : proposals)
    strategies.push_back(strategy_of(task_, proposal.plan));
  const std::vector<Score> scores = run_(strategies);
  CHECK(scores.size() == proposals.size(), "one score a trial");
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    Trial trial{std::move(proposals[i].plan),
                scores[i],
                std::move(proposals[i].features),
                {},
                round,
                false};
    if (ranker_) trial.judged = proposals[i].score;
    keep(std::move(trial));
  }
}

void Search::learn(Random& random) {
  std::vector<const PlanFeatures*> features;
  std::vector<double> costs;
  for (const Trial& trial : trials_) {
    if (trial.round < 0 && !options_.known) continue;
    features.push_back(&trial.features);
    costs.push_back(cost_of(trial.score));
  }
  ranker_->learn(features, costs, options_.steps, random);
}

}  // namespace strato::autodist
