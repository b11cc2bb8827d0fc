// An op with its tensors at hand: how the catalogue's rules read an op. Reading what a malformed op
// lacks gives an empty tensor or an extent of 1, so that rules need no checks of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

// Axis counted from the front; negative ones count from the back. May be out of range.
inline int wrap_axis(std::int64_t axis, std::size_t rank) {
  return static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}
inline std::int64_t extent(const Shape& shape, std::int64_t axis) {
  const int wrapped = wrap_axis(axis, shape.size());
  const bool in_range = wrapped >= 0 && wrapped < static_cast<int>(shape.size());
  return in_range ? shape[static_cast<std::size_t>(wrapped)] : 1;
}
// Product of the extents of axes [first, last).
double product(const Shape& shape, std::size_t first = 0, std::size_t last = SIZE_MAX);
// Numpy's rule: aligned from the right, an extent of 1 stretches.
Shape broadcast_shape(const Shape& a, const Shape& b);

// Attributes in digests of graphs and of their parts.
void hash_attribute(Hasher& hasher, const Attribute& attribute);

class OpReader {
 public:
  OpReader(const Op& op, const IdVector<OpId, Op>& ops, const IdVector<TensorId, Tensor>& tensors)
      : op_(&op), ops_(&ops), tensors_(&tensors) {}
  OpReader(const Graph& graph, const Op& op) : OpReader(op, graph.ops(), graph.tensors()) {}

  const Op& op() const { return *op_; }
  const Op* operator->() const { return op_; }
  bool has_input(std::size_t i) const { return i < op_->inputs.size() && op_->inputs[i].valid(); }
  bool has_output(std::size_t i) const { return i < op_->outputs.size(); }
  std::size_t input_count() const { return op_->inputs.size(); }
  std::size_t output_count() const { return op_->outputs.size(); }
  const Tensor& input(std::size_t i) const;
  const Tensor& output(std::size_t i) const;
  const Shape& in(std::size_t i) const { return input(i).shape; }
  const Shape& out(std::size_t i = 0) const { return output(i).shape; }
  // Returns the elements of the output, or of the first input when there is none (losses, updates).
  double elements() const;

  int axis(std::string_view attribute, std::int64_t fallback, std::size_t rank) const {
    return wrap_axis(op_->integer(attribute, fallback), rank);
  }
  // An integer list that newer op sets give as an input and older ones as an attribute; nothing
  // when neither is there or the input is not a constant.
  std::optional<std::vector<std::int64_t>> list(std::string_view attribute,
                                                std::size_t input) const;
  std::optional<std::vector<std::int64_t>> constant(std::size_t input) const;

  // The forward op of a backward or update op; the op itself when it has none.
  OpReader forward() const;

 private:
  const Op* op_;
  const IdVector<OpId, Op>* ops_;
  const IdVector<TensorId, Tensor>* tensors_;
};

}  // namespace strato
