// Finds what must carry the batch so that a tensor does that so far is Whole: masks, positions and
// scales, which models make of shapes and constants, are equal along the batch or follow from the
// sample's index alone, so that each shard can have its own slice of them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/value/graph.h"

namespace strato {

// Shards may have their slices of these: they are read, not computed.
inline bool can_be_cut(const Tensor& tensor) {
  return tensor.role == TensorRole::Input || tensor.role == TensorRole::Constant;
}

// Borrows the ops and tensors of one batch-axis analysis, whose layouts are as far as it got. No
// tensor is changed but while a method runs. Not thread-safe.
class BatchDemands {
 public:
  BatchDemands(const IdVector<OpId, Op>& ops, IdVector<TensorId, Tensor>& tensors,
               std::int64_t batch)
      : ops_(ops), tensors_(tensors), batch_(batch) {}

  // Returns the layouts, by tensor, with which the demand is met: inputs and constants are sliced,
  // and ops that have nothing but these compute slices. Nothing: it cannot be met, because a
  // parameter would have to be sliced, or an op in between mixes what it reads; this is kept in
  // mind until forget().
  using Layouts = std::map<TensorId, BatchLayout>;
  std::optional<Layouts> met(const BatchFlow::Demand& demand);
  void forget() { refused_.clear(); }

 private:
  using Wanted = std::vector<BatchFlow::Demand>;

  bool can_start(TensorId id, const BatchLayout& layout) const;
  std::optional<Wanted> wanted_by(const Op& op, const BatchLayout& result);
  std::optional<Wanted> tried(const Op& op, const BatchLayout& result, Wanted asked);
  bool makes_slices(const Op& op, int axis) const;

  const IdVector<OpId, Op>& ops_;
  IdVector<TensorId, Tensor>& tensors_;
  std::int64_t batch_;
  std::map<TensorId, BatchLayout> refused_;
};

}  // namespace strato
