#include "core/search/run/what_if_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

// Every axis in the order of WhatIfAxis: its name and, but for the batch, its factor in a change.
struct Axis {
  std::string_view name;
  double ClusterChange::*of_cluster = nullptr;
};
constexpr std::array<Axis, kWhatIfAxes> kAxes = {{{"batch"},
                                                  {"network", &ClusterChange::network_bandwidth},
                                                  {"links", &ClusterChange::machine_bandwidth},
                                                  {"latency", &ClusterChange::latency},
                                                  {"speed"},
                                                  {"memory", &ClusterChange::memory}}};

// Null: the batch has none.
template <class Change>
auto factor_of(Change& change, WhatIfAxis axis) -> decltype(&change.speed) {
  if (axis == WhatIfAxis::Speed) return &change.speed;
  const auto factor = kAxes[static_cast<std::size_t>(axis)].of_cluster;
  return factor != nullptr ? &(change.cluster.*factor) : nullptr;
}

// Machines of the kind that there are after the change.
std::int64_t count_of(const MachineKind& kind, const ProblemChange& change) {
  const auto wanted = change.cluster.machines.find(kind.name);
  return wanted != change.cluster.machines.end() ? wanted->second : std::ssize(kind.machines);
}

std::int64_t devices_with(const Problem& problem, const ProblemChange& change) {
  std::int64_t devices = 0;
  for (const MachineKind& kind : machine_kinds(*problem.cluster))
    devices += count_of(kind, change) * std::ranges::count(problem.cluster->devices(),
                                                           kind.machines.front(), &Device::machine);
  return devices;
}

}  // namespace

std::string_view name_of(WhatIfAxis axis) { return kAxes[static_cast<std::size_t>(axis)].name; }

std::optional<WhatIfAxis> what_if_axis_from(std::string_view name) {
  const auto found = std::ranges::find(kAxes, name, &Axis::name);
  if (found == kAxes.end()) return {};
  return static_cast<WhatIfAxis>(found - kAxes.begin());
}

double value_of(const ProblemChange& change, WhatIfAxis axis, const Problem& problem) {
  if (const double* factor = factor_of(change, axis)) return *factor;
  return static_cast<double>(change.batch.value_or(problem.graph->batch()));
}

ProblemChange with_value(const ProblemChange& base, WhatIfAxis axis, double value) {
  ProblemChange changed = base;
  if (double* factor = factor_of(changed, axis)) {
    *factor = value;
  } else {
    changed.batch = std::max<std::int64_t>(1, std::llround(std::min(value, 1e15)));
  }
  return changed;
}

std::vector<double> what_if_values(WhatIfAxis axis, double low, double high, int points) {
  if (!(low > 0 && low < high && high < 1e15) || points < 2 || points > 10000)
    throw InputError(std::string(name_of(axis)), "",
                     fmt::format("{} points from {:g} to {:g}", points, low, high),
                     "give two positive values, the smaller first, and 2 to 10000 points");
  std::set<double> values;
  for (int i = 0; i < points; ++i) {
    const double value = low * std::pow(high / low, static_cast<double>(i) / (points - 1));
    values.insert(axis == WhatIfAxis::Batch ? std::max(1.0, std::round(value)) : value);
  }
  return {values.begin(), values.end()};
}

std::vector<double> usual_values(WhatIfAxis axis, const Problem& problem) {
  std::vector<double> values;
  if (axis == WhatIfAxis::Batch) {
    std::set<double> batches;
    for (double factor = 0.125; factor <= 8; factor *= 2)
      batches.insert(
          std::max(1.0, std::round(factor * static_cast<double>(problem.graph->batch()))));
    return {batches.begin(), batches.end()};
  }
  for (double value = 0.25; value < 8.01; value *= std::sqrt(2.0))
    values.push_back(std::abs(value - std::round(value)) < 1e-9 ? std::round(value) : value);
  return values;
}

std::vector<ScalingPoint> scaling_points(const Problem& problem, const ProblemChange& base,
                                         const MachineKind& kind, std::int64_t most) {
  constexpr std::int64_t kMostDevices = 1024;  // that are tried, unless there are more already
  std::set<std::int64_t> counts = {std::max<std::int64_t>(1, count_of(kind, base))};
  for (std::int64_t count = 1; count <= most; count *= 2) counts.insert(count);
  const double devices_now = static_cast<double>(devices_with(problem, base));
  const auto batch = static_cast<double>(base.batch.value_or(problem.graph->batch()));
  std::vector<ScalingPoint> points;
  for (const std::int64_t count : counts) {
    ScalingPoint point;
    point.machines = count;
    point.strong = base;
    point.strong.cluster.machines[kind.name] = count;
    const std::int64_t devices = devices_with(problem, point.strong);
    if (devices > kMostDevices && devices > devices_with(problem, base)) break;
    point.devices = static_cast<std::size_t>(devices);
    point.weak = with_value(point.strong, WhatIfAxis::Batch,
                            batch * static_cast<double>(devices) / std::max(1.0, devices_now));
    points.push_back(std::move(point));
  }
  return points;
}

WhatIfPoint what_if_point(ProblemChanger& changer, const Strategy& strategy,
                          const ProblemChange& change, const Simulate& simulate) {
  WhatIfPoint point;
  try {
    const ChangedProblem changed = changer.apply(change);
    const auto figures = [&](const Strategy& each) {
      return figures_of(changed.problem, simulate(changed.problem, each));
    };
    point.strategy = figures(carry_over(strategy, changed));
    point.data_parallel = figures(data_parallel(changed.problem));
  } catch (const InputError& error) {
    point.problem = error.what();
  }
  return point;
}

}  // namespace strato
