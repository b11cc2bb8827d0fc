#include "core/program/variable/variable_exchange.h"

#include <algorithm>

#include "core/program/value/collective.h"

namespace strato {

void VariableExchange::lower(OpId update) {
  const VariableSync& variable = *placement_.variables().find(update);
  const TaskId since = emitter_.next_task();
  for (std::size_t i = 0; i < variable.parts.size(); ++i) {
    const SyncedPart part = sync_.part_of(variable, i);
    part.sync->synchroniser == Synchroniser::Ps ? serve(part) : reduce(part);
  }
  if (variable.staleness > 0) keep_gradients(sync_.part_of(variable, 0), since);
}

// When nothing reads any more what was kept before: the Splits and Transfers of the gradient since
// that task which read no buffer.
void VariableExchange::keep_gradients(const SyncedPart& first, TaskId since) {
  SyncedPart whole = first;
  whole.box = {};
  const TaskId end = emitter_.next_task();
  const Program& program = emitter_.program();
  const Bytes bytes = std::max(Bytes(1), program.graph->tensor(whole.gradient).bytes());
  for (std::size_t i = 0; i < sync_.replicas(whole).size(); ++i) {
    const Instance made = copies_.of_shard(whole.gradient, i);
    for (std::size_t t = since.index(); t < end.index(); ++t) {
      const Task& task = program.tasks[TaskId(t)];
      const bool takes = task.kind == TaskKind::Split || task.kind == TaskKind::Transfer;
      if (takes && task.tensor == whole.gradient && task.device == made.device &&
          program.reads[t].empty())
        emitter_.depend(TaskId(t));
    }
    sync_.keep(whole, made, bytes);
  }
}

// ---- parts that all replicas reduce, and update each for itself

void VariableExchange::reduce(const SyncedPart& part) {
  const bool gathered = is_gathered(part.sync->encoding);
  const auto known = reduced_.find({part.update, part.index});
  if (known == reduced_.end()) gathered ? all_gather(part) : all_reduce(merged_with(part));
  const std::vector<GradientTerm> sums = std::move(reduced_.at({part.update, part.index}));
  for (const GradientTerm& sum : sums)
    sync_.update(part, sum.at.device, sync_.add_up(part, sum.at.device, {&sum, 1}));
}

// Itself, and those of its merge group on the same devices: in the order of the variables.
std::vector<SyncedPart> VariableExchange::merged_with(const SyncedPart& part) const {
  if (part.sync->merge_group < 0) return {part};
  std::vector<SyncedPart> parts;
  for (const VariableSync& variable : placement_.variables().all()) {
    if (!have_same_devices(placement_.homes(variable.update), placement_.homes(part.update)))
      continue;
    for (std::size_t i = 0; i < variable.parts.size(); ++i)
      if (variable.parts[i].merge_group == part.sync->merge_group)
        parts.push_back(sync_.part_of(variable, i));
  }
  return parts;
}

// Of the part's replicas, with the task's bytes.
void VariableExchange::commit(Task& task, const SyncedPart& part) {
  const Layout& homes = placement_.homes(part.update);
  std::vector<DeviceId> sequence;  // devices without samples have dropped out
  for (const DeviceId device : part.sync->sequence)
    if (homes.has(device)) sequence.push_back(device);
  const CollectiveCost cost =
      sequence.empty()
          ? tasks_.collective_cost(task.kind, placement_.homes_id(part.update), task.bytes)
          : ordered_ring(*tables_.cluster, *tables_.cost, *collective_of(task.kind), sequence,
                         task.bytes);
  task.device = homes.shards.front().device;
  task.duration = std::max(Nanos(1), cost.duration);
  task.latency = std::min(cost.latency, task.duration);
  emitter_.commit_collective(task, homes.shards, cost.links);
}

// One message for all of them, in place: what they read is nobody else's.
void VariableExchange::all_reduce(std::span<const SyncedPart> parts) {
  const SyncedPart& first = parts.front();
  std::vector<std::vector<GradientTerm>> terms;  // by part
  Task task = sync_.task_of(TaskKind::AllReduce, first, DeviceId());
  task.encoding = first.sync->encoding;
  task.bytes = Bytes(0);
  for (const SyncedPart& part : parts) {
    std::vector<GradientTerm>& of = terms.emplace_back();
    for (std::size_t i = 0; i < sync_.replicas(part).size(); ++i)
      of.push_back(sync_.cut(part, i, part.sync->encoding, true));
    task.bytes += sync_.bytes_of(part, of.front());
    task.priority = std::min(task.priority, tasks_.priority(part.update));
  }
  if (parts.size() > 1) task.part = kWhole;
  const TaskId id = emitter_.next_task();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (GradientTerm& term : terms[p]) {
      emitter_.read(term.at);
      term.at.task = id;
      term.at.part = sync_.part(parts[p], tasks_.all_samples());
    }
    reduced_[{parts[p].update, parts[p].index}] = std::move(terms[p]);
  }
  commit(task, first);
}

// Every replica gets every term, as it is encoded.
void VariableExchange::all_gather(const SyncedPart& part) {
  Task task = sync_.task_of(TaskKind::AllGather, part, DeviceId());
  task.encoding = part.sync->encoding;
  task.bytes = Bytes(0);
  std::vector<GradientTerm> terms;
  for (std::size_t i = 0; i < sync_.replicas(part).size(); ++i) {
    terms.push_back(sync_.cut(part, i, part.sync->encoding));
    task.bytes += sync_.bytes_of(part, terms.back());
  }
  const TaskId id = emitter_.next_task();
  const PartId all = sync_.part(part, tasks_.all_samples());
  for (GradientTerm& term : terms) {
    emitter_.read(term.at);
    const DeviceId device = term.at.device;
    term.at = {emitter_.write(part.gradient, device, task.bytes, all), id, device, all};
  }
  commit(task, part);
  reduced_[{part.update, part.index}] = std::move(terms);
}

// ---- parts that a server sums up, updates and sends back

DeviceId VariableExchange::station_of(const SyncedPart& part, DeviceId replica) const {
  const MachineId machine = tables_.cluster->device(replica).machine;
  if (machine == tables_.cluster->device(part.sync->server).machine) return part.sync->server;
  for (const DeviceId station : part.sync->stations)
    if (tables_.cluster->device(station).machine == machine) return station;
  return part.sync->server;
}

// The sum of the terms that replicas send to a station, as it is sent on.
GradientTerm VariableExchange::collect(const SyncedPart& part, DeviceId station) {
  std::vector<GradientTerm> terms;
  const auto all = sync_.replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].device == part.sync->server || station_of(part, all[i].device) != station) continue;
    const bool here = all[i].device == station;
    terms.push_back(here ? sync_.cut(part, i, Encoding::None)
                         : sync_.send(part, sync_.outgoing(part, i), station));
  }
  if (terms.size() == 1 && terms[0].encoding == part.sync->encoding) return terms[0];
  return sync_.encode(part, sync_.add_up(part, station, terms));
}

std::vector<GradientTerm> VariableExchange::terms_at_server(const SyncedPart& part) {
  const DeviceId server = part.sync->server;
  std::vector<DeviceId> collected;
  std::vector<GradientTerm> terms;
  const auto all = sync_.replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DeviceId replica = all[i].device, station = station_of(part, replica);
    if (replica == server) {
      terms.push_back(sync_.cut(part, i, Encoding::None));
    } else if (station == server) {
      terms.push_back(sync_.send(part, sync_.outgoing(part, i), server));
    } else if (std::ranges::find(collected, station) == collected.end()) {
      collected.push_back(station);
      terms.push_back(sync_.send(part, collect(part, station), server));
    }
  }
  return terms;
}

// From staleness 2 on the update begins with the sum that was kept, and this step's sum is kept.
void VariableExchange::serve(const SyncedPart& part) {
  const DeviceId server = part.sync->server;
  const std::vector<GradientTerm> terms = terms_at_server(part);
  if (part.staleness < 2)
    return send_back(part, sync_.update(part, server, sync_.add_up(part, server, terms)));
  Instance kept;
  kept.device = server;
  const TaskId updated = sync_.update(part, server, {kept, Encoding::None});
  const GradientTerm sum = sync_.add_up(part, server, terms);
  emitter_.depend(updated);
  sync_.keep(part, sum.at, part.bytes);
  send_back(part, updated);
}

// To the stations first: they have others to send it to.
void VariableExchange::send_back(const SyncedPart& part, TaskId updated) {
  const DeviceId server = part.sync->server;
  Instance value;
  value.task = updated;
  value.device = server;
  std::map<DeviceId, Instance> at;  // stations
  for (const Shard& replica : sync_.replicas(part)) {
    const DeviceId station = station_of(part, replica.device);
    if (station != server && !at.contains(station))
      at[station] = sync_.send_value(part, value, station);
  }
  at[server] = value;
  for (const Shard& replica : sync_.replicas(part))
    if (!at.contains(replica.device))
      sync_.send_value(part, at.at(station_of(part, replica.device)), replica.device);
}

}  // namespace strato
