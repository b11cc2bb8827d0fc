// Parts that all replicas reduce, and update each for itself.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/variable_exchange.h"
#include "core/program/value/ordered_ring.h"

namespace strato {

void VariableExchange::reduce(const SyncedPart& part) {
  const bool gathered = is_gathered(part.sync->encoding);
  const auto known = reduced_.find({part.update, part.index});
  if (known == reduced_.end()) gathered ? all_gather(part) : all_reduce(merged_with(part));
  const std::vector<Term> sums = std::move(reduced_.at({part.update, part.index}));
  for (const Term& sum : sums) update(part, sum.at.device, add_up(part, sum.at.device, {&sum, 1}));
}

// Itself, and those of its merge group on the same devices: in the order of the variables.
std::vector<VariableExchange::SyncedPart> VariableExchange::merged_with(const SyncedPart& part) {
  if (part.sync->merge_group < 0) return {part};
  const auto is_same = [](const Shard& a, const Shard& b) { return a.device == b.device; };
  std::vector<SyncedPart> parts;
  for (const VariableSync& variable : placement_.variables()) {
    const auto& others = placement_.homes(variable.update).shards;
    if (!std::ranges::equal(others, replicas(part), is_same)) continue;
    for (std::size_t i = 0; i < variable.parts.size(); ++i)
      if (variable.parts[i].merge_group == part.sync->merge_group)
        parts.push_back(part_of(variable, i));
  }
  return parts;
}

// Of the part's replicas. Sets members_, too.
CollectiveCost VariableExchange::collective_cost(Collective kind, const SyncedPart& part,
                                                 Bytes bytes) {
  members_.clear();
  for (const Shard& replica : replicas(part)) members_.push_back(replica.device);
  std::vector<DeviceId> sequence;  // devices without samples have dropped out
  for (const DeviceId device : part.sync->sequence)
    if (placement_.homes(part.update).has(device)) sequence.push_back(device);
  if (!sequence.empty())
    return ordered_ring(*tables_.cluster, *tables_.cost, kind, sequence, bytes);
  return exchange_.collective_cost(kind, placement_.homes_id(part.update), bytes);
}

void VariableExchange::set_cost(Task& task, const CollectiveCost& cost) const {
  task.device = members_.front();
  task.duration = std::max(Nanos(1), cost.duration);
  task.latency = std::min(cost.latency, task.duration);
}

// One message for all of them, in place: what they read is nobody else's.
void VariableExchange::all_reduce(std::span<const SyncedPart> parts) {
  const SyncedPart& first = parts.front();
  std::vector<std::vector<Term>> terms;  // by part
  Task task = task_of(TaskKind::AllReduce, first, DeviceId());
  task.encoding = first.sync->encoding;
  task.bytes = Bytes(0);
  for (const SyncedPart& part : parts) {
    std::vector<Term>& of = terms.emplace_back();
    for (std::size_t i = 0; i < replicas(part).size(); ++i)
      of.push_back(cut(part, i, part.sync->encoding, true));
    task.bytes += bytes_of(part, of.front());
    task.priority = std::min(task.priority, exchange_.priority(part.update));
  }
  if (parts.size() > 1) {
    task.axis = -1;
    task.more_cuts = -1;
    task.first_sample = 0;
    task.samples = tables_.batch;
  }
  const CollectiveCost cost = collective_cost(Collective::AllReduce, first, task.bytes);
  set_cost(task, cost);
  const TaskId id = emitter_.next_task();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (Term& term : terms[p]) {
      emitter_.read(term.at);
      term.at.task = id;
      term.at.begin = 0;
      term.at.end = tables_.batch;
    }
    reduced_[{parts[p].update, parts[p].index}] = std::move(terms[p]);
  }
  emitter_.commit_collective(task, members_, cost.links);
}

// Every replica gets every term, as it is encoded.
void VariableExchange::all_gather(const SyncedPart& part) {
  Task task = task_of(TaskKind::AllGather, part, DeviceId());
  task.encoding = part.sync->encoding;
  task.bytes = Bytes(0);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < replicas(part).size(); ++i) {
    terms.push_back(cut(part, i, part.sync->encoding));
    task.bytes += bytes_of(part, terms.back());
  }
  const CollectiveCost cost = collective_cost(Collective::AllGather, part, task.bytes);
  set_cost(task, cost);
  const TaskId id = emitter_.next_task();
  const PartId all = emitter_.parts().find(Part::slice(part.ranges));
  for (Term& term : terms) {
    emitter_.read(term.at);
    term.at = {emitter_.write(part.gradient, term.at.device, task.bytes, all), id, term.at.device,
               0, tables_.batch};
  }
  emitter_.commit_collective(task, members_, cost.links);
  reduced_[{part.update, part.index}] = std::move(terms);
}

}  // namespace strato
