#include "core/strategy/value/variable_sync.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace strato {

std::string_view name_of(Synchroniser synchroniser) {
  return synchroniser == Synchroniser::Ps ? "ps" : "allreduce";
}

std::string_view name_of(Encoding encoding) {
  constexpr std::array<std::string_view, 6> names = {"none",  "sparse-rows",        "half",
                                                     "top-k", "sufficient-factors", "low-rank"};
  return names[static_cast<std::size_t>(encoding)];
}

std::vector<AxisParts> divided_axes(const VariableSync& variable) {
  std::vector<AxisParts> axes;
  for (std::size_t axis = 0; axis < variable.partition.size(); ++axis)
    if (variable.partition[axis] > 1)
      axes.push_back({static_cast<int>(axis), variable.partition[axis]});
  if (variable.partition.empty() && variable.parts.size() > 1)
    axes.push_back({variable.axis, static_cast<std::int64_t>(variable.parts.size())});
  return axes;
}

void divide(VariableSync& variable, std::vector<std::int32_t> partition) {
  constexpr std::int64_t kMostParts = 1 << 20;
  std::int64_t count = 1;
  for (const std::int32_t parts : partition) {
    const bool fits = parts >= 1 && parts <= kMostParts && (count *= parts) <= kMostParts;
    if (!fits)
      throw InputError("", "partition", "is into less than one part, or into more than a million",
                       "give a number of parts for each axis, 1 where it is not divided");
  }
  const SyncPart first = variable.parts.empty() ? SyncPart() : variable.parts.front();
  variable.axis = 0;
  variable.partition = std::move(partition);
  variable.parts.resize(static_cast<std::size_t>(count), first);
  const std::vector<AxisParts> axes = divided_axes(variable);
  if (axes.size() > 1) {
    variable.partition.resize(static_cast<std::size_t>(axes.back().axis) + 1);
  } else {
    variable.partition.clear();
    if (!axes.empty()) variable.axis = axes.front().axis;
  }
}

// Larger parts first.
Part part_box(const VariableSync& variable, const Shape& shape, std::size_t index) {
  Part box;
  auto rest = static_cast<std::int64_t>(index);
  const std::vector<AxisParts> axes = divided_axes(variable);
  for (auto at = axes.rbegin(); at != axes.rend(); ++at) {
    const std::int64_t extent = shape.at(static_cast<std::size_t>(at->axis));
    const std::int64_t part = rest % at->parts;
    rest /= at->parts;
    const auto begin = [&](std::int64_t i) {
      return static_cast<std::int32_t>(extent / at->parts * i + std::min(i, extent % at->parts));
    };
    box = box.cut({static_cast<std::int8_t>(at->axis), begin(part), begin(part + 1)});
  }
  return box;
}

void add_to(Hasher& hasher, const VariableSync& variable) {
  hasher.number(variable.update.value()).number(variable.axis).number(variable.parts.size());
  // Nothing for synchronous ones, divided along one axis: their digests stay what they were.
  if (variable.staleness != 0) hasher.text("stale").number(variable.staleness);
  if (!variable.partition.empty()) hasher.text("partition").number(variable.partition.size());
  for (const std::int32_t parts : variable.partition) hasher.number(parts);
  for (const SyncPart& part : variable.parts) {
    hasher.number(static_cast<int>(part.synchroniser)).number(static_cast<int>(part.encoding));
    hasher.number(part.server.value()).number(part.merge_group);
    hasher.number(part.stations.size()).number(part.sequence.size());
    for (const DeviceId device : part.stations) hasher.number(device.value());
    for (const DeviceId device : part.sequence) hasher.number(device.value());
  }
}

}  // namespace strato
