#include "core/search/constraints/bound_constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/search/constraints/constraint_binder.h"
#include "core/search/constraints/constraint_repair.h"

namespace strato {
namespace {

[[noreturn]] void contradiction(const std::vector<std::string>& lines) {
  throw InputError(
      "", "constraints",
      fmt::format("{}: {}",
                  lines.size() == 1 ? "no strategy keeps to one of them" : "contradict each other",
                  fmt::join(lines, "; ")),
      "take one of them back");
}

// Groups that `together` connects, directly or through others.
class Classes {
 public:
  explicit Classes(std::size_t groups) : parent_(groups) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t group) {
    while (parent_[group] != group) group = parent_[group] = parent_[parent_[group]];
    return group;
  }
  void unite(GroupId a, GroupId b) {
    const std::size_t x = root(a.index()), y = root(b.index());
    parent_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

BoundConstraints::BoundConstraints(const Constraints& constraints, const Problem& problem)
    : problem_(problem), op_times_(mean_op_times(*problem.graph, *problem.cluster, *problem.cost)) {
  ConstraintBinder binder(problem_);
  const std::vector<std::string> lines = describe(constraints);
  const auto add = [&](BoundConstraint::Kind kind, const auto& of) -> BoundConstraint& {
    BoundConstraint& item = items_.emplace_back();
    item.kind = kind;
    item.line = lines[items_.size() - 1];
    item.ops = binder.ops_of(of, item.line);
    item.groups = groups_holding(item.ops, *problem_.grouping);
    item.forbidden.assign(problem_.cluster->device_count(), 0);
    return item;
  };
  for (const Constraints::Pin& pin : constraints.pins) {
    BoundConstraint& item = add(BoundConstraint::Kind::Pin, pin.of);
    item.pinned = binder.decision_of(pin, item.line);
  }
  for (const Constraints::Forbid& forbid : constraints.forbidden) {
    BoundConstraint& item = add(BoundConstraint::Kind::Forbid, forbid.of);
    for (const std::string& name : forbid.devices)
      for (const DeviceId device : binder.devices_of(name, item.line)) item.forbidden[device] = 1;
    for (const Mode mode : forbid.modes)
      item.forbidden_modes[static_cast<std::size_t>(mode)] = true;
  }
  for (const Constraints::Together& together : constraints.together)
    add(BoundConstraint::Kind::Together, together.of);
  for (const Constraints::Limit& limit : constraints.limits)
    add(BoundConstraint::Kind::Limit, limit.of).most =
        static_cast<std::size_t>(std::max<std::int64_t>(limit.devices, 1));
  find_kinds();
  rules_ = rules_for(*problem_.grouping);
  find_limits();
  for (std::size_t g = 0; g < problem_.grouping->size(); ++g)
    pins_.push_back(rules_.of(GroupId(g)).pinned);
  if (std::ranges::none_of(pins_, [](const auto& pin) { return pin.has_value(); })) pins_.clear();
}

void BoundConstraints::find_kinds() {
  IdVector<OpId, std::vector<std::int32_t>> of_op(problem_.graph->op_count());
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (const OpId op : items_[i].ops) of_op[op].push_back(static_cast<std::int32_t>(i));
  std::map<std::vector<std::int32_t>, std::int32_t> numbers;
  for (const auto& items : of_op) {
    const auto number = numbers.emplace(items, static_cast<std::int32_t>(numbers.size())).first;
    kind_of_op_.push_back(number->second);
  }
  kinds_.resize(numbers.size());
  for (const auto& [items, number] : numbers) kinds_[static_cast<std::size_t>(number)] = items;
}

std::vector<std::size_t> BoundConstraints::concerning(GroupId group,
                                                      const Grouping& grouping) const {
  std::set<std::size_t> items;
  for (const OpId op : grouping.group(group).ops)
    for (const std::int32_t item : kinds_[static_cast<std::size_t>(kind_of_op_[op])])
      items.insert(static_cast<std::size_t>(item));
  return {items.begin(), items.end()};
}

// Combines the constraints of a rule: throws where they contradict, limits left aside.
void BoundConstraints::combine(ConstraintRule& rule) const {
  rule.allowed.assign(problem_.cluster->device_count(), 1);
  rule.modes.fill(true);
  const BoundConstraint* pin = nullptr;
  std::vector<std::string> forbids;
  for (const std::int32_t number : rule.items) {
    const BoundConstraint& item = items_[static_cast<std::size_t>(number)];
    if (item.kind == BoundConstraint::Kind::Together) rule.together = true;
    if (item.kind == BoundConstraint::Kind::Pin) {
      if (pin != nullptr && pin->pinned != item.pinned) contradiction({pin->line, item.line});
      pin = &item;
    }
    if (item.kind != BoundConstraint::Kind::Forbid) continue;
    forbids.push_back(item.line);
    for (std::size_t d = 0; d < item.forbidden.size(); ++d)
      if (item.forbidden[DeviceId(d)]) rule.allowed[DeviceId(d)] = 0;
    for (std::size_t m = 0; m < kModeCount; ++m) rule.modes[m] &= !item.forbidden_modes[m];
  }
  const bool no_device = std::ranges::count(rule.allowed, 1) == 0;
  if (no_device || std::ranges::count(rule.modes, true) == 0) contradiction(forbids);
  if (pin == nullptr) return;
  for (const std::int32_t number : rule.items) {
    const BoundConstraint& item = items_[static_cast<std::size_t>(number)];
    if (item.kind != BoundConstraint::Kind::Forbid) continue;
    bool against = item.forbidden_modes[static_cast<std::size_t>(pin->pinned.mode)];
    for (const DeviceShare& share : pin->pinned.devices) against |= item.forbidden[share.device];
    if (against) contradiction({pin->line, item.line});
  }
  rule.pinned = pin->pinned;
  rule.modes.fill(false);
  rule.modes[static_cast<std::size_t>(pin->pinned.mode)] = true;
  rule.allowed.assign(rule.allowed.size(), 0);
  for (const DeviceShare& share : pin->pinned.devices) rule.allowed[share.device] = 1;
}

ConstraintRules BoundConstraints::rules_for(const Grouping& grouping) const {
  const bool own = &grouping == problem_.grouping.get();
  std::vector<std::vector<GroupId>> groups_of;
  Classes classes(grouping.size());
  for (const BoundConstraint& item : items_) {
    groups_of.push_back(own ? item.groups : groups_holding(item.ops, grouping));
    if (item.kind != BoundConstraint::Kind::Together) continue;
    for (const GroupId group : groups_of.back()) classes.unite(groups_of.back().front(), group);
  }
  ConstraintRules rules;
  rules.class_of.assign(grouping.size(), -1);
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const GroupId root(classes.root(g));
    if (root.index() == g) {
      rules.class_of[root] = static_cast<std::int32_t>(rules.classes.size());
      rules.classes.emplace_back();
    }
    rules.class_of[GroupId(g)] = rules.class_of[root];
    rules.classes[static_cast<std::size_t>(rules.class_of[root])].emplace_back(g);
  }
  std::vector<std::vector<std::int32_t>> items(rules.classes.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (const GroupId group : groups_of[i]) {
      auto& own_items = items[static_cast<std::size_t>(rules.class_of[group])];
      if (own_items.empty() || own_items.back() != static_cast<std::int32_t>(i))
        own_items.push_back(static_cast<std::int32_t>(i));
    }
  }
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  for (std::vector<std::int32_t>& list : items) {
    const auto [at, is_new] = known.emplace(list, static_cast<std::int32_t>(rules.rules.size()));
    rules.rule_of.push_back(at->second);
    if (!is_new) continue;
    rules.rules.emplace_back().items = std::move(list);
    combine(rules.rules.back());
  }
  return rules;
}

std::vector<DeviceLimit> BoundConstraints::limits_of(const ConstraintRules& rules) const {
  std::vector<DeviceLimit> limits;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind != BoundConstraint::Kind::Limit) continue;
    DeviceLimit& limit = limits.emplace_back(DeviceLimit{items_[i].most, {}});
    for (std::size_t r = 0; r < rules.rules.size(); ++r)
      if (std::ranges::binary_search(rules.rules[r].items, static_cast<std::int32_t>(i)))
        limit.rules.push_back(r);
  }
  std::ranges::stable_sort(limits, std::greater(), &DeviceLimit::most);  // the widest first
  return limits;
}

void BoundConstraints::find_limits() {
  constexpr std::size_t kPatience = 200'000'000;  // once for a problem
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < problem_.cluster->device_count(); ++d) devices.emplace_back(d);
  FoundLimitDevices found = find_limit_devices(limits_of(rules_), devices, rules_.rules, kPatience);
  if (found.devices) {
    limit_devices_ = *std::move(found.devices);
    return;
  }
  std::set<std::int32_t> involved;
  for (const ConstraintRule& rule : rules_.rules) {
    const auto limits = [&](std::int32_t i) {
      return items_[static_cast<std::size_t>(i)].kind == BoundConstraint::Kind::Limit;
    };
    if (std::ranges::any_of(rule.items, limits))
      involved.insert(rule.items.begin(), rule.items.end());
  }
  std::vector<std::string> lines;
  for (const std::int32_t i : involved) lines.push_back(items_[static_cast<std::size_t>(i)].line);
  if (found.gave_up)
    throw InputError("", "constraints",
                     fmt::format("no strategy was found that keeps to all of them, though one may "
                                 "exist: {}",
                                 fmt::join(lines, "; ")),
                     "allow more devices, or pin what you know");
  contradiction(lines);
}

// Divides groups whose ops have different constraints; null: there are none.
std::shared_ptr<const Grouping> BoundConstraints::divided(const Grouping& grouping) const {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> parts;
  std::vector<std::int32_t> group_of(problem_.graph->op_count());
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    const OpId op(i);
    const auto part = parts.emplace(std::pair(grouping.group_of(op).value(), kind_of_op_[op]),
                                    static_cast<std::int32_t>(parts.size()));
    group_of[i] = part.first->second;
  }
  if (parts.size() == grouping.size()) return nullptr;
  return std::make_shared<const Grouping>(*problem_.graph, group_of, op_times_);
}

std::vector<std::string> BoundConstraints::violations(const Strategy& strategy) const {
  std::vector<std::string> lines;
  for (const std::size_t i : violated(strategy)) lines.push_back(items_[i].line);
  return lines;
}

bool BoundConstraints::has_own_groups(const Strategy& strategy) const {
  return strategy.grouping != nullptr && strategy.grouping->digest() != problem_.grouping->digest();
}

std::vector<std::size_t> BoundConstraints::violated(const Strategy& given) const {
  const Strategy strategy = complete(given, *problem_.cluster);
  const bool own = has_own_groups(strategy);
  const Grouping& grouping = own ? *strategy.grouping : *problem_.grouping;
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (!items_[i].is_kept_by(strategy,
                              own ? groups_holding(items_[i].ops, grouping) : items_[i].groups))
      items.push_back(i);
  return items;
}

Strategy BoundConstraints::repaired(const Strategy& strategy) const {
  const Strategy whole = complete(strategy, *problem_.cluster);
  if (violated(whole).empty()) return whole;
  RepairDemands demands{problem_.grouping, rules_, {}, limit_devices_};
  if (has_own_groups(whole)) {
    demands.grouping = divided(*whole.grouping);
    if (demands.grouping == nullptr) demands.grouping = whole.grouping;
    demands.rules = rules_for(*demands.grouping);
  }
  demands.limits = limits_of(demands.rules);
  return repair(whole, problem_, std::move(demands));
}

std::unique_ptr<const BoundConstraints> bind_constraints(const Constraints* constraints,
                                                         const Problem& problem) {
  if (constraints == nullptr || constraints->empty()) return nullptr;
  return std::make_unique<const BoundConstraints>(*constraints, problem);
}

}  // namespace strato
