#include "core/program/lower/recomputation.h"

#include <algorithm>

#include "core/program/value/recompute.h"

namespace strato {

Recomputation::Recomputation(OpLowering& ops, std::span<const OpId> recomputed) : ops_(ops) {
  if (recomputed.empty()) return;
  const Tables& tables = ops.tables();
  is_again_.resize(tables.graph->op_count());
  for (const OpId op : recomputed) is_again_[op] = may_be_again(op) ? 1 : 0;
  for (const OpId op : is_again_.ids()) {  // a view of what is made again is one of that
    if (!tables.ops[op].alias) continue;
    const OpId viewed = tables.graph->tensor(tables.inputs(op).front()).producer;
    if (viewed.valid()) is_again_[op] = is_again_[viewed];
  }
  done_.resize(static_cast<std::size_t>(tables.micro_batches) * tables.graph->op_count());
  gradients_.resize(tables.cluster->device_count());
}

// With micro-batches what runs once a step stays.
bool Recomputation::may_be_again(OpId op) const {
  const Tables& tables = ops_.tables();
  return may_recompute(*tables.graph, op) && !tables.ops[op].alias && !tables.is_late(op) &&
         (tables.micro_batches == 1 || tables.is_repeated(op));
}

std::vector<OpId> Recomputation::needed_by(OpId reader) {
  const Tables& tables = ops_.tables();
  const auto micro = static_cast<std::size_t>(std::max(ops_.placement().layouts().now().micro, 0));
  char* const done = done_.data() + micro * tables.graph->op_count();
  const Layout& devices = ops_.placement().layout(reader);
  std::vector<OpId> needed, open{reader};
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    for (const TensorId input : tables.inputs(op)) {
      const OpId producer = tables.graph->tensor(input).producer;
      if (!producer.valid() || !is_again_[producer] || done[producer.index()] ||
          !devices.has_all(ops_.placement().layout(producer)))
        continue;
      done[producer.index()] = 1;
      needed.push_back(producer);
      open.push_back(producer);
    }
  }
  std::ranges::sort(needed);
  return needed;
}

// The tasks after which the gradients that it reads are there, by device.
void Recomputation::find_gradients(OpId reader) {
  const Tables& tables = ops_.tables();
  const std::vector<Shard>& shards = ops_.placement().layout(reader).shards;
  for (const Shard& shard : shards) gradients_[shard.device].clear();
  for (std::size_t i = 0; i < tables.inputs(reader).size(); ++i) {
    const OpId producer = tables.graph->tensor(tables.inputs(reader)[i]).producer;
    if (!producer.valid() || is_again_[producer] ||
        tables.graph->op(producer).phase != Phase::Backward)
      continue;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      const Instance gradient = ops_.bring_input(reader, s, i);
      gradients_[gradient.device].push_back(gradient.task);
    }
  }
}

void Recomputation::compute_again_for(OpId reader) {
  if (ops_.tables().graph->op(reader).phase != Phase::Backward || is_again_[reader]) return;
  const std::vector<OpId> needed = needed_by(reader);
  if (needed.empty()) return;
  find_gradients(reader);
  ops_.emitter().marks().again.begin(gradients_);
  for (const OpId op : needed) ops_.lower(op);
  ops_.emitter().marks().again.end();
}

}  // namespace strato
