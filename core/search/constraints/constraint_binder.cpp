#include "core/search/constraints/constraint_binder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_map>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::size_t kNamedAtMost = 12;

// "*" stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

template <class List, class Name>
std::string first_names(const List& list, const Name& name) {
  std::vector<std::string> names;
  for (const auto& one : list) {
    if (names.size() == kNamedAtMost) {
      names.push_back(fmt::format("... ({} in all)", list.size()));
      break;
    }
    names.push_back(name(one));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void unknown(const std::string& line, std::string problem, std::string remedy) {
  throw InputError("", "constraint " + line, std::move(problem), std::move(remedy));
}

void sort_unique(std::vector<OpId>& ops) {
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
}

}  // namespace

ConstraintBinder::ConstraintBinder(const Problem& problem) : problem_(problem) {}

void ConstraintBinder::add_listed(const ConstrainedOps& of, const std::string& line,
                                  std::vector<OpId>& ops) {
  if (by_name_.empty()) {
    for (std::size_t i = 0; i < problem_.graph->op_count(); ++i)
      by_name_.emplace(problem_.graph->op(OpId(i)).name, OpId(i));
  }
  const std::size_t before = ops.size();
  for (const std::string& name : of.ops)
    if (const auto found = by_name_.find(name); found != by_name_.end())
      ops.push_back(found->second);
  if (ops.size() == before)
    unknown(line, fmt::format("the model has none of the {} ops of \"{}\"", of.ops.size(), of.name),
            "leave the constraint out, or name ops of this model");
}

void ConstraintBinder::add_named(const ConstrainedOps& of, const std::string& line,
                                 std::vector<OpId>& ops) {
  const std::size_t before = ops.size();
  const Grouping& grouping = *problem_.grouping;
  const auto wanted = [&](const std::string& name) {
    return of.is_pattern() ? matches(of.name, name) : name == of.name;
  };
  for (const OpGroup& group : grouping.groups())
    if (wanted(group.name)) ops.insert(ops.end(), group.ops.begin(), group.ops.end());
  if (ops.size() > before && !of.is_pattern()) return;
  for (std::size_t i = 0; i < problem_.graph->op_count(); ++i)
    if (wanted(problem_.graph->op(OpId(i)).name)) ops.emplace_back(i);
  if (ops.size() == before) {
    unknown(line, fmt::format("there is no op group and no op \"{}\"", of.name),
            "the op groups: " +
                first_names(grouping.groups(), [](const OpGroup& group) { return group.name; }));
  }
}

std::vector<OpId> ConstraintBinder::ops_of(const ConstrainedOps& of, const std::string& line) {
  std::vector<OpId> ops;
  if (of.ops.empty()) {
    add_named(of, line, ops);
  } else {
    add_listed(of, line, ops);
  }
  sort_unique(ops);
  return ops;
}

std::vector<OpId> ConstraintBinder::ops_of(const std::vector<ConstrainedOps>& all,
                                           const std::string& line) {
  std::vector<OpId> ops;
  for (const ConstrainedOps& of : all) {
    const std::vector<OpId> more = ops_of(of, line);
    ops.insert(ops.end(), more.begin(), more.end());
  }
  sort_unique(ops);
  return ops;
}

void ConstraintBinder::unknown_device(const std::string& name, const std::string& line) const {
  unknown(line,
          fmt::format("{} has no device or device group \"{}\"", problem_.cluster->name(), name),
          "its device groups: " + first_names(problem_.cluster->groups(),
                                              [](const DeviceGroup& group) { return group.name; }));
}

std::vector<DeviceId> ConstraintBinder::devices_of(const std::string& name,
                                                   const std::string& line) const {
  std::vector<DeviceId> devices = problem_.cluster->devices_named(name);
  if (devices.empty()) unknown_device(name, line);
  return devices;
}

// "v100x3" is v100 with the weight 3, unless there is a device of this name.
std::pair<std::vector<DeviceId>, std::int32_t> ConstraintBinder::share_of(
    const std::pair<std::string, std::int32_t>& named, const std::string& line) const {
  const auto& [name, weight] = named;
  std::vector<DeviceId> devices = problem_.cluster->devices_named(name);
  if (!devices.empty()) return {std::move(devices), weight};
  const std::size_t cross = name.rfind('x');
  if (cross == std::string::npos || cross == 0) unknown_device(name, line);
  std::string_view front = std::string_view(name).substr(0, cross);
  while (front.ends_with(' ')) front.remove_suffix(1);
  std::int32_t times = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + cross + 1, last, times);
  devices = problem_.cluster->devices_named(front);
  const bool number = error == std::errc() && end == last && times >= 1 && times <= 1'000'000;
  if (devices.empty() || !number) unknown_device(name, line);
  return {std::move(devices), times};
}

Decision ConstraintBinder::decision_of(const Constraints::Pin& pin, const std::string& line) const {
  Decision decision{pin.mode, {}};
  for (const auto& named : pin.devices) {
    const auto [devices, weight] = share_of(named, line);
    for (const DeviceId device : devices) decision.devices.push_back({device, weight});
  }
  std::ranges::sort(decision.devices);
  const auto twice = std::ranges::adjacent_find(decision.devices, {}, &DeviceShare::device);
  if (twice != decision.devices.end())
    unknown(line, fmt::format("{} is named twice", problem_.cluster->device(twice->device).name),
            "name each device once");
  if (decision.devices.empty()) unknown(line, "names no device", "name at least one");
  return reduced(std::move(decision));
}

}  // namespace strato
