// The nearest strategy that keeps to constraints.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"

namespace strato {
namespace {

Decision adapted(const Decision& decision, const ConstraintRule& rule) {
  Decision result{decision.mode, {}, decision.roles};
  for (const DeviceShare& share : decision.devices)
    if (rule.allowed[share.device]) result.devices.push_back(share);
  if (result.devices.empty()) {  // all of it moves, spread as it was
    std::vector<DeviceId> allowed;
    for (std::size_t d = 0; d < rule.allowed.size(); ++d)
      if (rule.allowed[DeviceId(d)]) allowed.emplace_back(d);
    for (const DeviceShare& share : decision.devices)
      result.devices.push_back({allowed[share.device.index() % allowed.size()], share.weight});
    std::ranges::stable_sort(result.devices, {}, &DeviceShare::device);
    const auto same = [](const DeviceShare& a, const DeviceShare& b) {
      return a.device == b.device;
    };
    result.devices.erase(std::unique(result.devices.begin(), result.devices.end(), same),
                         result.devices.end());
  }
  if (!rule.modes[static_cast<std::size_t>(decision.mode)])  // the first mode is the next best
    result.mode = static_cast<Mode>(std::ranges::find(rule.modes, true) - rule.modes.begin());
  if (result.mode != decision.mode && !splits_batch(result.mode))
    for (DeviceShare& share : result.devices) share.weight = 1;
  const auto forbids = [&](Role role) { return !rule.roles[static_cast<std::size_t>(role)]; };
  if (forbids(Role::Tensor)) result.roles.tensor = 1;
  if (forbids(Role::Expert)) result.roles.expert = 1;
  if (forbids(Role::Context)) result.roles.context = 1;
  if (forbids(Role::Sharding)) result.roles.states = {};
  drop_meaningless_roles(result);
  return result;
}

class ConstraintRepair {
 public:
  // Refers to all but the rules and the limits. `grouping`: the strategy's own, or one that divides
  // its groups; the rules are for it, the limits of them, and `fallback` keeps all limits.
  ConstraintRepair(const Strategy& strategy, const Problem& problem,
                   const std::shared_ptr<const Grouping>& grouping, ConstraintRules rules,
                   std::vector<DeviceLimit> limits, const LimitDevices& fallback)
      : before_(strategy),
        before_grouping_(strategy.grouping ? *strategy.grouping : *problem.grouping),
        cluster_(*problem.cluster),
        grouping_(*grouping),
        rules_(std::move(rules)),
        limits_(std::move(limits)),
        fallback_(fallback),
        after_(strategy) {
    if (grouping_.digest() == before_grouping_.digest()) return;
    after_.grouping = grouping;
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
    using DecisionTime = std::pair<Decision, Nanos>;
    std::vector<DecisionTime> times;
    for (const GroupId group : groups) {
      const Decision decision = reduced(*after_.groups[group]);
      auto known = std::ranges::find(times, decision, &DecisionTime::first);
      if (known == times.end()) known = times.insert(known, {decision, Nanos()});
      known->second += grouping_.group(group).compute_time;
    }
    return std::ranges::max_element(times, {}, &DecisionTime::second)->first;
  }

  // Keeps the devices that are used most, where such a choice is found soon: every strategy that a
  // search asks about comes by here.
  void keep_limits() {
    constexpr std::size_t kPatience = 2'000'000;
    if (limits_.empty()) return;
    const auto found = find_limit_devices(limits_, by_use(), rules_.rules, kPatience).devices;
    keep_to(found ? *found : fallback_, limits_, rules_.rules);
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
    const ConstraintRule& rule = rules_.rules[at(rules_.rule_of[number])];
    if (rule.is_free()) return;
    const Decision decision = rule.pinned ? *rule.pinned : adapted(wanted_[number], rule);
    for (const GroupId group : rules_.classes[number]) after_.groups[group] = decision;
  }

  bool may_stay(const OpSplit& split) const {
    const ConstraintRule& rule = rules_.of(grouping_.group_of(split.op));
    return !rule.pinned && !rule.together && stays_within(split.parts, rule.allowed);
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
  const Grouping& grouping_;  // of the result
  ConstraintRules rules_;
  const std::vector<DeviceLimit> limits_;
  const LimitDevices& fallback_;
  Strategy after_;
  std::vector<Decision> wanted_;  // by class
};

}  // namespace

// Those that decisions do not have. Pipelines last: they hang on all that is decided.
void BoundConstraints::take_roles(Strategy& strategy) const {
  const Problem own = problem_for(problem_, strategy);
  for (const Role role :
       {Role::Tensor, Role::Recompute, Role::Offload, Role::Sharding, Role::Pipeline})
    for (const BoundConstraint& item : items_)
      if (!item.roles[static_cast<std::size_t>(role)])
        take_role(role, strategy, *own.graph, *own.grouping, item.ops,
                  groups_holding(item.ops, *own.grouping));
}

Strategy BoundConstraints::repaired(const Strategy& strategy) const {
  Strategy whole = complete(strategy, *problem_.cluster);
  if (violated(whole).empty()) return whole;
  const bool own = has_own_groups(whole);
  const auto grouping = own ? divided(whole.grouping) : problem_.grouping;
  ConstraintRules rules = own ? rules_for(*grouping) : rules_;
  std::vector<DeviceLimit> limits = limits_of(rules);
  Strategy kept = ConstraintRepair(whole, problem_, grouping, std::move(rules), std::move(limits),
                                   limit_devices_)
                      .run();
  take_roles(kept);
  return kept;
}

}  // namespace strato
