#include "core/program/copies/activation_gathers.h"

#include <algorithm>
#include <utility>

namespace strato {

void ActivationGathers::start() {
  are_any_ = false;
  for (const OpId op : tables_.ops.ids()) {
    const Layout& layout = placement_.layout(op);
    are_any_ = are_any_ || (layout.is_mesh && layout.column_parts * layout.context_parts > 1);
  }
  if (!are_any_) return;
  first_ = emitter_.next_task();
  pass_ = 0;
  of_.assign(tables_.tensors.size(), -1);
  computed_.assign(tables_.cluster->device_count(), {});
}

void ActivationGathers::begin(OpId op) {
  find_computed();
  const bool backward =
      emitter_.marks().again.is_on() || tables_.graph->op(op).phase == Phase::Backward;
  pass_ = 2 * std::max(placement_.layouts().now().micro, 0) + (backward ? 1 : 0);
  first_ = emitter_.next_task();
}

void ActivationGathers::find_computed() {
  if (pass_ % 2 == 0) return;
  const IdVector<TaskId, Task>& tasks = emitter_.program().tasks;
  for (TaskId id = first_; id < emitter_.next_task(); id = TaskId(id.index() + 1)) {
    if (tasks[id].kind != TaskKind::Compute) continue;
    Computed& computed = computed_[tasks[id].device];
    if (computed.pass != pass_) computed = {pass_, {}, {}};
    computed.before = std::exchange(computed.last, id);
  }
}

// Not of parameters, or what is cast of them (ParameterGathers).
bool ActivationGathers::is_of_each_pass(TensorId tensor) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  return facts.source == Source::Produced && facts.kind == BatchKind::Batched &&
         tables_.graph->op(facts.op).phase == Phase::Forward;
}

void ActivationGathers::read(TensorId tensor) {
  if (!are_any_ || std::exchange(of_[tensor], pass_) == pass_ || !is_of_each_pass(tensor)) return;
  copies_.forget_gathered(tensor);
}

void ActivationGathers::limit_ahead(TensorId tensor, std::span<const Shard> devices) {
  if (!are_any_ || pass_ % 2 == 0 || !is_of_each_pass(tensor)) return;
  for (const Shard& shard : devices)
    if (const Computed& computed = computed_[shard.device];
        computed.pass == pass_ && computed.before.valid())
      emitter_.depend(computed.before);
}

}  // namespace strato
