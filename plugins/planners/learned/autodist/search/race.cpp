#include "plugins/planners/learned/autodist/search/race.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato::autodist {

Race::Lane::Lane(const Problem& problem, const Strategy& choice, const Options& options,
                 const TrialSource& trials)
    : task(problem, choice, options.rows, options.search.sampler.sharded > 0),
      search(task, options.search, trials, options.seed) {}

Race::Race(const Problem& problem, const std::vector<Strategy>& choices,
           std::vector<Strategy> known, const Options& options, const TrialSource& trials)
    : options_(options), known_(std::move(known)) {
  CHECK(!choices.empty(), "somewhere replicas are");
  for (const Strategy& choice : choices)
    lanes_.push_back(std::make_unique<Lane>(problem, choice, options_, trials));
  for (const auto& lane : lanes_)
    lane->search.found = [this, at = lane.get()](const PlanTrial& trial) {
      if (best_ != nullptr && best_ != at && !trial.score.better_than(best().score)) return;
      best_ = at;
      if (found) found();
    };
}

bool Race::play(std::size_t most) {
  for (const auto& lane : lanes_)
    if (!lane->begun && begin(*lane, most)) return true;
  for (const auto& lane : lanes_)
    if (lane->cut && begin(*lane, most)) return true;
  while (Lane* lane = next_lane()) {
    ++lane->turns;
    if (record(*lane, [&] { return lane->search.play_round(std::min(most, options_.trials)); }))
      return true;
    lane->over = true;
  }
  return false;
}

// Builders on the first; on the others that which was best there. The most usual one comes first,
// then what is likely.
std::vector<BuiltPlan> Race::plans_for(const Lane& lane) const {
  const bool first = &lane == lanes_.front().get();
  const std::string& best = lanes_.front()->search.history().best_builder;
  std::vector<BuiltPlan> plans = all_builds(lane.task, options_.seed);
  if (!first) std::erase_if(plans, [&](const BuiltPlan& plan) { return plan.name != best; });
  std::vector<BuiltPlan> likely;
  if (options_.search.known)
    for (SyncPlan& plan : likely_plans(lane.task, options_.search.sampler))
      likely.push_back({"", std::move(plan)});
  for (const Strategy& strategy : known_)
    if (auto plan = plan_of(lane.task, strategy)) likely.push_back({"", *std::move(plan)});
  plans.insert(plans.begin() + (plans.empty() ? 0 : 1), likely.begin(), likely.end());
  if (!first)
    for (BuiltPlan& plan : plans) plan.name.clear();
  return plans;
}

bool Race::begin(Lane& lane, std::size_t most) {
  lane.begun = true;
  const SearchHistory& first = lanes_.front()->search.history();
  if (first.best_builder_score)
    lane.search.compare_with(first.best_builder, *first.best_builder_score);
  const std::vector<BuiltPlan> plans = plans_for(lane);
  const bool tried = record(lane, [&] { return lane.search.try_plans(plans, most); });
  if (tried) lane.began_with = lane.search.best().score;
  lane.cut = std::ranges::any_of(
      plans, [&](const BuiltPlan& plan) { return !lane.search.has_seen(plan.plan); });
  return tried;
}

// By the best that they have shown; turns weigh by the place.
Race::Lane* Race::next_lane() {
  std::vector<Lane*> order;
  for (const auto& lane : lanes_)
    if (!lane->over && lane->search.has_best()) order.push_back(lane.get());
  std::ranges::stable_sort(order, &Score::better_than, [](const Lane* lane) -> const Score& {
    return lane->search.best().score;
  });
  Lane* next = nullptr;
  std::int64_t least = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto weight = static_cast<std::int64_t>((place + 1) * (place + 1));
    const std::int64_t due = (order[place]->turns + 1) * weight;
    if (next == nullptr || due < least) next = order[place], least = due;
  }
  return next;
}

template <class Try>
bool Race::record(Lane& lane, const Try& try_some) {
  const std::size_t before = lane.search.trials().size();
  if (!try_some()) return false;
  batches_.push_back({&lane, before, lane.search.trials().size()});
  return true;
}

SearchHistory Race::history() const {
  SearchHistory all;
  const SearchHistory& first = lanes_.front()->search.history();
  all.best_builder = first.best_builder;
  all.best_builder_score = first.best_builder_score;
  for (const Batch& batch : batches_) {
    const SearchHistory& of = batch.lane->search.history();
    std::int64_t round = -1;
    if (of.trials[batch.first].round >= 0) {
      round = std::ssize(all.rounds);
      all.rounds.push_back(of.rounds[static_cast<std::size_t>(of.trials[batch.first].round)]);
    }
    for (std::size_t t = batch.first; t < batch.end; ++t) {
      const PlanTrial& trial = of.trials[t];
      all.trials.push_back({trial.plan, trial.score, {}, trial.judged, round, trial.hit});
    }
  }
  return all;
}

}  // namespace strato::autodist
