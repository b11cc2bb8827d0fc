// Parts that a server sums up, updates and sends back (Reduce, Broadcast).
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/program/exchange/variable_exchange.h"

namespace strato {

// Where a replica sends its term, and has the new value from. In the server's machine that is the
// server.
DeviceId VariableExchange::station_of(const SyncedPart& part, DeviceId replica) const {
  const MachineId machine = tables_.cluster->device(replica).machine;
  if (machine == tables_.cluster->device(part.sync->server).machine) return part.sync->server;
  for (const DeviceId station : part.sync->stations)
    if (tables_.cluster->device(station).machine == machine) return station;
  return part.sync->server;
}

VariableExchange::Term VariableExchange::send(const SyncedPart& part, const Term& term,
                                              DeviceId to) {
  const Path& path = tables_.cluster->path(term.at.device, to);
  Task task = task_of(TaskKind::Transfer, part, term.at.device);
  if (!is_cut(part)) {
    task.first_sample = term.at.begin;
    task.samples = term.at.end - term.at.begin;
  }
  task.target = to;
  task.encoding = term.encoding;
  task.bytes = bytes_of(part, term);
  task.duration = std::max(Nanos(1), tables_.cost->transfer(path, task.bytes));
  task.latency = std::min(path.latency, task.duration);
  emitter_.read(term.at);
  Term sent = term;
  sent.at.device = to;
  sent.at.slot = -1;
  sent.at.buffer = emitter_.write(part.gradient, to, task.bytes, part_at(part, term.at));
  sent.at.task = emitter_.commit_transfer(task);
  if (!term.at.task.valid()) readers_[term.at.device].push_back(sent.at.task);
  return sent;
}

// The sum of the terms that replicas send to a station, as it is sent on.
VariableExchange::Term VariableExchange::collect(const SyncedPart& part, DeviceId station) {
  std::vector<Term> terms;
  const auto all = replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].device == part.sync->server || station_of(part, all[i].device) != station) continue;
    const bool here = all[i].device == station;
    terms.push_back(here ? cut(part, i, Encoding::None) : send(part, outgoing(part, i), station));
  }
  if (terms.size() == 1 && terms[0].encoding == part.sync->encoding) return terms[0];
  return encode(part, add_up(part, station, terms));
}

void VariableExchange::serve(const SyncedPart& part) {
  const DeviceId server = part.sync->server;
  std::vector<DeviceId> collected;
  std::vector<Term> terms;
  const auto all = replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DeviceId replica = all[i].device, station = station_of(part, replica);
    if (replica == server) {
      terms.push_back(cut(part, i, Encoding::None));
    } else if (station == server) {
      terms.push_back(send(part, outgoing(part, i), server));
    } else if (std::ranges::find(collected, station) == collected.end()) {
      collected.push_back(station);
      terms.push_back(send(part, collect(part, station), server));
    }
  }
  if (part.staleness < 2) return send_back(part, update(part, server, add_up(part, server, terms)));
  Instance kept;
  kept.device = server;
  const TaskId updated = update(part, server, {kept, Encoding::None});
  keep_sum(part, add_up(part, server, terms), updated);
  send_back(part, updated);
}

// In place where the target keeps the parameter.
Instance VariableExchange::send_value(const SyncedPart& part, const Instance& from, DeviceId to) {
  const Path& path = tables_.cluster->path(from.device, to);
  Task task = task_of(TaskKind::Transfer, part, from.device);
  task.op = part.update;
  task.tensor = part.parameter;
  task.target = to;
  task.duration = std::max(Nanos(1), tables_.cost->transfer(path, task.bytes));
  task.latency = std::min(path.latency, task.duration);
  emitter_.read(from);
  Instance sent;
  sent.device = to;
  sent.end = tables_.batch;
  if (placement_.homes(part.update).has(to))
    emitter_.overwrite(tables_.tensors[part.parameter].slot, to);
  else
    sent.buffer = emitter_.write(part.parameter, to, task.bytes, part_at(part, sent));
  sent.task = emitter_.commit_transfer(task);
  return sent;
}

// To the stations first: they have others to send it to.
void VariableExchange::send_back(const SyncedPart& part, TaskId updated) {
  const DeviceId server = part.sync->server;
  Instance value;
  value.task = updated;
  value.device = server;
  std::map<DeviceId, Instance> at;  // stations
  for (const Shard& replica : replicas(part)) {
    const DeviceId station = station_of(part, replica.device);
    if (station != server && !at.contains(station)) at[station] = send_value(part, value, station);
  }
  at[server] = value;
  for (const Shard& replica : replicas(part))
    if (!at.contains(replica.device))
      send_value(part, at.at(station_of(part, replica.device)), replica.device);
}

}  // namespace strato
