#include "core/search/constraints/constraint_repair.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

// The modes that are next best to each.
constexpr std::array<std::array<Mode, kModeCount>, kModeCount> kNextModes = {{
    {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel},
    {Mode::ReplicatePs, Mode::ReplicateAllReduce, Mode::Duplicate, Mode::ModelParallel},
    {Mode::Duplicate, Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::ModelParallel},
    {Mode::ModelParallel, Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate},
}};

Decision adapted(const Decision& decision, const ConstraintRule& rule) {
  Decision result{decision.mode, {}};
  for (const DeviceShare& share : decision.devices)
    if (rule.allowed[share.device]) result.devices.push_back(share);
  if (result.devices.empty()) {  // all of it moves, spread as it was
    std::vector<DeviceId> allowed;
    for (std::size_t d = 0; d < rule.allowed.size(); ++d)
      if (rule.allowed[DeviceId(d)]) allowed.emplace_back(d);
    for (const DeviceShare& share : decision.devices)
      result.devices.push_back({allowed[share.device.index() % allowed.size()], share.weight});
    std::ranges::stable_sort(result.devices, {}, &DeviceShare::device);
    const auto same = std::ranges::unique(result.devices, {}, &DeviceShare::device);
    result.devices.erase(same.begin(), same.end());
  }
  for (const Mode mode : kNextModes[static_cast<std::size_t>(decision.mode)]) {
    result.mode = mode;
    if (rule.modes[static_cast<std::size_t>(mode)]) break;
  }
  if (result.mode != decision.mode && !splits_batch(result.mode))
    for (DeviceShare& share : result.devices) share.weight = 1;
  return result;
}

class ConstraintRepair {
 public:
  ConstraintRepair(const Strategy& strategy, const Problem& problem, RepairDemands demands)
      : before_(strategy),
        before_grouping_(strategy.grouping ? *strategy.grouping : *problem.grouping),
        cluster_(*problem.cluster),
        demands_(std::move(demands)),
        grouping_(*demands_.grouping),
        rules_(demands_.rules),
        after_(strategy) {
    if (grouping_.digest() == before_grouping_.digest()) return;
    after_.grouping = demands_.grouping;
    after_.groups.clear();
    for (const OpGroup& group : grouping_.groups())
      after_.groups.push_back(before_.groups[before_grouping_.group_of(group.ops.front())]);
  }

  Strategy run() {
    for (const auto& groups : rules_.classes) wanted_.push_back(heaviest(groups));
    keep_limits();
    for (std::size_t c = 0; c < rules_.classes.size(); ++c) decide(c);
    std::erase_if(after_.splits, [&](const OpSplit& split) { return !may_stay(split); });
    std::erase_if(after_.variables,
                  [&](const VariableSync& variable) { return !may_stay(variable); });
    return std::move(after_);
  }

 private:
  // Groups that belong together want what most of their compute time wants.
  Decision heaviest(const std::vector<GroupId>& groups) const {
    if (groups.size() == 1) return *after_.groups[groups.front()];
    std::vector<std::pair<Decision, Nanos>> times;
    for (const GroupId group : groups) {
      Decision decision = reduced(*after_.groups[group]);
      const auto known =
          std::ranges::find(times, decision, [](const auto& entry) { return entry.first; });
      const Nanos time = grouping_.group(group).compute_time;
      if (known == times.end()) {
        times.emplace_back(std::move(decision), time);
      } else {
        known->second += time;
      }
    }
    return std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; })
        ->first;
  }

  // Keeps the devices that are used most, where such a choice is found soon: every strategy that a
  // search asks about comes by here.
  void keep_limits() {
    constexpr std::size_t kPatience = 2'000'000;
    const std::vector<DeviceLimit>& limits = demands_.limits;
    if (limits.empty()) return;
    const auto found = find_limit_devices(limits, by_use(), rules_.rules, kPatience).devices;
    keep_to(found ? *found : demands_.fallback, limits, rules_.rules);
    for (const ConstraintRule& rule : rules_.rules)
      CHECK(std::ranges::count(rule.allowed, 1) > 0, "limits that were found to be possible");
  }

  // Devices by how much time of the groups they have, most first; of those, faster ones.
  std::vector<DeviceId> by_use() const {
    IdVector<DeviceId, double> use(cluster_.device_count(), 0.0);
    DeviceMask touched(cluster_.device_count(), 0);
    for (std::size_t c = 0; c < wanted_.size(); ++c) {
      double time = 0, weights = 0;
      for (const GroupId group : rules_.classes[c])
        time += static_cast<double>(grouping_.group(group).compute_time.value);
      for (const DeviceShare& share : wanted_[c].devices) weights += share.weight;
      for (const DeviceShare& share : wanted_[c].devices)
        use[share.device] += time * share.weight / weights;
      mark_devices(wanted_[c].devices, touched);
    }
    for (const OpSplit& split : before_.splits) mark_devices(split.parts, touched);
    for (const VariableSync& variable : before_.variables) mark_devices(variable, touched);
    std::vector<DeviceId> devices;
    for (std::size_t d = 0; d < cluster_.device_count(); ++d) devices.emplace_back(d);
    const auto key = [&](DeviceId device) {
      const GpuType& gpu = cluster_.gpu(device);
      const double speed = *std::ranges::max_element(gpu.peak_flops);
      return std::tuple(static_cast<int>(touched[device]), use[device], speed);
    };
    std::ranges::stable_sort(devices, [&](DeviceId a, DeviceId b) { return key(a) > key(b); });
    return devices;
  }

  void decide(std::size_t number) {
    const ConstraintRule& rule = rules_.rules[static_cast<std::size_t>(rules_.rule_of[number])];
    if (rule.is_free()) return;
    const Decision decision = rule.pinned ? *rule.pinned : adapted(wanted_[number], rule);
    for (const GroupId group : rules_.classes[number]) after_.groups[group] = decision;
  }

  bool may_stay(const OpSplit& split) const {
    const ConstraintRule& rule = rules_.of(grouping_.group_of(split.op));
    if (rule.pinned || rule.together) return false;
    return std::ranges::all_of(
        split.parts, [&](const DeviceShare& part) { return rule.allowed[part.device] != 0; });
  }

  // A reduction sequence is one of the devices that its group had.
  bool may_stay(const VariableSync& variable) const {
    const ConstraintRule& rule = rules_.of(grouping_.group_of(variable.update));
    if (!stays_within(variable, rule.allowed, rule.modes)) return false;
    const auto& was = before_.groups[before_grouping_.group_of(variable.update)];
    const auto& now = after_.groups[grouping_.group_of(variable.update)];
    return was && now && reduced(*was) == reduced(*now);
  }

  const Strategy& before_;
  const Grouping& before_grouping_;
  const Cluster& cluster_;
  RepairDemands demands_;
  const Grouping& grouping_;  // of the result
  ConstraintRules& rules_;
  Strategy after_;
  std::vector<Decision> wanted_;  // by class
};

}  // namespace

Strategy repair(const Strategy& strategy, const Problem& problem, RepairDemands demands) {
  return ConstraintRepair(strategy, problem, std::move(demands)).run();
}

}  // namespace strato
