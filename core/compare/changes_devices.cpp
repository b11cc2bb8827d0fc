// Memory and time of devices, what is sent over which links, and what it all costs.
#include <algorithm>
#include <map>
#include <set>

#include "core/cluster/read/cluster_reader.h"
#include "core/compare/changes.h"

namespace strato {
namespace {

constexpr const char* kInMachines = "in machines";
constexpr const char* kBetweenMachines = "between machines";

// The names tell, as the cluster's reader makes them: "v100:0>fabric", "host>v100:0"; "v100>net",
// "network", "v100>p100". No machine's name has a colon.
std::vector<bool> in_machine(const Cluster& cluster) {
  std::vector<bool> result;
  for (const Link& link : cluster.links())
    result.push_back(link.name.find(':') != std::string::npos);
  return result;
}

std::string what_is_sent(const Program& program, const Task& task) {
  if (!task.tensor.valid()) return "other data";
  return std::string(words_for(program.graph->tensor(task.tensor).role));
}

using TrafficMap = std::map<std::pair<std::string, std::string>, TrafficChange>;

void add_traffic(const Timeline& timeline, bool second, TrafficMap& traffic) {
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
    change.bytes.of(second) += task.bytes;
    change.messages.of(second) += 1;
    change.time.of(second) += times.end - times.start;
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
  std::vector<DeviceChange> changes;
  for (const bool second : {true, false}) {  // what the second cluster has comes first
    const Timeline& timeline = second ? to : from;
    for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
      const std::string& name = timeline.program->cluster->device(DeviceId(d)).name;
      const DeviceId known = second ? DeviceId() : to.program->cluster->find_device(name);
      DeviceChange& change = known.valid() ? changes[known.index()] : changes.emplace_back();
      const DeviceUse& use = timeline.devices[DeviceId(d)];
      change.name = name;
      change.device.of(second) = DeviceId(d);
      change.use.of(second) = use;
      change.idle.of(second) = timeline.step_time - use.compute_busy;
    }
  }
  return changes;
}

std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to) {
  TrafficMap found;
  add_traffic(from, false, found);
  add_traffic(to, true, found);
  std::vector<TrafficChange> traffic;
  for (auto& [key, change] : found) traffic.push_back(std::move(change));
  std::ranges::stable_sort(traffic, std::greater(), [](const TrafficChange& change) {
    return std::max(change.bytes.from, change.bytes.to);
  });
  return traffic;
}

std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to) {
  std::map<std::string, LinksChange> kinds;
  for (const bool second : {false, true}) {
    const Timeline& timeline = second ? to : from;
    const Cluster& cluster = *timeline.program->cluster;
    const std::vector<bool> inside = in_machine(cluster);
    for (std::size_t l = 0; l < cluster.links().size(); ++l) {
      const char* kind = inside[l] ? kInMachines : kBetweenMachines;
      LinksChange& change = kinds[kind];
      change.kind = kind;
      const double busy =
          timeline.step_time > Nanos(0) ? timeline.link_busy[LinkId(l)] / timeline.step_time : 0;
      if (busy <= change.busiest.of(second)) continue;
      change.busiest.of(second) = busy;
      change.which.of(second) = cluster.links()[LinkId(l)].name;
    }
  }
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
