#include "core/search/constraints/bound_constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/disjoint_sets.h"
#include "core/base/error.h"

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

}  // namespace

BoundConstraints::BoundConstraints(const Constraints& constraints, const Problem& problem)
    : problem_(problem),
      op_times_(mean_op_times(*problem.graph, *problem.cluster, *problem.cost)),
      items_(bound_to(problem, constraints)) {
  find_kinds();
  rules_ = rules_for(*problem_.grouping);
  find_limits();
  for (std::size_t g = 0; g < problem_.grouping->size(); ++g)
    pins_.push_back(rules_.of(GroupId(g)).pinned);
  if (std::ranges::none_of(pins_, [](const auto& pin) { return pin.has_value(); })) pins_.clear();
}

void BoundConstraints::find_kinds() {
  IdVector<OpId, std::vector<std::size_t>> of_op(problem_.graph->op_count());
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (const OpId op : items_[i].ops) of_op[op].push_back(i);
  std::map<std::vector<std::size_t>, std::int32_t> numbers;
  for (const auto& items : of_op)
    kind_of_op_.push_back(
        numbers.emplace(items, static_cast<std::int32_t>(numbers.size())).first->second);
}

std::vector<std::size_t> BoundConstraints::concerning(GroupId group,
                                                      const Grouping& grouping) const {
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (std::ranges::any_of(grouping.group(group).ops, [&](OpId op) { return items_[i].has(op); }))
      items.push_back(i);
  return items;
}

// Combines the constraints of a rule: throws where they contradict, limits left aside.
void BoundConstraints::combine(ConstraintRule& rule) const {
  rule.allowed.assign(problem_.cluster->device_count(), 1);
  rule.modes.fill(true);
  rule.roles.fill(true);
  const BoundConstraint* pin = nullptr;
  std::vector<const BoundConstraint*> forbids;
  for (const std::int32_t number : rule.items) {
    const BoundConstraint& item = items_[at(number)];
    if (item.kind == BoundConstraint::Kind::Together) rule.together = true;
    if (item.kind == BoundConstraint::Kind::Pin) {
      if (pin != nullptr && pin->pinned != item.pinned) contradiction({pin->line, item.line});
      pin = &item;
    }
    if (item.kind != BoundConstraint::Kind::Forbid) continue;
    forbids.push_back(&item);
    keep_only(rule.allowed, item.allowed);
    std::ranges::transform(rule.modes, item.modes, rule.modes.begin(), std::logical_and());
    std::ranges::transform(rule.roles, item.roles, rule.roles.begin(), std::logical_and());
  }
  if (std::ranges::count(rule.allowed, 1) == 0 || std::ranges::count(rule.modes, true) == 0) {
    std::vector<std::string> lines;
    for (const BoundConstraint* forbid : forbids) lines.push_back(forbid->line);
    contradiction(lines);
  }
  if (pin == nullptr) return;
  for (const BoundConstraint* forbid : forbids)
    if (!forbid->allows(pin->pinned)) contradiction({pin->line, forbid->line});
  rule.pinned = pin->pinned;
  rule.modes = pin->modes;
  rule.allowed = pin->allowed;
}

ConstraintRules BoundConstraints::rules_for(const Grouping& grouping) const {
  std::vector<std::vector<GroupId>> groups_of;
  DisjointSets classes(grouping.size());
  for (const BoundConstraint& item : items_) {
    groups_of.push_back(groups_holding(item.ops, grouping));
    if (item.kind != BoundConstraint::Kind::Together) continue;
    for (const GroupId group : groups_of.back())
      classes.join(groups_of.back().front().value(), group.value());
  }
  ConstraintRules rules;
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const std::size_t root = at(classes.root(static_cast<std::int32_t>(g)));
    if (root == g) rules.classes.emplace_back();
    rules.class_of.push_back(root == g ? static_cast<std::int32_t>(rules.classes.size()) - 1
                                       : rules.class_of[GroupId(root)]);
    rules.classes[at(rules.class_of.back())].emplace_back(g);
  }
  std::vector<std::vector<std::int32_t>> items(rules.classes.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (const GroupId group : groups_of[i]) {
      auto& own_items = items[at(rules.class_of[group])];
      if (own_items.empty() || own_items.back() != static_cast<std::int32_t>(i))
        own_items.push_back(static_cast<std::int32_t>(i));
    }
  }
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  for (std::vector<std::int32_t>& list : items) {
    const auto [place, is_new] = known.emplace(list, static_cast<std::int32_t>(rules.rules.size()));
    rules.rule_of.push_back(place->second);
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
  const std::vector<DeviceLimit> limits = limits_of(rules_);
  FoundLimitDevices found = find_limit_devices(limits, devices, rules_.rules, kPatience);
  if (found.devices) {
    limit_devices_ = *std::move(found.devices);
    return;
  }
  std::set<std::int32_t> involved;
  for (const DeviceLimit& limit : limits)
    for (const std::size_t rule : limit.rules)
      involved.insert(rules_.rules[rule].items.begin(), rules_.rules[rule].items.end());
  std::vector<std::string> lines;
  for (const std::int32_t i : involved) lines.push_back(items_[at(i)].line);
  if (found.gave_up)
    throw InputError("", "constraints",
                     fmt::format("no strategy was found that keeps to all of them, though one may "
                                 "exist: {}",
                                 fmt::join(lines, "; ")),
                     "allow more devices, or pin what you know");
  contradiction(lines);
}

// Divides groups whose ops have different constraints.
std::shared_ptr<const Grouping> BoundConstraints::divided(
    const std::shared_ptr<const Grouping>& grouping) const {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> parts;
  std::vector<std::int32_t> group_of(problem_.graph->op_count());
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    const std::pair part(grouping->group_of(OpId(i)).value(), kind_of_op_[OpId(i)]);
    group_of[i] = parts.emplace(part, static_cast<std::int32_t>(parts.size())).first->second;
  }
  if (parts.size() == grouping->size()) return grouping;
  return std::make_shared<const Grouping>(*problem_.graph, group_of, op_times_);
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
    if (!items_[i].is_kept_by(strategy, *problem_.graph, grouping,
                              own ? groups_holding(items_[i].ops, grouping) : items_[i].groups))
      items.push_back(i);
  return items;
}

std::string BoundConstraints::reason(std::size_t number, const Strategy& given) const {
  const Strategy strategy = complete(given, *problem_.cluster);
  const Problem own = problem_for(problem_, strategy);
  const BoundConstraint& item = items_[number];
  const std::vector<GroupId> groups = groups_holding(item.ops, *own.grouping);
  const auto name = [&](GroupId group) { return own.grouping->group(group).name; };
  if (const auto taken = item.role_taken(strategy, *own.graph, *own.grouping, groups))
    return fmt::format("op group \"{}\" has {}", name(taken->second),
                       taken->first == Role::Pipeline ? "a stage of its own in a pipeline"
                                                      : label_of(taken->first));
  for (const GroupId group : groups) {
    const Decision& decision = *strategy.groups[group];
    const bool other = item.kind == BoundConstraint::Kind::Pin && reduced(decision) != item.pinned;
    if (other || !item.allows(decision))
      return fmt::format("op group \"{}\" is {}", name(group), describe(decision, *own.cluster));
  }
  return "the strategy does not keep to it";
}

void BoundConstraints::check(const Strategy& strategy) const {
  const std::vector<std::size_t> broken = violated(strategy);
  if (broken.empty()) return;
  const std::size_t others = broken.size() - 1;
  throw InputError("", "constraint " + items_[broken.front()].line,
                   reason(broken.front(), strategy) +
                       (others == 0 ? "" : fmt::format("; {} more are not kept", others)),
                   "change the strategy, or take the constraint back");
}

std::unique_ptr<const BoundConstraints> bind_constraints(const Constraints* constraints,
                                                         const Problem& problem) {
  if (constraints == nullptr || constraints->empty()) return nullptr;
  return std::make_unique<const BoundConstraints>(*constraints, problem);
}

}  // namespace strato
