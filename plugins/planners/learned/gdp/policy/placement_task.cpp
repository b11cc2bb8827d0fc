#include "plugins/planners/learned/gdp/policy/placement_task.h"

#include <algorithm>
#include <cmath>

#include "core/base/at.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"

namespace strato::gdp {
namespace {

std::vector<Decision> choices_for(const Problem& problem, bool replicate) {
  const Cluster& cluster = *problem.cluster;
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  if (!replicate || cluster.device_count() < 2) return choices;
  for (const Strategy& on_all : {data_parallel(problem), data_parallel(problem, Mode::ReplicatePs),
                                 data_parallel_proportional(problem)}) {
    const Decision& decision = *on_all.groups.front();
    if (std::ranges::find(choices, decision) == choices.end()) choices.push_back(decision);
  }
  return choices;
}

// By group: the first that it is like, so that exchanging the two leaves the cluster as it is.
std::vector<std::size_t> alike_groups(const Cluster& cluster) {
  std::vector<std::size_t> alike(cluster.groups().size());
  for (const std::vector<DeviceGroupId>& groups : symmetric_classes(cluster))
    for (const DeviceGroupId group : groups) alike[group.index()] = groups.front().index();
  return alike;
}

}  // namespace

PlacementTask::PlacementTask(const Problem& problem, Evaluator& evaluator,
                             const PlacementOptions& options)
    : problem_(problem),
      evaluator_(evaluator),
      options_(options),
      dag_(dag_of(problem)),
      units_(units_of(problem, dag_, options.colocate)),
      choices_(choices_for(problem, options.replicate)),
      alike_(alike_groups(*problem.cluster)),
      features_(features_of(problem, dag_, units_, choices_, options.neighbours)) {
  for (const OpId leader : units_.leader)
    group_of_.push_back(problem.grouping->group_of(leader).value());
  for (const Device& device : problem.cluster->devices())
    capacity_ += static_cast<double>(problem.cluster->gpu_types()[device.type].memory.value);
}

Strategy PlacementTask::strategy(const Placement& placement) const {
  std::vector<std::int32_t> choice_of;
  for (const std::int32_t unit : units_.of_op) choice_of.push_back(placement[at(unit)]);
  return strategy_by_ops(problem_, choice_of, choices_);
}

std::vector<Placement> PlacementTask::known_placements() const {
  const std::size_t units = at(units_.count);
  const std::size_t devices = problem_.cluster->device_count();
  std::vector<Placement> known;
  std::vector<char> seen(problem_.cluster->gpu_types().size(), 0);
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    if (c < devices) {  // one device of each GPU type
      char& type = seen[problem_.cluster->device(DeviceId(c)).type.index()];
      if (type++ > 0) continue;
    }
    known.emplace_back(units, static_cast<std::int32_t>(c));
  }
  const std::vector<DeviceId> expert = expert_devices(problem_);
  Placement by_hand;
  for (const OpId leader : units_.leader) by_hand.push_back(expert[leader.index()].value());
  known.push_back(std::move(by_hand));
  return known;
}

std::optional<Placement> PlacementTask::placement_of(const Strategy& strategy) const {
  const Grouping& grouping = strategy.grouping ? *strategy.grouping : *problem_.grouping;
  if (strategy.groups.size() != grouping.size()) return std::nullopt;
  Placement placement;
  for (const OpId leader : units_.leader) {
    const auto& decision = strategy.groups[grouping.group_of(leader)];
    const auto choice = decision ? std::ranges::find(choices_, *decision) : choices_.end();
    if (choice == choices_.end()) return std::nullopt;
    placement.push_back(static_cast<std::int32_t>(choice - choices_.begin()));
  }
  return placement;
}

Placement PlacementTask::canonical(const Placement& placement) const {
  if (!options_.interchangeable) return placement;
  const Cluster& cluster = *problem_.cluster;
  std::vector<std::int32_t> name(choices_.size(), -1);
  std::vector<std::int32_t> group_name(alike_.size(), -1);
  std::vector<std::size_t> used(alike_.size(), 0);  // devices of a group
  std::vector<char> taken(alike_.size(), 0);
  const auto rename = [&](DeviceId device) {
    const std::size_t group = cluster.device(device).group.index();
    std::int32_t& mine = group_name[group];
    for (std::size_t g = 0; mine < 0; ++g)
      if (alike_[g] == alike_[group] && taken[g]++ == 0) mine = static_cast<std::int32_t>(g);
    return cluster.groups()[DeviceGroupId(at(mine))].devices[used[group]++].value();
  };
  Placement result;
  result.reserve(placement.size());
  for (const std::int32_t choice : placement) {
    std::int32_t& mine = name[at(choice)];
    const bool device = at(choice) < cluster.device_count();
    if (mine < 0) mine = device ? rename(DeviceId(at(choice))) : choice;
    result.push_back(mine);
  }
  return result;
}

bool PlacementTask::claim(const Placement& placement) {
  Hasher hasher;
  for (const std::int32_t choice : canonical(placement)) hasher.number(choice);
  return claimed_.insert(hasher.finish()).second;
}

std::vector<Score> PlacementTask::evaluate(const std::vector<Placement>& placements) {
  std::vector<Strategy> strategies;
  for (const Placement& placement : placements) {
    strategies.push_back(strategy(placement));
    claim(placement);
  }
  std::vector<Score> scores = evaluator_.evaluate(strategies);
  evaluations_ += std::ssize(scores);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (best_score_ && !scores[i].better_than(*best_score_)) continue;
    best_ = placements[i];
    best_strategy_ = strategies[i];
    best_score_ = scores[i];
    if (found) found(best_strategy_, *best_score_);
  }
  if (!reference_) reference_ = std::max(1e-9, to_seconds(best_score_->step_time));
  return scores;
}

double PlacementTask::reward(const Score& score) const {
  const double time = -std::sqrt(to_seconds(score.step_time) / reference_.value_or(1));
  if (score.feasible) return time;
  if (options_.paper) return -10;
  return std::max(-10.0, time - 1 - 10 * static_cast<double>(score.overflow.value) / capacity_);
}

}  // namespace strato::gdp
