// Which ops are lowered again: those whose layout changed, and those that read from an exchange
// that can change.
#include <algorithm>

#include "core/program/delta/delta_state.h"

namespace strato {

void DeltaLowering::State::find_changed_ops() {
  changed_ops.clear();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpId op(i);
    const bool update = tables().ops[op].kind == TaskKind::Update;
    op_changed[op] = layout_of[op] != lower.placement.layout_id(op) ||
                     (update && homes_of[op] != lower.placement.homes_id(op));
    if (op_changed[op]) changed_ops.push_back(op);
  }
}

void DeltaLowering::State::mark_tensor(TensorId tensor) {
  if (tensor_dirty[tensor]) return;
  tensor_dirty[tensor] = true;
  dirty.push_back(tensor);
}

void DeltaLowering::State::mark_from_changes() {
  std::fill(op_dirty.begin(), op_dirty.end(), false);
  std::fill(tensor_dirty.begin(), tensor_dirty.end(), false);
  dirty.clear();
  for (OpId op : changed_ops) {
    mark_op(op);
    for (TensorId tensor : tables().inputs(op)) mark_tensor(tensor);
    for (TensorId tensor : tables().outputs(op)) mark_tensor(tensor);
  }
  // Sums are reduced in one go where a group says so.
  for (std::size_t g = 0; g < reduces.size(); ++g) {
    if (reduces[GroupId(g)] == (strategy.groups[GroupId(g)]->mode == Mode::ReplicateAllReduce))
      continue;
    for (OpId op : tables().grouping->group(GroupId(g)).ops)
      for (const std::span<const TensorId> tensors : {tables().inputs(op), tables().outputs(op)})
        for (TensorId tensor : tensors)
          if (tables().tensors[tensor].kind == BatchKind::Partial) mark_tensor(tensor);
  }
  for (std::size_t i = 0; i < dirty.size(); ++i) {
    const TensorFacts& facts = tables().tensors[dirty[i]];
    if (facts.source != Source::Resident) lower.exchange.forget_copies(dirty[i]);
    mark_readers(dirty[i], facts.source == Source::Produced && op_changed[facts.op]);
  }
}

// `moved`: what was made stands elsewhere, or is made by other tasks.
void DeltaLowering::State::mark_readers(TensorId tensor, bool moved) {
  const TensorFacts& facts = tables().tensors[tensor];
  if (root[tensor].valid()) mark_op(tables().tensors[root[tensor]].op);
  if (facts.source == Source::Resident) return renew_residents(tensor);
  if (facts.source == Source::Parameter) return mark_parameter_readers(tensor, facts.op);
  const LayoutId at = lower.placement.layout_id(facts.op);
  for (OpId reader : tables().graph->consumers(tensor))
    if (moved || lower.placement.layout_id(reader) != at) mark_op(reader);
}

void DeltaLowering::State::mark_parameter_readers(TensorId tensor, OpId update) {
  const bool moved = homes_of[update] != lower.placement.homes_id(update);
  if (moved) renew_residents(tensor);
  const Layout& homes = lower.placement.homes(update);
  mark_op(update);
  for (OpId reader : tables().graph->consumers(tensor)) {
    const auto& shards = lower.placement.layout(reader).shards;
    const bool at_home = std::all_of(shards.begin(), shards.end(),
                                     [&](const Shard& shard) { return homes.has(shard.device); });
    if (moved || !at_home) mark_op(reader);
  }
}

void DeltaLowering::State::renew_residents(TensorId tensor) {
  const auto add = [&](std::int64_t sign) {
    for (std::size_t d = 0; d < resident.size(); ++d)
      resident[DeviceId(d)] += sign * lower.exchange.resident_bytes(tensor, DeviceId(d));
  };
  add(-1);
  lower.exchange.forget_residents(tensor);
  if (tables().tensors[tensor].source == Source::Parameter) {
    lower.exchange.add_homes(tensor);
  } else {
    for (OpId reader : tables().graph->consumers(tensor))
      lower.exchange.read_resident(reader, tensor);
  }
  add(1);
}

}  // namespace strato
