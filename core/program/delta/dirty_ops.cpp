#include "core/program/delta/dirty_ops.h"

#include <algorithm>

namespace strato {

DirtyOps::DirtyOps(OpLowering& lowering)
    : tables_(lowering.tables()),
      placement_(lowering.placement()),
      copies_(lowering.copies()),
      residents_(lowering.residents()) {
  const std::size_t ops = tables_.graph->op_count();
  layout_of_.resize(ops);
  homes_of_.resize(ops);
  op_changed_.resize(ops);
  op_dirty_.resize(ops);
  reduces_.resize(tables_.grouping->size());
  tensor_dirty_.resize(tables_.tensors.size());
  root_.resize(tables_.tensors.size());
  for (std::size_t t = 0; t < root_.size(); ++t) {
    const TensorId root = root_of(*tables_.graph, TensorId(t));
    if (root != TensorId(t) && tables_.tensors[root].source == Source::Parameter)
      root_[TensorId(t)] = root;
  }
}

void DirtyOps::start(const Strategy& strategy, const std::vector<Resident>& residents) {
  resident_.assign(tables_.cluster->device_count(), Bytes(0));
  for (const Resident& bytes : residents) resident_[bytes.device] += bytes.bytes;
  std::fill(tensor_dirty_.begin(), tensor_dirty_.end(), false);
  remember(strategy);
}

void DirtyOps::remember(const Strategy& strategy) {
  generation_ = placement_.layouts().generation();
  for (std::size_t i = 0; i < layout_of_.size(); ++i) {
    layout_of_[OpId(i)] = placement_.layout_id(OpId(i));
    homes_of_[OpId(i)] = placement_.homes_id(OpId(i));
  }
  for (std::size_t g = 0; g < reduces_.size(); ++g)
    reduces_[GroupId(g)] = strategy.groups[GroupId(g)]->mode == Mode::ReplicateAllReduce;
}

void DirtyOps::find_changed() {
  changed_ops_.clear();
  for (const OpId op : op_changed_.ids()) {
    const bool update = tables_.ops[op].kind == TaskKind::Update;
    const bool moved = update && homes_of_[op] != placement_.homes_id(op);
    op_changed_[op] = static_cast<char>(moved || !layout_stays(op));
    if (op_changed_[op] != 0) changed_ops_.push_back(op);
  }
}

void DirtyOps::mark_tensor(TensorId tensor) {
  if (tensor_dirty_[tensor]) return;
  tensor_dirty_[tensor] = true;
  dirty_.push_back(tensor);
}

void DirtyOps::mark(const Strategy& strategy) {
  std::fill(op_dirty_.begin(), op_dirty_.end(), false);
  std::fill(tensor_dirty_.begin(), tensor_dirty_.end(), false);
  dirty_.clear();
  for (OpId op : changed_ops_) {
    op_dirty_[op] = true;
    for (TensorId tensor : tables_.inputs(op)) mark_tensor(tensor);
    for (TensorId tensor : tables_.outputs(op)) mark_tensor(tensor);
  }
  mark_modes(strategy);
  for (std::size_t next = 0; next < dirty_.size();) {  // more of them come while it goes on
    const TensorId tensor = dirty_[next++];
    const TensorFacts& facts = tables_.tensors[tensor];
    if (facts.source != Source::Resident) copies_.forget_copies(tensor);
    mark_readers(tensor, facts.source == Source::Produced && op_changed_[facts.op]);
  }
}

// Sums are reduced in one go where a group says so.
void DirtyOps::mark_modes(const Strategy& strategy) {
  for (std::size_t g = 0; g < reduces_.size(); ++g) {
    if (reduces_[GroupId(g)] == (strategy.groups[GroupId(g)]->mode == Mode::ReplicateAllReduce))
      continue;
    for (OpId op : tables_.grouping->group(GroupId(g)).ops)
      for (const std::span<const TensorId> tensors : {tables_.inputs(op), tables_.outputs(op)})
        for (TensorId tensor : tensors)
          if (tables_.tensors[tensor].kind == BatchKind::Partial) mark_tensor(tensor);
  }
}

// `moved`: what was made stands elsewhere, or is made by other tasks.
void DirtyOps::mark_readers(TensorId tensor, bool moved) {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (root_[tensor].valid()) op_dirty_[tables_.tensors[root_[tensor]].op] = true;
  if (facts.source == Source::Resident) return renew_residents(tensor);
  if (facts.source == Source::Parameter) return mark_parameter_readers(tensor, facts.op);
  const LayoutId at = placement_.layout_id(facts.op);
  for (OpId reader : tables_.graph->consumers(tensor))
    if (moved || placement_.layout_id(reader) != at) op_dirty_[reader] = true;
}

void DirtyOps::mark_parameter_readers(TensorId tensor, OpId update) {
  const bool moved = homes_of_[update] != placement_.homes_id(update);
  if (moved) renew_residents(tensor);
  const Layout& homes = placement_.homes(update);
  op_dirty_[update] = true;
  for (OpId reader : tables_.graph->consumers(tensor))
    if (moved || !homes.has_all(placement_.layout(reader))) op_dirty_[reader] = true;
}

void DirtyOps::renew_residents(TensorId tensor) {
  const auto add = [&](std::int64_t sign) {
    for (std::size_t d = 0; d < resident_.size(); ++d)
      resident_[DeviceId(d)] += sign * residents_.bytes(tensor, DeviceId(d));
  };
  add(-1);
  residents_.forget(tensor);
  if (tables_.tensors[tensor].source == Source::Parameter) {
    residents_.add_homes(tensor);
  } else {
    for (OpId reader : tables_.graph->consumers(tensor)) residents_.add_reader(reader, tensor);
  }
  add(1);
}

void DirtyOps::mark_readers_of_view(OpId view) {
  for (TensorId output : tables_.outputs(view)) {
    tensor_dirty_[output] = true;
    copies_.forget_copies(output);
    mark_readers(output, true);
  }
}

}  // namespace strato
