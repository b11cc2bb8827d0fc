// Ops that the strategy splits along another axis than the batch (FastT 5.2).
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/program/place/placement.h"

namespace strato {
namespace {

std::int64_t extent_of(const Graph& graph, OpId id, int axis) {
  const Op& op = graph.op(id);
  const TensorId made = op.outputs.empty() ? op.inputs.front() : op.outputs.front();
  return graph.tensor(made).shape[static_cast<std::size_t>(axis)];
}

// By the op's distinct inputs. One that is read in two ways is needed as a whole.
std::vector<int> axes_of_inputs(const Op& op, const SplitAxis& axes,
                                std::span<const TensorId> inputs) {
  std::vector<int> result;
  for (const TensorId input : inputs) {
    int axis = -1;
    bool first = true;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != input) continue;
      axis = first || axis == axes.inputs[i] ? axes.inputs[i] : -1;
      first = false;
    }
    result.push_back(axis);
  }
  return result;
}

}  // namespace

const PlacedSplit& Placement::split(OpId op) const {
  const auto at =
      std::lower_bound(splits_.begin(), splits_.end(), op,
                       [](const PlacedSplit& split, OpId wanted) { return split.op < wanted; });
  CHECK(at != splits_.end() && at->op == op, "the op is not split");
  return *at;
}

// Parts in the order of the devices; a device without an index of the axis drops out.
LayoutId Placement::intern_parts(const OpSplit& split, std::int64_t extent) {
  CHECK(extent < std::numeric_limits<std::int32_t>::max(), "an axis that is too long");
  const std::vector<std::int64_t> sizes = apportion(extent, split.parts);
  std::vector<std::int32_t> key, cuts = {0};
  scratch_.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    const DeviceId device = split.parts[i].device;
    const GpuTypeId gpu = tables_.cluster->device(device).type;
    scratch_.push_back({device, 0, tables_.batch, tables_.column(gpu, tables_.batch)});
    cuts.push_back(cuts.back() + static_cast<std::int32_t>(sizes[i]));
    key.push_back(device.value());
    key.push_back(cuts.back());
  }
  CHECK(!scratch_.empty(), "a split op without parts");
  if (scratch_.size() == 1) return scratch_[0].device.value();
  const auto [at, fresh] = split_layouts_.try_emplace(std::move(key));
  if (fresh) {
    at->second = add(false);
    layouts_.back().layout.cuts = std::move(cuts);
  }
  return at->second;
}

void Placement::place_split(const OpSplit& split) {
  const std::vector<SplitAxis>& axes = tables_.split_axes(split.op);
  const auto known = std::find_if(axes.begin(), axes.end(), [&](const SplitAxis& candidate) {
    return candidate.axis == split.axis;
  });
  CHECK(known != axes.end(), "an op is split along an axis that does not divide it");
  CHECK(!tables_.ops[split.op].alias, "an op without a task is split");
  const Op& op = tables_.graph->op(split.op);
  splits_.push_back({split.op, split.axis, axes_of_inputs(op, *known, tables_.inputs(split.op)),
                     layout_of_[split.op]});
  layout_of_[split.op] = intern_parts(split, extent_of(*tables_.graph, split.op, split.axis));
}

// A split op's result is whole, also where shards would make sums over their samples: what reads
// such sums cannot be sharded then.
void Placement::place_splits(std::span<const OpSplit> splits) {
  auto next = splits.begin();
  for (std::size_t i = 0; i < layout_of_.size(); ++i) {  // ascending: producers come first
    const OpId op(i);
    const GroupLayouts& layouts = of_group_[tables_.grouping->group_of(op)];
    if (next != splits.end() && next->op == op) {
      place_split(*next++);
    } else if (layouts.whole >= 0 && layout_of_[op] == layouts.sharded &&
               !may_shard(op, layouts.sharded)) {
      layout_of_[op] = layouts.whole;
    }
  }
  CHECK(next == splits.end(), "split ops are out of order or of another graph");
}

// Groups that are decided as before keep their layouts.
void Placement::take_splits_back() {
  for (const PlacedSplit& split : splits_) layout_of_[split.op] = split.displaced;
  splits_.clear();
}

}  // namespace strato
