#include "core/search/evaluate/actions.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

// Every way to take 0..size groups of each class, all classes together at least one.
std::vector<std::vector<DeviceGroupId>> all_counts(
    const std::vector<std::vector<DeviceGroupId>>& classes) {
  std::vector<std::vector<DeviceGroupId>> sets = {{}};
  for (const auto& members : classes) {
    std::vector<std::vector<DeviceGroupId>> longer;
    for (const auto& set : sets)
      for (std::size_t count = 0; count <= members.size(); ++count) {
        longer.push_back(set);
        longer.back().insert(longer.back().end(), members.begin(),
                             members.begin() + static_cast<std::ptrdiff_t>(count));
      }
    sets = std::move(longer);
  }
  sets.erase(sets.begin());  // the empty one
  for (auto& set : sets) std::ranges::sort(set);
  return sets;
}

std::size_t count_of_sets(const std::vector<std::vector<DeviceGroupId>>& classes) {
  std::size_t product = 1;
  for (const auto& members : classes)
    product = std::min<std::size_t>(product * (members.size() + 1), 1 << 20);
  return product - 1;
}

// The plausible sets of a large cluster: each class alone in every count, the fastest classes
// together, and everything but one class.
std::vector<std::vector<DeviceGroupId>> plausible_sets(
    const Problem& problem, const std::vector<std::vector<DeviceGroupId>>& classes) {
  const Cluster& cluster = *problem.cluster;
  const auto times = graph_times(problem);
  std::vector<std::size_t> by_speed(classes.size());
  std::iota(by_speed.begin(), by_speed.end(), 0);
  std::ranges::stable_sort(by_speed, {}, [&](std::size_t c) {
    return times[cluster.groups()[classes[c].front()].type];
  });
  std::set<std::vector<DeviceGroupId>> sets;
  std::vector<DeviceGroupId> fastest, everything;
  for (const auto& members : classes)
    everything.insert(everything.end(), members.begin(), members.end());
  std::ranges::sort(everything);
  const auto insert = [&](std::vector<DeviceGroupId> set) {
    std::ranges::sort(set);
    if (!set.empty()) sets.insert(std::move(set));
  };
  for (std::size_t c : by_speed) {
    std::vector<DeviceGroupId> alone;
    for (DeviceGroupId group : classes[c]) {
      alone.push_back(group);
      insert(alone);
      fastest.push_back(group);
      insert(fastest);
    }
    std::vector<DeviceGroupId> others;
    std::ranges::set_difference(everything, classes[c], std::back_inserter(others));
    insert(others);
  }
  return {sets.begin(), sets.end()};
}

// What a group may be told with these devices; `times`: of the graph.
std::vector<Decision> decisions_on(const std::vector<DeviceId>& devices, const Cluster& cluster,
                                   const IdVector<GpuTypeId, Nanos>& times, bool proportional) {
  std::vector<DeviceShare> even;
  for (DeviceId device : devices) even.push_back({device, 1});
  if (devices.size() == 1) return {{Mode::ReplicateAllReduce, even}};
  std::vector<Decision> decisions;
  for (Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel})
    decisions.push_back({mode, even});
  if (!proportional) return decisions;
  const std::vector<DeviceShare> shares = proportional_shares(cluster, times, devices);
  for (Mode mode : {Mode::ReplicateAllReduce, Mode::ReplicatePs})
    decisions.push_back({mode, shares});
  return decisions;
}

std::vector<DeviceId> devices_of(const Cluster& cluster, const std::vector<DeviceGroupId>& set) {
  std::vector<DeviceId> devices;
  for (DeviceGroupId group : set) {
    const auto& members = cluster.groups()[group].devices;
    devices.insert(devices.end(), members.begin(), members.end());
  }
  std::ranges::sort(devices);
  return devices;
}

}  // namespace

bool can_be_exchanged(const Cluster& cluster, std::span<const DeviceId> first,
                      std::span<const DeviceId> second) {
  const auto type_of = [&](DeviceId device) { return cluster.device(device).type; };
  if (!std::ranges::equal(first, second, {}, type_of, type_of)) return false;
  const auto same = [&](DeviceId p, DeviceId q, DeviceId r, DeviceId s) {
    const Path& one = cluster.path(p, q);
    const Path& other = cluster.path(r, s);
    return one.bandwidth == other.bandwidth && one.latency == other.latency;
  };
  const auto image = [&](DeviceId device) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i] == device) return second[i];
      if (second[i] == device) return first[i];
    }
    return device;
  };
  for (const DeviceId p : first)
    for (const DeviceId q : cluster.devices().ids()) {
      if (p == q) continue;
      if (!same(p, q, image(p), image(q)) || !same(q, p, image(q), image(p))) return false;
    }
  return true;
}

std::vector<std::vector<DeviceGroupId>> symmetric_classes(const Cluster& cluster) {
  std::vector<std::vector<DeviceGroupId>> classes;
  for (const DeviceGroupId group : cluster.groups().ids()) {
    const auto found = std::ranges::find_if(classes, [&](const auto& members) {
      return can_be_exchanged(cluster, cluster.groups()[members.front()].devices,
                              cluster.groups()[group].devices);
    });
    if (found == classes.end())
      classes.push_back({group});
    else
      found->push_back(group);
  }
  return classes;
}

std::vector<std::vector<DeviceGroupId>> device_group_sets(const Problem& problem,
                                                          const ActionOptions& options) {
  const Cluster& cluster = *problem.cluster;
  std::vector<std::vector<DeviceGroupId>> classes;
  if (options.merge_symmetric) {
    classes = symmetric_classes(cluster);
  } else {
    for (std::size_t g = 0; g < cluster.groups().size(); ++g) classes.push_back({DeviceGroupId(g)});
  }
  return count_of_sets(classes) <= options.max_sets ? all_counts(classes)
                                                    : plausible_sets(problem, classes);
}

std::vector<Decision> make_actions(const Problem& problem, const ActionOptions& options) {
  const Cluster& cluster = *problem.cluster;
  const auto times = graph_times(problem);
  std::vector<Decision> actions;
  const auto add = [&](const std::vector<DeviceId>& devices) {
    for (Decision& decision : decisions_on(devices, cluster, times, options.proportional_shares))
      if (std::ranges::find(actions, decision) == actions.end())
        actions.push_back(std::move(decision));
  };
  std::vector<DeviceGroupId> everything;
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) everything.emplace_back(g);
  add(devices_of(cluster, everything));
  for (const auto& set : device_group_sets(problem, options)) add(devices_of(cluster, set));
  if (options.single_devices && cluster.device_count() <= 32)
    for (std::size_t d = 0; d < cluster.device_count(); ++d) add({DeviceId(d)});
  if (options.part_groups)
    for (const auto& members : symmetric_classes(cluster)) {
      const auto& devices = cluster.groups()[members.front()].devices;
      for (std::size_t part = devices.size() / 2; part >= 1; part /= 2)
        add({devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(part)});
    }
  return actions;
}

ActionEstimate::ActionEstimate(const Problem& problem) : problem_(problem) {
  const Graph& graph = *problem.graph;
  const std::size_t types = problem.cluster->gpu_types().size();
  groups_.resize(problem.grouping->size());
  total_.seconds.assign(types, 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const OpGroup& group = problem.grouping->group(GroupId(g));
    Load& load = groups_[GroupId(g)];
    load.seconds.assign(types, 0);
    for (OpId op : group.ops)
      for (std::size_t type = 0; type < types; ++type)
        load.seconds[type] += to_seconds(problem.cost->compute(op, GpuTypeId(type), graph.batch()));
    load.parameter_bytes = static_cast<double>(group.parameter_bytes.value);
    for (std::size_t type = 0; type < types; ++type) total_.seconds[type] += load.seconds[type];
    total_.parameter_bytes += load.parameter_bytes;
  }
  for (const Grouping::Edge& edge : problem.grouping->edges())
    groups_[edge.to].input_bytes += static_cast<double>(edge.bytes.value);
  resident_bytes_ = 2 * total_.parameter_bytes;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.role == TensorRole::OptimizerState)
      resident_bytes_ += static_cast<double>(tensor.bytes().value);
}

double ActionEstimate::slowest_bandwidth(const Decision& decision) const {
  double slowest = std::numeric_limits<double>::max();
  const auto& devices = decision.devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {  // around the ring
    const DeviceShare& next = devices[(i + 1) % devices.size()];
    if (next.device == devices[i].device) continue;
    slowest = std::min(slowest, problem_.cluster->path(devices[i].device, next.device).bandwidth);
  }
  return slowest;
}

double ActionEstimate::seconds(const Load& load, const Decision& decision) const {
  const auto n = static_cast<double>(decision.devices.size());
  double weights = 0, slowest_share = 0, slowest = 0, sum = 0;
  for (const DeviceShare& share : decision.devices) {
    const double whole = load.seconds[problem_.cluster->device(share.device).type.index()];
    weights += share.weight;
    slowest_share = std::max(slowest_share, whole * share.weight);
    slowest = std::max(slowest, whole);
    sum += whole;
  }
  if (decision.devices.size() == 1) return slowest;
  const double around = (n - 1) / n / slowest_bandwidth(decision);
  switch (decision.mode) {
    case Mode::ReplicateAllReduce:
      return slowest_share / weights + 2 * around * load.parameter_bytes;
    case Mode::ReplicatePs:
      return slowest_share / weights + 2.2 * around * load.parameter_bytes;
    case Mode::Duplicate:
      return slowest + around * load.input_bytes;
    case Mode::ModelParallel:
      return sum / n + 0.5 * around * load.input_bytes;
  }
  return slowest;
}

double ActionEstimate::group_seconds(GroupId group, const Decision& decision) const {
  return seconds(groups_[group], decision);
}

double ActionEstimate::graph_seconds(const Decision& decision) const {
  double smallest = std::numeric_limits<double>::max(), together = 0;
  for (const DeviceShare& share : decision.devices) {
    const auto memory = static_cast<double>(problem_.cluster->gpu(share.device).memory.value);
    smallest = std::min(smallest, memory);
    together += memory;
  }
  const double room = decision.mode == Mode::ModelParallel ? together : smallest;
  const double penalty = resident_bytes_ > 0.9 * room ? 1e3 * resident_bytes_ / room : 0;
  return seconds(total_, decision) + penalty;
}

std::vector<std::vector<std::int32_t>> rank_actions(const Problem& problem,
                                                    const std::vector<Decision>& actions,
                                                    const std::vector<GroupId>& order,
                                                    std::uint64_t seed, double noise,
                                                    std::size_t first) {
  const ActionEstimate estimate(problem);
  std::vector<std::vector<std::int32_t>> ranked;
  for (std::size_t depth = 0; depth < order.size(); ++depth) {
    const bool no_parameters = problem.grouping->group(order[depth]).parameter_bytes.value == 0;
    std::vector<std::pair<double, std::int32_t>> scored;
    for (std::size_t a = 0; a < actions.size(); ++a) {
      if (depth > first && no_parameters && actions[a].mode == Mode::ReplicatePs) continue;
      scored.emplace_back(depth <= first ? estimate.graph_seconds(actions[a])
                                         : estimate.group_seconds(order[depth], actions[a]),
                          static_cast<std::int32_t>(a));
    }
    std::ranges::sort(scored);
    Random random(seed * 0x9e3779b97f4a7c15ULL + depth);
    for (std::size_t rank = 0; rank < scored.size(); ++rank)
      scored[rank].first = static_cast<double>(rank) + noise * random.uniform();
    std::ranges::sort(scored);
    ranked.emplace_back();
    for (const auto& [key, action] : scored) ranked.back().push_back(action);
  }
  return ranked;
}

}  // namespace strato
