#include "core/schedule/list/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace strato {

Scheduling::Scheduling(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                       const Options& options)
    : dag_(dag),
      transfers_(transfers),
      options_(options),
      compute_(cluster.device_count()),
      communication_(cluster.device_count()),
      group_at_(at(dag.colocation_count())),
      group_memory_(group_at_.size()) {
  CHECK(cluster.device_count() > 0, "a cluster without devices");
  schedule_.device.resize(dag.size());
  schedule_.start.resize(dag.size());
  schedule_.finish.resize(dag.size());
  schedule_.memory.resize(cluster.device_count());
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    type_.push_back(cluster.device(DeviceId(d)).type);
    capacity_.push_back(cluster.gpu(DeviceId(d)).memory);
    left_.emplace_back(static_cast<std::int64_t>(
        std::floor(static_cast<double>(capacity_.back().value) * options.memory)));
  }
  for (const NodeIndex node : dag.nodes())
    if (const std::int32_t group = dag.colocation(node); group >= 0)
      group_memory_[at(group)] += dag.memory(node);
}

std::optional<DeviceId> Scheduling::demanded(NodeIndex node) const {
  const std::int32_t group = dag_.colocation(node);
  const DeviceId there = group < 0 ? DeviceId() : group_at_[at(group)];
  return there.valid() ? std::optional(there) : std::nullopt;
}

bool Scheduling::has_room(NodeIndex node, DeviceId device) const {
  if (const auto there = demanded(node)) return *there == device;
  return needed(node) <= left_[device.index()];
}

void Scheduling::take_memory(NodeIndex node, DeviceId device) {
  schedule_.memory[device.index()] += dag_.memory(node);
  if (demanded(node)) return;
  left_[device.index()] -= needed(node);
  if (dag_.colocation(node) >= 0) group_at_[at(dag_.colocation(node))] = device;
}

// Transfers are sent one by one: each finds the streams as the ones before it leave them. All of
// them take the receiver's stream, so a sender's own transfers to it are never at one time.
std::vector<Scheduling::Transfer> Scheduling::transfers_to(NodeIndex node, DeviceId device) const {
  std::vector<Transfer> result;
  for (const DagEdge& edge : dag_.predecessors(node)) {
    const DeviceId from = this->device(edge.node);
    result.push_back(
        {from, finish(edge.node), transfers_.time(edge.edge, from, device), finish(edge.node)});
  }
  std::ranges::stable_sort(result, {}, &Transfer::ready);
  DeviceTimeline planned;
  const DeviceTimeline& receiver = communication_[device.index()];
  for (Transfer& transfer : result) {
    if (transfer.from == device || transfer.duration <= Nanos()) continue;
    const DeviceTimeline* streams[] = {&communication_[transfer.from.index()], &receiver, &planned};
    for (Nanos before(-1); before != transfer.start;) {  // until all three are idle
      before = transfer.start;
      for (const DeviceTimeline* stream : streams)
        transfer.start = stream->earliest(transfer.start, transfer.duration, options_.insert);
    }
    planned.occupy(transfer.start, transfer.duration);
  }
  return result;
}

Nanos Scheduling::inputs_at(NodeIndex node, DeviceId device) const {
  Nanos ready;
  if (options_.transfers_are_tasks) {
    for (const Transfer& transfer : transfers_to(node, device))
      ready = std::max(ready, transfer.start + transfer.duration);
    return ready;
  }
  for (const DagEdge& edge : dag_.predecessors(node))
    ready = std::max(
        ready, finish(edge.node) + transfers_.time(edge.edge, this->device(edge.node), device));
  return ready;
}

Nanos Scheduling::send_inputs(NodeIndex node, DeviceId device) {
  if (!options_.transfers_are_tasks) return inputs_at(node, device);
  Nanos ready;
  for (const Transfer& transfer : transfers_to(node, device)) {
    ready = std::max(ready, transfer.start + transfer.duration);
    if (transfer.from == device) continue;
    communication_[transfer.from.index()].occupy(transfer.start, transfer.duration);
    communication_[device.index()].occupy(transfer.start, transfer.duration);
  }
  return ready;
}

Nanos Scheduling::earliest_start(NodeIndex node, DeviceId device) const {
  return compute_[device.index()].earliest(inputs_at(node, device), time_on(node, device),
                                           options_.insert);
}

Nanos Scheduling::earliest_finish(NodeIndex node, DeviceId device) const {
  return earliest_start(node, device) + time_on(node, device);
}

void Scheduling::place(NodeIndex node, DeviceId device) {
  CHECK(!is_placed(node), "a node is placed once");
  for (const DagEdge& edge : dag_.predecessors(node))
    CHECK(is_placed(edge.node), "a node is placed after its predecessors");
  CHECK(demanded(node).value_or(device) == device, "a co-location group is on one device");
  const Nanos ready = send_inputs(node, device), time = time_on(node, device);
  DeviceTimeline& timeline = compute_[device.index()];
  const Nanos start = timeline.earliest(ready, time, options_.insert);
  timeline.occupy(start, time);
  take_memory(node, device);
  schedule_.device[at(node)] = device;
  schedule_.start[at(node)] = start;
  schedule_.finish[at(node)] = start + time;
  schedule_.makespan = std::max(schedule_.makespan, start + time);
  ++placed_;
}

DeviceId Scheduling::emptiest() const {
  return DeviceId(static_cast<std::size_t>(std::ranges::max_element(left_) - left_.begin()));
}

Schedule Scheduling::finished() && {
  CHECK(placed_ == dag_.size(), "every node is placed");
  for (std::size_t d = 0; d < capacity_.size(); ++d)
    schedule_.fits = schedule_.fits && schedule_.memory[d] <= capacity_[d];
  return std::move(schedule_);
}

}  // namespace strato
