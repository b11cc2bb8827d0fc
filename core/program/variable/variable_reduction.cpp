#include "core/program/variable/variable_reduction.h"

#include <algorithm>

#include "core/program/value/ordered_ring.h"

namespace strato {

void VariableReduction::reduce(const SyncedPart& part) {
  const bool gathered = is_gathered(part.sync->encoding);
  const auto known = reduced_.find({part.update, part.index});
  if (known == reduced_.end()) gathered ? all_gather(part) : all_reduce(merged_with(part));
  const std::vector<GradientTerm> sums = std::move(reduced_.at({part.update, part.index}));
  for (const GradientTerm& sum : sums)
    sync_.update(part, sum.at.device, sync_.add_up(part, sum.at.device, {&sum, 1}));
}

// Itself, and those of its merge group on the same devices: in the order of the variables.
std::vector<SyncedPart> VariableReduction::merged_with(const SyncedPart& part) const {
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
void VariableReduction::commit(Task& task, Collective kind, const SyncedPart& part) {
  const Layout& homes = placement_.homes(part.update);
  std::vector<DeviceId> sequence;  // devices without samples have dropped out
  for (const DeviceId device : part.sync->sequence)
    if (homes.has(device)) sequence.push_back(device);
  const CollectiveCost cost =
      sequence.empty() ? tasks_.collective_cost(kind, placement_.homes_id(part.update), task.bytes)
                       : ordered_ring(*tables_.cluster, *tables_.cost, kind, sequence, task.bytes);
  task.device = homes.shards.front().device;
  task.duration = std::max(Nanos(1), cost.duration);
  task.latency = std::min(cost.latency, task.duration);
  emitter_.commit_collective(task, homes.shards, cost.links);
}

// One message for all of them, in place: what they read is nobody else's.
void VariableReduction::all_reduce(std::span<const SyncedPart> parts) {
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
  if (parts.size() > 1) {
    task.more_cuts = -1;
    ExchangeTasks::set_range(task, tasks_.all_samples());
  }
  const TaskId id = emitter_.next_task();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (GradientTerm& term : terms[p]) {
      emitter_.read(term.at);
      term.at.task = id;
      term.at.part = sync_.part(parts[p], tasks_.all_samples());
    }
    reduced_[{parts[p].update, parts[p].index}] = std::move(terms[p]);
  }
  commit(task, Collective::AllReduce, first);
}

// Every replica gets every term, as it is encoded.
void VariableReduction::all_gather(const SyncedPart& part) {
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
  commit(task, Collective::AllGather, part);
  reduced_[{part.update, part.index}] = std::move(terms);
}

}  // namespace strato
