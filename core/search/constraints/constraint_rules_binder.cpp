// The names that constraints use, as ops, devices and decisions of a problem.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/words.h"
#include "core/search/constraints/constraint_rules.h"
#include "core/search/constraints/constraints.h"
#include "core/strategy/value/expert_check.h"

namespace strato {
namespace {

constexpr std::size_t kNamedAtMost = 12;

template <class List>
std::string first_names(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) {
    if (names.size() == kNamedAtMost) {
      names.push_back(fmt::format("... ({} in all)", list.size()));
      break;
    }
    names.push_back(one.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class ConstraintBinder {
 public:
  explicit ConstraintBinder(const Problem& problem) : problem_(problem) {}

  std::vector<BoundConstraint> run(const Constraints& constraints) && {
    using Kind = BoundConstraint::Kind;
    lines_ = describe(constraints);
    for (const Constraints::Pin& pin : constraints.pins) {
      BoundConstraint& item = add(Kind::Pin, {&pin.of, 1});
      item.pinned = decision_of(pin);
      std::ranges::fill(item.allowed, 0);
      mark_devices(item.pinned.devices, item.allowed);
      item.modes.fill(false);
      item.modes[static_cast<std::size_t>(item.pinned.mode)] = true;
    }
    for (const Constraints::Forbid& forbid : constraints.forbidden) {
      BoundConstraint& item = add(Kind::Forbid, {&forbid.of, 1});
      for (const std::string& name : forbid.devices) {
        const std::vector<DeviceId> devices = problem_.cluster->devices_named(name);
        if (devices.empty()) refuse_device(name);
        for (const DeviceId device : devices) item.allowed[device] = 0;
      }
      for (const Mode mode : forbid.modes) item.modes[static_cast<std::size_t>(mode)] = false;
      for (const Role role : forbid.roles) item.roles[static_cast<std::size_t>(role)] = false;
    }
    for (const Constraints::Together& together : constraints.together)
      add(Kind::Together, together.of);
    for (const Constraints::Limit& limit : constraints.limits)
      add(Kind::Limit, {&limit.of, 1}).most =
          static_cast<std::size_t>(std::max<std::int64_t>(limit.devices, 1));
    return std::move(items_);
  }

 private:
  // Quotes the constraint that is being bound.
  [[noreturn]] void refuse(std::string problem, std::string remedy) const {
    throw InputError("", "constraint " + items_.back().line, std::move(problem), std::move(remedy));
  }
  [[noreturn]] void refuse_device(const std::string& name) const {
    const Cluster& cluster = *problem_.cluster;
    refuse(fmt::format("{} has no device or device group \"{}\"", cluster.name(), name),
           "its device groups: " + first_names(cluster.groups()));
  }

  BoundConstraint& add(BoundConstraint::Kind kind, std::span<const ConstrainedOps> of) {
    BoundConstraint& item = items_.emplace_back();
    item.kind = kind;
    item.line = lines_[items_.size() - 1];
    for (const ConstrainedOps& ops : of) {
      if (ops.ops.empty())
        add_named(ops);
      else
        add_listed(ops);
    }
    std::ranges::sort(item.ops);
    item.ops.erase(std::unique(item.ops.begin(), item.ops.end()), item.ops.end());
    item.groups = groups_holding(item.ops, *problem_.grouping);
    item.allowed.assign(problem_.cluster->device_count(), 1);
    item.modes.fill(true);
    item.roles.fill(true);
    return item;
  }

  // Those that the model has.
  void add_listed(const ConstrainedOps& of) {
    if (by_name_.empty())
      for (std::size_t i = 0; i < problem_.graph->op_count(); ++i)
        by_name_.emplace(problem_.graph->op(OpId(i)).name, OpId(i));
    std::vector<OpId>& ops = items_.back().ops;
    const std::size_t before = ops.size();
    for (const std::string& name : of.ops)
      if (const auto found = by_name_.find(name); found != by_name_.end())
        ops.push_back(found->second);
    if (ops.size() == before)
      refuse(fmt::format("the model has none of the {} ops of \"{}\"", of.ops.size(), of.name),
             "leave the constraint out, or name ops of this model");
  }

  void add_named(const ConstrainedOps& of) {
    std::vector<OpId>& ops = items_.back().ops;
    const std::size_t before = ops.size();
    const auto wanted = [&](const std::string& name) {
      return of.is_pattern() ? matches_pattern(of.name, name) : name == of.name;
    };
    for (const OpGroup& group : problem_.grouping->groups())
      if (wanted(group.name)) ops.insert(ops.end(), group.ops.begin(), group.ops.end());
    if (ops.size() > before && !of.is_pattern()) return;
    for (std::size_t i = 0; i < problem_.graph->op_count(); ++i)
      if (wanted(problem_.graph->op(OpId(i)).name)) ops.emplace_back(i);
    if (ops.size() == before)
      refuse(fmt::format("there is no op group and no op \"{}\"", of.name),
             "the op groups: " + first_names(problem_.grouping->groups()));
  }

  // "v100x3" is v100 with the weight 3, unless there is a device of this name.
  std::pair<std::vector<DeviceId>, std::int32_t> share_of(const std::string& name,
                                                          std::int32_t weight) const {
    std::vector<DeviceId> devices = problem_.cluster->devices_named(name);
    if (!devices.empty()) return {std::move(devices), weight};
    const std::size_t cross = name.rfind('x');
    if (cross == std::string::npos || cross == 0) refuse_device(name);
    std::string_view front = std::string_view(name).substr(0, cross);
    while (front.ends_with(' ')) front.remove_suffix(1);
    const auto times = number_from(std::string_view(name).substr(cross + 1), 1, 1'000'000);
    devices = problem_.cluster->devices_named(front);
    if (devices.empty() || !times) refuse_device(name);
    return {std::move(devices), *times};
  }

  Decision decision_of(const Constraints::Pin& pin) const {
    Decision decision{pin.mode, {}, pin.roles};
    for (const auto& [name, its_weight] : pin.devices) {
      const auto [devices, weight] = share_of(name, its_weight);
      for (const DeviceId device : devices) decision.devices.push_back({device, weight});
    }
    std::ranges::sort(decision.devices);
    const auto twice = std::ranges::adjacent_find(decision.devices, {}, &DeviceShare::device);
    if (twice != decision.devices.end())
      refuse(fmt::format("{} is named twice", problem_.cluster->device(twice->device).name),
             "name each device once");
    if (decision.devices.empty()) refuse("names no device", "name at least one");
    check_rows(decision, "constraint " + items_.back().line);
    check_experts(decision, items_.back().ops, *problem_.graph, "constraint " + items_.back().line);
    return reduced(std::move(decision));
  }

  const Problem& problem_;
  std::vector<std::string> lines_;
  std::vector<BoundConstraint> items_;
  std::unordered_map<std::string_view, OpId> by_name_;
};

}  // namespace

std::vector<BoundConstraint> bound_to(const Problem& problem, const Constraints& constraints) {
  return ConstraintBinder(problem).run(constraints);
}

}  // namespace strato
