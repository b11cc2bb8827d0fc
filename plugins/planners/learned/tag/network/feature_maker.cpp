#include "plugins/planners/learned/tag/network/feature_maker.h"

#include <numeric>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/search/evaluate/actions.h"
#include "core/sim/timeline/feedback.h"

namespace strato::tag {
namespace {

Table rough_seconds(const Problem& problem, const std::vector<Decision>& actions) {
  const ActionEstimate estimate(problem);
  const std::size_t n = problem.grouping->size();
  Table seconds(n + 1, actions.size());
  for (std::size_t a = 0; a < actions.size(); ++a) {
    for (std::size_t g = 0; g < n; ++g)
      seconds.at(g, a) = static_cast<float>(estimate.group_seconds(GroupId(g), actions[a]));
    seconds.at(n, a) = static_cast<float>(estimate.graph_seconds(actions[a]));
  }
  return seconds;
}

}  // namespace

FeatureMaker::FeatureMaker(const Problem& problem, std::vector<Decision> actions)
    : problem_(problem),
      actions_(std::move(actions)),
      seconds_(rough_seconds(problem_, actions_)),
      features_(problem_features(problem_, actions_)) {}

std::int32_t FeatureMaker::action_of(const Decision& decision) const {
  const auto found = std::ranges::find(actions_, decision);
  return found == actions_.end() ? -1 : static_cast<std::int32_t>(found - actions_.begin());
}

// The time that the next group (at the root: the whole graph) would roughly take under each action.
void FeatureMaker::fill_times(StateFeatures& state, std::int32_t first, bool at_root) const {
  const std::size_t count = actions_.size();
  const std::size_t row = at_root ? seconds_.rows - 1 : at(state.next);
  const float* seconds = &seconds_.values[row * count];
  const double least = std::max<double>(*std::min_element(seconds, seconds + count), 1e-12);
  const double followed = first >= 0 ? std::max<double>(seconds[first], 1e-12) : least;
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t a) { return seconds[a]; });
  for (std::size_t place = 0; place < count; ++place)
    state.slice.at(at(order[place]), 1) = static_cast<float>(place) / static_cast<float>(count);
  for (std::size_t a = 0; a < count; ++a) {
    const double own = std::max<double>(seconds[a], 1e-12);
    state.slice.at(a, 0) = in_range(std::log10(own / least), 0, 2);
    state.slice.at(a, 2) = in_range(std::log10(own / followed), -2, 2);
    state.slice.at(a, 3) = static_cast<std::int32_t>(a) == first ? 1 : 0;
  }
}

// Tells whether the next group's data would be where its neighbours' are.
void FeatureMaker::fill_neighbourhood(StateFeatures& state,
                                      const std::vector<Placement>& placements) const {
  const std::size_t m = problem_.cluster->groups().size();
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    float alike = 0, stays = 0;
    for (const Neighbour& neighbour : features_->neighbours[at(state.next)]) {
      const Placement& there = placements[at(neighbour.group)];
      if (there.action == static_cast<std::int32_t>(a)) alike += neighbour.weight;
      float common = 0;
      for (std::size_t d = 0; d < m; ++d)
        common += std::min(there.share[d], features_->share.at(a, d));
      stays += neighbour.weight * common;
    }
    state.slice.at(a, 4) = in_range(alike, 0, 1);
    state.slice.at(a, 5) = in_range(stays, 0, 1);
  }
}

// Tells how full and how idle the devices of an action are.
void FeatureMaker::fill_pressure(StateFeatures& state) const {
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    float fullest = 0, idle = 0;
    for (std::size_t d = 0; d < features_->device_groups(); ++d) {
      if (features_->used.at(a, d) > 0) fullest = std::max(fullest, state.device.at(d, 0));
      idle += features_->share.at(a, d) * state.device.at(d, 1);
    }
    state.slice.at(a, 6) = fullest;
    state.slice.at(a, 7) = in_range(idle, 0, 1);
  }
}

// Runtime feedback: part 3 of Table 1.
void FeatureMaker::fill_feedback(StateFeatures& state, const Score& score) const {
  if (score.feedback == nullptr) return;
  const Feedback& feedback = *score.feedback;
  const Cluster& cluster = *problem_.cluster;
  const double step = std::max(static_cast<double>(score.step_time.value), 1.0);
  for (std::size_t g = 0; g < feedback.groups.size(); ++g) {
    const Feedback::Group& group = feedback.groups[GroupId(g)];
    state.op.at(g, 4) = in_range(static_cast<double>(group.makespan.value) / step, 0, 1);
    state.op.at(g, 5) =
        in_range(static_cast<double>(group.idle_before_transfer.value) / step, 0, 1);
  }
  for (std::size_t d = 0; d < feedback.device_groups.size(); ++d) {
    const Feedback::DeviceGroupUse& use = feedback.device_groups[DeviceGroupId(d)];
    const Bytes memory = cluster.gpu_types()[cluster.groups()[DeviceGroupId(d)].type].memory;
    state.device.at(d, 0) = in_range(use.peak / memory, 0, 2);
    state.device.at(d, 1) = in_range(use.idle, 0, 1);
    state.device.at(d, 2) = use.peak > memory ? 1 : 0;
  }
  for (std::size_t i = 0; i < state.idle.size(); ++i)
    state.idle[i] = in_range(feedback.link_idle[i], 0, 1);
}

StateFeatures FeatureMaker::state(const PriorQuery& query) const {
  const std::size_t n = features_->op_groups(), m = features_->device_groups();
  CHECK(query.partial.groups.size() == n, "a partial strategy of this problem");
  const Strategy whole = complete(query.partial, *problem_.cluster);
  StateFeatures state;
  state.next = query.next.value();
  state.op = Table(n, kColumns.op_state);
  state.device = Table(m, kColumns.device_state);
  state.placement = Table(n * m, kColumns.placement);
  state.slice = Table(actions_.size(), kColumns.slice);
  state.idle.assign(m * m, 0);
  std::vector<Placement> placements;
  bool at_root = true;
  for (std::size_t g = 0; g < n; ++g) {
    const Decision& decision = *whole.groups[GroupId(g)];
    const Placement& placement = placements.emplace_back(
        Placement{places_of(decision, *problem_.cluster), action_of(decision)});
    const bool decided = query.partial.groups[GroupId(g)].has_value();
    at_root = at_root && !decided;
    state.op.at(g, static_cast<std::size_t>(decision.mode)) = 1;
    state.op.at(g, 6) = decided ? 1 : 0;
    state.op.at(g, 7) = g == query.next.index() ? 1 : 0;
    state.op.at(g, 8) = log_count(static_cast<double>(decision.devices.size()));
    for (std::size_t d = 0; d < m; ++d) {
      state.placement.at(g * m + d, 0) = placement.used[d] > 0 ? 1 : 0;
      state.placement.at(g * m + d, 1) = in_range(placement.used[d], 0, 1);
      state.placement.at(g * m + d, 2) = in_range(placement.share[d], 0, 1);
    }
  }
  fill_feedback(state, query.score);
  const bool synchronises = problem_.grouping->group(query.next).parameter_bytes.value > 0;
  for (const Decision& action : actions_)
    state.legal.push_back(at_root || synchronises || action.mode != Mode::ReplicatePs ? 1 : 0);
  fill_times(state, at_root ? -1 : placements.front().action, at_root);
  fill_neighbourhood(state, placements);
  fill_pressure(state);
  return state;
}

}  // namespace strato::tag
