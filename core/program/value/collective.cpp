#include "core/program/value/collective.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"

namespace strato {

std::vector<DeviceId> members_of(const Program& program, TaskId task) {
  std::vector<DeviceId> members;
  const TaskKind kind = program.tasks[task].kind;
  if (!is_communication(kind) || kind == TaskKind::Transfer) return members;
  for (const ResourceId resource : program.resources[task.index()])
    if (!program.is_link(resource)) members.push_back(Program::device_of(resource));
  return members;
}

std::vector<DeviceId> all_members_of(const Program& program, TaskId task) {
  std::vector<DeviceId> members = members_of(program, task);
  if (!program.is_outline || members.empty()) return members;
  for (const ResourceId resource : program.resources[task.index()])
    if (program.is_link(resource))
      if (const DeviceId owner = program.cluster->links()[program.link_of(resource)].device;
          owner.valid())
        members.push_back(owner);
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

Path path_of(const Program& program, const Task& task) {
  const Cluster& cluster = *program.cluster;
  if (task.kind == TaskKind::Offload) return cluster.path_to_host(task.device);
  if (task.kind == TaskKind::Fetch) return cluster.path_from_host(task.device);
  return cluster.path(task.device, task.target);
}

std::vector<DeviceId> working_devices(const Program& program) {
  std::vector<bool> works(program.cluster->device_count());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    works[task.device.index()] = true;
    if (task.target.valid()) works[task.target.index()] = true;
    for (const DeviceId member : members_of(program, TaskId(i))) works[member.index()] = true;
  }
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < works.size(); ++d)
    if (works[d]) devices.emplace_back(d);
  return devices;
}

std::optional<Collective> collective_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::AllReduce:
      return Collective::AllReduce;
    case TaskKind::AllGather:
      return Collective::AllGather;
    case TaskKind::ReduceScatter:
      return Collective::ReduceScatter;
    case TaskKind::AllToAll:
      return Collective::AllToAll;
    case TaskKind::Reduce:
      return Collective::Reduce;
    case TaskKind::Broadcast:
      return Collective::Broadcast;
    default:
      return std::nullopt;
  }
}

std::vector<TensorId> tensors_of(const Program& program, TaskId task) {
  const Task& of = program.tasks[task];
  std::vector<TensorId> tensors;
  if (of.kind == TaskKind::AllReduce)
    for (const BufferId buffer : program.reads[task.index()])
      if (program.buffers[buffer].device == of.device)
        tensors.push_back(program.buffers[buffer].tensor);
  return tensors.size() > 1 ? tensors : std::vector{of.tensor};
}

CollectiveCost ordered_ring(const Cluster& cluster, const CostModel& cost, Collective kind,
                            std::span<const DeviceId> sequence, Bytes bytes) {
  const auto members = static_cast<std::int64_t>(sequence.size());
  CHECK(members >= 2, "a ring of one");
  CHECK(kind == Collective::AllReduce || kind == Collective::AllGather, "no ring of this kind");
  const auto next = [&](std::size_t i) { return sequence[(i + 1) % sequence.size()]; };
  std::map<LinkId, int> crossings;
  for (std::size_t i = 0; i < sequence.size(); ++i)
    for (const LinkId link : cluster.path(sequence[i], next(i)).links) ++crossings[link];
  const Bytes part((bytes.value + members - 1) / members);
  const std::int64_t steps = (kind == Collective::AllReduce ? 2 : 1) * (members - 1);
  Nanos longest(1), latency;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    // Who has a share of a link's bandwidth takes as long as who has all of it for more bytes, also
    // where transfers were measured.
    const Path& path = cluster.path(sequence[i], next(i));
    double share = path.bandwidth;
    for (const LinkId link : path.links)
      share = std::min(share, cluster.links()[link].bandwidth / crossings[link]);
    const double moved = std::ceil(static_cast<double>(part.value) * (path.bandwidth / share));
    longest = std::max(longest, cost.transfer(path, Bytes(static_cast<std::int64_t>(moved))));
    latency = std::max(latency, path.latency);
  }
  CollectiveCost result;
  result.duration = longest * steps;
  result.latency = std::min(latency * steps, result.duration);
  for (const auto& [link, count] : crossings) result.links.push_back(link);
  return result;
}

}  // namespace strato
