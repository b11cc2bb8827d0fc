// Makes a graph. Not thread-safe; the graph that it makes is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/graph/value/graph.h"

namespace strato {

// Collects ops and tensors in any order; build() orders, checks and annotates them.
class GraphBuilder {
 public:
  // `file` is used in error messages.
  GraphBuilder(std::string name, std::int64_t batch, std::string file = {});

  // Producers are set by build(); role, type and shape must be final before. `batch` of an Input or
  // a Constant that carries the samples on an axis other than the first is set by the caller; an
  // Input's first axis is the batch when its extent is the batch size.
  TensorId add_tensor(Tensor tensor);
  OpId add_op(Op op);  // the id is valid in this builder only: build() renumbers
  Tensor& tensor(TensorId id) { return tensors_[id]; }
  Op& op(OpId id) { return ops_[id]; }
  const IdVector<TensorId, Tensor>& tensors() const { return tensors_; }
  std::size_t tensor_count() const { return tensors_.size(); }
  std::size_t op_count() const { return ops_.size(); }

  // Orders ops topologically (stable: by insertion among the ready ones) and renumbers them;
  // tensors keep their ids. Makes names of ops and tensors unique, fills family, work, view,
  // estimated (catalogue) and batch layouts and splittability (batch-axis analysis), computes the
  // digest. Throws InputError for a cycle (naming ops on it), a tensor with two producers, a
  // negative or huge extent, a batch below 1, or an op with fewer inputs than its type needs.
  Graph build() &&;

 private:
  void annotate();

  std::string name_, file_;
  std::int64_t batch_;
  IdVector<OpId, Op> ops_;
  IdVector<TensorId, Tensor> tensors_;
};

}  // namespace strato
