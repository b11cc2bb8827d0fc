#include "core/program/exchange/readers.h"

#include <algorithm>

namespace strato {

bool Readers::are_keepers(TensorId parameter) {
  const LayoutId homes = placement_.homes_id(tables_.tensors[parameter].op);
  const int axis = copies_.divided_axis(parameter);
  return are_all_of(placement_.layout(homes), parameter,
                    [&](OpId reader) { return slices_read_by(reader, parameter).axis == axis; });
}

SliceRead Readers::slices_read_by(OpId op, TensorId tensor) const {
  const LayoutId layout = placement_.layout_id(op);
  if (!placement_.layout(layout).is_split()) return {};
  const std::span<const TensorId> inputs = tables_.inputs(op);
  const auto at = std::find(inputs.begin(), inputs.end(), tensor) - inputs.begin();
  const int axis = placement_.split(op).inputs[static_cast<std::size_t>(at)];
  return axis < 0 ? SliceRead() : SliceRead{layout, axis};
}

bool Readers::are_scattered(TensorId tensor, const SliceRead& read) const {
  const Copies::Made& made = copies_.made(tensor);
  if (made.form != Copies::Form::Partials || read.axis < 0) return false;
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (slices_read_by(consumer, tensor) != read) return false;
  return have_same_devices(placement_.layout(made.layout), placement_.layout(read.layout));
}

bool Readers::allow_sum_in_place(TensorId tensor) const {
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (placement_.layout(consumer).sharded) return false;
  const std::size_t shards = placement_.layout(copies_.made(tensor).layout).shards.size();
  for (std::size_t i = 0; i < shards; ++i)
    if (!copies_.of_shard(tensor, i).exclusive) return false;
  return true;
}

}  // namespace strato
