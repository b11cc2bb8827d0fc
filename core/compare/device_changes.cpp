// Memory and time of devices, what is sent over which links, and what it all costs.
#include "core/compare/device_changes.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/cluster/read/cluster_reader.h"

namespace strato {
namespace {

constexpr const char* kInMachines = "in machines";
constexpr const char* kBetweenMachines = "between machines";

void fill_device(const Timeline& timeline, DeviceId device, std::optional<DeviceUse>& use,
                 Nanos& idle) {
  use = timeline.devices[device];
  idle = timeline.step_time - use->compute_busy;
}

// The names tell, as the cluster's reader makes them: "v100:0>fabric", "host>v100:0"; "v100>net",
// "network", "v100>p100". No machine's name has a colon.
bool is_in_machine(const Link& link) { return link.name.find(':') != std::string::npos; }

std::vector<bool> in_machine(const Cluster& cluster) {
  std::vector<bool> result;
  for (const Link& link : cluster.links()) result.push_back(is_in_machine(link));
  return result;
}

std::string what_is_sent(const Program& program, const Task& task) {
  if (!task.tensor.valid()) return "other data";
  return std::string(words_for(program.graph->tensor(task.tensor).role));
}

using TrafficMap = std::map<std::pair<std::string, std::string>, TrafficChange>;

template <class Get>
void add_traffic(const Timeline& timeline, TrafficMap& traffic, Get&& side) {
  const Program& program = *timeline.program;
  const std::vector<bool> inside = in_machine(*program.cluster);
  const std::size_t streams = 2 * program.cluster->device_count();
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!is_communication(task.kind)) continue;
    const bool out = std::ranges::any_of(program.resources[t], [&](ResourceId resource) {
      return resource.index() >= streams && !inside[resource.index() - streams];
    });
    const char* where = out ? kBetweenMachines : kInMachines;
    const std::string what = what_is_sent(program, task);
    TrafficChange& change = traffic[{what, where}];
    change.what = what;
    change.where = where;
    change.inside = !out;
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    side(change.bytes) += task.bytes;
    side(change.messages) += 1;
    side(change.time) += times.end - times.start;
  }
}

// Adds up the prices of the machines that a task of the plan runs on.
double used_per_hour(const Timeline& timeline, const ClusterPrice& price) {
  const Cluster& cluster = *timeline.program->cluster;
  std::set<MachineId> used;
  for (const Task& task : timeline.program->tasks)
    for (const DeviceId device : {task.device, task.target})
      if (device.valid()) used.insert(cluster.device(device).machine);
  double dollars = 0;
  for (const MachineId machine : used) dollars += price.per_hour[machine];
  return dollars;
}

}  // namespace

std::vector<DeviceChange> device_changes(const Timeline& from, const Timeline& to) {
  const Cluster &before = *from.program->cluster, &after = *to.program->cluster;
  std::vector<DeviceChange> changes;
  for (std::size_t d = 0; d < after.device_count(); ++d) {
    DeviceChange change;
    change.name = after.device(DeviceId(d)).name;
    change.device = {before.find_device(change.name), DeviceId(d)};
    fill_device(to, DeviceId(d), change.use.to, change.idle.to);
    if (change.device.from.valid())
      fill_device(from, change.device.from, change.use.from, change.idle.from);
    changes.push_back(std::move(change));
  }
  for (std::size_t d = 0; d < before.device_count(); ++d) {
    DeviceChange change;
    change.name = before.device(DeviceId(d)).name;
    if (after.find_device(change.name).valid()) continue;
    change.device.from = DeviceId(d);
    fill_device(from, DeviceId(d), change.use.from, change.idle.from);
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to) {
  TrafficMap found;
  add_traffic(
      from, found, [](auto& pair) -> auto& { return pair.from; });
  add_traffic(
      to, found, [](auto& pair) -> auto& { return pair.to; });
  std::vector<TrafficChange> traffic;
  for (auto& [key, change] : found) traffic.push_back(std::move(change));
  std::ranges::stable_sort(traffic, [](const TrafficChange& a, const TrafficChange& b) {
    return std::max(a.bytes.from, a.bytes.to) > std::max(b.bytes.from, b.bytes.to);
  });
  return traffic;
}

std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to) {
  std::map<std::string, LinksChange> kinds;
  const auto add = [&](const Timeline& timeline, auto side) {
    const Cluster& cluster = *timeline.program->cluster;
    const std::vector<bool> inside = in_machine(cluster);
    for (std::size_t l = 0; l < cluster.links().size(); ++l) {
      const char* kind = inside[l] ? kInMachines : kBetweenMachines;
      LinksChange& change = kinds[kind];
      change.kind = kind;
      const double busy =
          timeline.step_time > Nanos(0) ? timeline.link_busy[LinkId(l)] / timeline.step_time : 0;
      if (busy <= side(change.busiest)) continue;
      side(change.busiest) = busy;
      side(change.which) = cluster.links()[LinkId(l)].name;
    }
  };
  add(
      from, [](auto& pair) -> auto& { return pair.from; });
  add(
      to, [](auto& pair) -> auto& { return pair.to; });
  std::vector<LinksChange> links;
  for (auto& [kind, change] : kinds) links.push_back(std::move(change));
  return links;
}

std::optional<PlanPrice> plan_price(const PlanToCompare& plan) {
  const auto price = price_of(*plan.problem.cluster);
  if (!price) return std::nullopt;
  const Timeline& timeline = *plan.outcome.timeline;
  PlanPrice result;
  result.per_hour = price->total();
  result.used_per_hour = used_per_hour(timeline, *price);
  result.per_step = result.per_hour / 3600 * to_seconds(timeline.step_time);
  result.per_million_samples =
      result.per_step * 1e6 / static_cast<double>(plan.problem.graph->batch());
  return result;
}

}  // namespace strato
