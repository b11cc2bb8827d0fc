// Which ops are lowered again after a change: those whose layout changed, and those that read from
// an exchange that can change. Knows the layouts and residents of the strategy that was lowered
// last. Not thread safe.
#pragma once

#include <vector>

#include "core/program/lower/op_lowering.h"
#include "core/strategy/value/strategy.h"

namespace strato {

class DirtyOps {
 public:
  explicit DirtyOps(OpLowering& lowering);
  // The strategy that is placed is the one that was lowered last: `residents` are all of its.
  void start(const Strategy& strategy, const std::vector<Resident>& residents);

  // Compares the strategy that is placed now with the one before; and marks what can differ.
  void find_changed();
  std::size_t changed_count() const { return changed_ops_.size(); }
  void mark(const Strategy& strategy);
  // What a view is a view of stands elsewhere.
  void mark_readers_of_view(OpId view);
  // All is lowered: the strategy that is placed is now the one before.
  void remember(const Strategy& strategy);

  bool is_dirty(OpId op) const { return op_dirty_[op]; }
  bool is_dirty(TensorId tensor) const { return tensor_dirty_[tensor]; }
  bool layout_stays(OpId op) const { return layout_of_[op] == placement_.layout_id(op); }
  std::uint32_t generation() const { return generation_; }  // of the layouts; see Placement
  Bytes resident(DeviceId device) const { return resident_[device]; }

 private:
  void mark_tensor(TensorId tensor);
  void mark_modes(const Strategy& strategy);
  void mark_readers(TensorId tensor, bool moved);
  void mark_parameter_readers(TensorId tensor, OpId update);
  void renew_residents(TensorId tensor);

  const Tables& tables_;
  const Placement& placement_;
  Copies& copies_;
  Residents& residents_;

  // Of the strategy before.
  std::uint32_t generation_ = 0;
  IdVector<OpId, LayoutId> layout_of_, homes_of_;
  IdVector<GroupId, bool> reduces_;
  IdVector<DeviceId, Bytes> resident_;

  // Of the change.
  IdVector<OpId, char> op_changed_, op_dirty_;
  std::vector<OpId> changed_ops_;
  IdVector<TensorId, char> tensor_dirty_;
  std::vector<TensorId> dirty_;
  IdVector<TensorId, TensorId> root_;  // of views of parameters: the parameter
};

}  // namespace strato
