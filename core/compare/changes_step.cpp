// How a step takes its time and what it needs: causes along the critical path, memory and time of
// devices, what is sent over which links, and what it all costs.
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/vary/changed_cluster.h"
#include "core/compare/changes.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

// --- causes ---

// `other`: what belongs to no tensor.
std::string_view sent_by(const Task& task, const Program& program, std::string_view other) {
  return task.tensor.valid() ? words_for(program.graph->tensor(task.tensor).role) : other;
}

std::string_view collective_words(TaskKind kind) {
  return collective_of(kind) ? name_of(kind) : "transfers";
}

// Devices by name of their kind: "1080ti" for those of the machines "1080ti-0" to "1080ti-3", with
// the GPU's type where a machine has several.
IdVector<DeviceId, std::string> device_kinds(const Cluster& cluster) {
  IdVector<MachineId, std::string> machines(cluster.machines().size());
  for (const MachineKind& kind : machine_kinds(cluster))
    for (const MachineId machine : kind.machines) machines[machine] = kind.name;
  IdVector<DeviceId, std::string> kinds;
  for (const Device& device : cluster.devices()) {
    const std::string& group = cluster.groups()[device.group].name;
    const std::size_t type = std::min(group.find('/'), group.size());  // no machine's name has one
    kinds.push_back(machines[device.machine] + group.substr(type));
  }
  return kinds;
}

std::string cause_of(const PathPiece& piece, const Program& program, const std::string& device) {
  const Task& task = program.tasks[piece.task];
  switch (piece.reason) {
    case Reason::Compute:
      return "computing on " + device;
    case Reason::Reshuffle:
      return "splitting and joining on " + device;
    case Reason::Transfer:
      return fmt::format("transfers of {}", sent_by(task, program, "data"));
    case Reason::Collective:
      return std::string(collective_words(task.kind));
    case Reason::DeviceBusy:
      return "queueing for busy " + device;
    case Reason::LinkBusy:
      return fmt::format("queueing for links behind {}", collective_words(task.kind));
    case Reason::Straggler:
      return "waiting for " + device;
    case Reason::Process:
      return "starting kernels on " + device;
  }
  return {};
}

using CauseMap = std::map<std::pair<Reason, std::string>, Cause>;

void add_causes(const Timeline& timeline, const std::vector<PathPiece>& path, Nanos Cause::*time,
                CauseMap& causes) {
  const Program& program = *timeline.program;
  const auto kinds = device_kinds(*program.cluster);
  for (const PathPiece& piece : path) {
    const std::string text = cause_of(piece, program, kinds[program.tasks[piece.task].device]);
    Cause& cause = causes[{piece.reason, text}];
    cause.reason = piece.reason;
    cause.text = text;
    cause.*time += piece.end - piece.begin;
  }
}

// --- devices, links and money ---

constexpr const char* kInMachines = "in machines";
constexpr const char* kBetweenMachines = "between machines";

// The names tell, as the cluster's reader makes them: "v100:0>fabric", "host>v100:0"; "v100>net",
// "net>v100:0", "network", "v100>p100". No machine's name has a colon.
std::vector<bool> in_machine(const Cluster& cluster) {
  std::vector<bool> result;
  for (const Link& link : cluster.links()) {
    const std::string_view name = link.name;
    result.push_back(name.find(':') != name.npos && !name.ends_with(">net") &&
                     !name.starts_with("net>"));
  }
  return result;
}

using TrafficMap = std::map<std::pair<std::string, std::string>, TrafficChange>;

void add_traffic(const Timeline& timeline, bool second, TrafficMap& traffic) {
  const Program& program = *timeline.program;
  const std::vector<bool> inside = in_machine(*program.cluster);
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!is_communication(task.kind)) continue;
    const bool out = std::ranges::any_of(program.resources[t], [&](ResourceId resource) {
      return program.is_link(resource) && !inside[program.link_of(resource).index()];
    });
    const char* where = out ? kBetweenMachines : kInMachines;
    const std::string what(sent_by(task, program, "other data"));
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

std::string_view words_for(TensorRole role) {
  const bool lives_on = role == TensorRole::Parameter || role == TensorRole::OptimizerState;
  return lives_on ? "parameters" : role == TensorRole::Gradient ? "gradients" : "activations";
}

std::vector<Cause> step_causes(const Timeline& from, const std::vector<PathPiece>& from_path,
                               const Timeline& to, const std::vector<PathPiece>& to_path) {
  CauseMap found;
  add_causes(from, from_path, &Cause::from, found);
  add_causes(to, to_path, &Cause::to, found);
  return largest_first(found, [](const Cause& cause) { return std::abs(cause.change().value); });
}

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
  return largest_first(found, [](const TrafficChange& change) {
    return std::max(change.bytes.from, change.bytes.to);
  });
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
