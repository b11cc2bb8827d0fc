// Strategies that keep to constraints, and what becomes of those that do not.
#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.h"
#include "core/search/constraints/constraint_rules.h"
#include "core/strategy/value/share_weights.h"

namespace strato {
namespace {

bool splits_across(const Decision& decision, const DeviceMask& forbidden) {
  return std::ranges::any_of(decision.devices,
                             [&](const DeviceShare& share) { return forbidden[share.device]; });
}

void mark(std::span<const DeviceShare> shares, DeviceMask& used) {
  for (const DeviceShare& share : shares) used[share.device] = 1;
}

void mark(const VariableSync& variable, DeviceMask& used) {
  for (const SyncPart& part : variable.parts) {
    if (part.server.valid()) used[part.server] = 1;
    for (const DeviceId station : part.stations) used[station] = 1;
  }
}

bool splits_batch_of(Mode mode) {
  return mode == Mode::ReplicateAllReduce || mode == Mode::ReplicatePs;
}

// The modes that come next best to a mode, in order.
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
  if (result.mode != decision.mode && !splits_batch_of(result.mode))
    for (DeviceShare& share : result.devices) share.weight = 1;
  return result;
}

}  // namespace

bool stays_within(const VariableSync& variable, const DeviceMask& allowed,
                  const std::array<bool, kModeCount>& modes) {
  for (const SyncPart& part : variable.parts) {
    const bool ps = part.synchroniser == Synchroniser::Ps;
    if (!modes[static_cast<std::size_t>(ps ? Mode::ReplicatePs : Mode::ReplicateAllReduce)])
      return false;
    if (part.server.valid() && !allowed[part.server]) return false;
    for (const DeviceId station : part.stations)
      if (!allowed[station]) return false;
  }
  return true;
}

class ConstraintRepair {
 public:
  ConstraintRepair(const BoundConstraints& constraints, Strategy strategy)
      : constraints_(constraints), before_(std::move(strategy)), after_(before_) {
    const Problem& problem = constraints.problem_;
    if (has_problems_groups()) {
      grouping_ = problem.grouping.get();
      rules_ = *constraints.rules_;
      return;
    }
    grouping_ = before_.grouping.get();
    if (const auto divided = constraints.divided(*grouping_)) take_groups(divided);
    rules_ = constraints.rules_for(*grouping_);
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
  bool has_problems_groups() const {
    return before_.grouping == nullptr ||
           before_.grouping->digest() == constraints_.problem_.grouping->digest();
  }

  void take_groups(const std::shared_ptr<const Grouping>& divided) {
    after_.grouping = divided;
    after_.groups.clear();
    for (const OpGroup& group : divided->groups())
      after_.groups.push_back(before_.groups[grouping_->group_of(group.ops.front())]);
    grouping_ = divided.get();
  }

  // Groups that belong together want what most of their compute time wants.
  Decision heaviest(const std::vector<GroupId>& groups) const {
    if (groups.size() == 1) return *after_.groups[groups.front()];
    std::vector<std::pair<Decision, Nanos>> times;
    for (const GroupId group : groups) {
      Decision decision = reduced(*after_.groups[group]);
      const auto known =
          std::ranges::find(times, decision, [](const auto& entry) { return entry.first; });
      const Nanos time = grouping_->group(group).compute_time;
      if (known == times.end()) {
        times.emplace_back(std::move(decision), time);
      } else {
        known->second += time;
      }
    }
    return std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; })
        ->first;
  }

  // Leaves the devices that are used most, where such a choice is found soon: every strategy that a
  // search asks about comes by here.
  void keep_limits() {
    constexpr std::size_t kPatience = 2'000'000;
    const std::vector<DeviceLimit> limits = constraints_.limits_of(rules_);
    if (limits.empty()) return;
    const auto found = find_limit_devices(limits, by_use(), rules_.rules, kPatience).devices;
    keep_to(found ? *found : constraints_.limit_devices_, limits, rules_.rules);
    for (const ConstraintRule& rule : rules_.rules)
      CHECK(std::ranges::count(rule.allowed, 1) > 0, "limits that were found to be possible");
  }

  // Devices by how much time of the groups they have, most first; of those, faster ones.
  std::vector<DeviceId> by_use() const {
    const Cluster& cluster = *constraints_.problem_.cluster;
    IdVector<DeviceId, double> use(cluster.device_count(), 0.0);
    DeviceMask touched(cluster.device_count(), 0);
    for (std::size_t c = 0; c < wanted_.size(); ++c) {
      double time = 0, weights = 0;
      for (const GroupId group : rules_.classes[c])
        time += static_cast<double>(grouping_->group(group).compute_time.value);
      for (const DeviceShare& share : wanted_[c].devices) weights += share.weight;
      for (const DeviceShare& share : wanted_[c].devices)
        use[share.device] += time * share.weight / weights;
      mark(wanted_[c].devices, touched);
    }
    for (const OpSplit& split : before_.splits) mark(split.parts, touched);
    for (const VariableSync& variable : before_.variables) mark(variable, touched);
    std::vector<DeviceId> devices;
    for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
    const auto key = [&](DeviceId device) {
      const GpuType& gpu = cluster.gpu(device);
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
    const ConstraintRule& rule = rules_.of(grouping_->group_of(split.op));
    if (rule.pinned || rule.together) return false;
    return std::ranges::all_of(
        split.parts, [&](const DeviceShare& part) { return rule.allowed[part.device] != 0; });
  }

  // A reduction sequence is one of the devices that its group had.
  bool may_stay(const VariableSync& variable) const {
    const ConstraintRule& rule = rules_.of(grouping_->group_of(variable.update));
    if (!stays_within(variable, rule.allowed, rule.modes)) return false;
    const Grouping& before =
        has_problems_groups() ? *constraints_.problem_.grouping : *before_.grouping;
    const auto& was = before_.groups[before.group_of(variable.update)];
    const auto& now = after_.groups[grouping_->group_of(variable.update)];
    return was && now && reduced(*was) == reduced(*now);
  }

  const BoundConstraints& constraints_;
  const Strategy before_;
  Strategy after_;
  const Grouping* grouping_ = nullptr;
  BoundConstraints::Rules rules_;
  std::vector<Decision> wanted_;  // by class
};

bool BoundConstraints::keeps(const Item& item, const Strategy& strategy,
                             const Grouping& grouping) const {
  const std::size_t devices = problem_.cluster->device_count();
  const std::vector<GroupId> groups =
      &grouping == problem_.grouping.get() ? item.groups : groups_holding(item.ops, grouping);
  DeviceMask allowed(devices, 1), used(devices, 0);
  std::array<bool, kModeCount> modes{};
  modes.fill(true);
  if (item.kind == Item::Kind::Forbid) {
    for (std::size_t d = 0; d < devices; ++d) allowed[DeviceId(d)] = !item.forbidden[DeviceId(d)];
    for (std::size_t m = 0; m < kModeCount; ++m) modes[m] = !item.forbidden_modes[m];
  } else if (item.kind == Item::Kind::Pin) {
    std::ranges::fill(allowed, 0);
    mark(item.pinned.devices, allowed);
    modes.fill(false);
    modes[static_cast<std::size_t>(item.pinned.mode)] = true;
  }
  for (const GroupId group : groups) {
    const Decision& decision = *strategy.groups[group];
    if (item.kind == Item::Kind::Pin && reduced(decision) != item.pinned) return false;
    if (item.kind == Item::Kind::Together &&
        reduced(decision) != reduced(*strategy.groups[groups.front()]))
      return false;
    if (item.kind == Item::Kind::Forbid && (splits_across(decision, item.forbidden) ||
                                            !modes[static_cast<std::size_t>(decision.mode)]))
      return false;
    mark(decision.devices, used);
  }
  for (const OpSplit& split : strategy.splits) {
    if (!item.has(split.op)) continue;
    if (item.kind == Item::Kind::Pin || item.kind == Item::Kind::Together) return false;
    for (const DeviceShare& part : split.parts)
      if (!allowed[part.device]) return false;
    mark(split.parts, used);
  }
  for (const VariableSync& variable : strategy.variables) {
    if (!item.has(variable.update)) continue;
    if (!stays_within(variable, allowed, modes)) return false;
    mark(variable, used);
  }
  return item.kind != Item::Kind::Limit ||
         static_cast<std::size_t>(std::ranges::count(used, 1)) <= item.most;
}

std::vector<std::size_t> BoundConstraints::violated(const Strategy& given) const {
  const Strategy strategy = complete(given, *problem_.cluster);
  const bool own =
      strategy.grouping != nullptr && strategy.grouping->digest() != problem_.grouping->digest();
  const Grouping& grouping = own ? *strategy.grouping : *problem_.grouping;
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (!keeps(items_[i], strategy, grouping)) items.push_back(i);
  return items;
}

Strategy BoundConstraints::repaired(const Strategy& strategy) const {
  Strategy whole = complete(strategy, *problem_.cluster);
  if (violated(whole).empty()) return whole;
  return ConstraintRepair(*this, std::move(whole)).run();
}

}  // namespace strato
