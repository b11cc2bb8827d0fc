#include "core/program/copies/parameter_gathers.h"

#include <algorithm>

namespace strato {

bool gathers_each_pass(const Tables& tables, const Placement& placement) {
  return std::ranges::any_of(tables.updates, [&](OpId update) {
    return placement.layout(update).sharers > 1 &&
           placement.decision(update).roles.states.stage >= 3;
  });
}

void ParameterGathers::start() {
  of_each_pass_ = gathers_each_pass(tables_, placement_);
  op_ = OpId();
  gathers_ = false;
  if (!of_each_pass_) return;
  of_.assign(tables_.tensors.size(), -1);
  computed_.assign(tables_.cluster->device_count(), {});
}

void ParameterGathers::begin(OpId op) {
  find_computed();
  const bool backward =
      emitter_.marks().again.is_on() || tables_.graph->op(op).phase == Phase::Backward;
  pass_ = 2 * std::max(placement_.layouts().now().micro, 0) + (backward ? 1 : 0);
  op_ = op;
  gathers_ = false;
  first_ = emitter_.next_task();
}

void ParameterGathers::find_computed() {
  if (!gathers_) return;
  const IdVector<TaskId, Task>& tasks = emitter_.program().tasks;
  for (TaskId id = first_; id < emitter_.next_task(); id = TaskId(id.index() + 1))
    if (tasks[id].kind == TaskKind::Compute && tasks[id].op == op_)
      computed_[tasks[id].device].push_back(id);
}

void ParameterGathers::read(TensorId parameter) {
  if (!is_of_each_pass(parameter) || of_[parameter] == pass_) return;
  of_[parameter] = pass_;
  copies_.forget_copies(parameter);
}

void ParameterGathers::limit_ahead(TensorId parameter, std::span<const Shard> devices) {
  constexpr std::size_t kAhead = 2;
  if (!is_of_each_pass(parameter)) return;
  gathers_ = true;
  for (const Shard& shard : devices)
    if (const std::vector<TaskId>& all = computed_[shard.device]; all.size() >= kAhead)
      emitter_.depend(all[all.size() - kAhead]);
}

}  // namespace strato
