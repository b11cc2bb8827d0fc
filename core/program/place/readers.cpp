#include "core/program/place/readers.h"

#include <algorithm>

namespace strato {

bool Readers::are_keepers(TensorId parameter) {
  const OpId update = tables_.tensors[parameter].op;
  const int axis = placement_.split(update)->axis;
  return are_all_of(placement_.homes(update), parameter,
                    [&](OpId reader) { return slices_read_by(reader, parameter).axis == axis; });
}

SliceRead Readers::slices_read_by(OpId op, TensorId tensor) const {
  const LayoutId layout = placement_.layout_id(op);
  if (!placement_.layout(layout).is_split()) return {};
  const std::span<const TensorId> inputs = tables_.inputs(op);
  const auto at = std::find(inputs.begin(), inputs.end(), tensor) - inputs.begin();
  const int axis = placement_.split(op)->inputs[static_cast<std::size_t>(at)];
  return axis < 0 ? SliceRead() : SliceRead{layout, axis};
}

bool Readers::are_scattered(TensorId tensor, const SliceRead& read) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (facts.source != Source::Produced || facts.kind != BatchKind::Partial || read.axis < 0)
    return false;
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (slices_read_by(consumer, tensor) != read) return false;
  const Layout& makers = placement_.layout(facts.op);
  return makers.sharded && have_same_devices(makers, placement_.layout(read.layout));
}

}  // namespace strato
