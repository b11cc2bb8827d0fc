// The batch-axis rules that the catalogue's tables are made of: how the axis that carries the
// samples goes through an op ("Batch axis" in graph.h). A rule sees inputs that are Whole or
// Batched, at least one of them Batched, and answers with the first output's layout, or nothing:
// not splittable.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/rules/op_rule.h"

namespace strato {

// One op as the analysis meets it.
class BatchFlow {
 public:
  struct Demand {  // `tensor` is Whole, but its slices along `axis` meet the samples'
    TensorId tensor;
    BatchLayout layout;
  };

  BatchFlow(OpReader op, std::int64_t batch);

  // The axis along which input i carries the batch, or -1.
  int axis(std::size_t i) const;
  // The batch on another axis, as the first Batched input has it otherwise.
  BatchLayout on(int axis) const { return {BatchKind::Batched, axis, blocks_}; }
  // Input i, when it holds anything but 1 along `axis`, must carry the batch there. When it does
  // not: notes the demand (the analysis may be able to meet it) and answers false.
  bool requires_batch(std::size_t i, int axis);
  // A layout for an output other than the first, which follows the first by default.
  void set(std::size_t output, BatchLayout layout) { others.emplace_back(output, layout); }

  OpReader op;
  std::int64_t batch;
  std::vector<Demand> demands;
  std::vector<std::pair<std::size_t, BatchLayout>> others;

 private:
  std::int64_t blocks_ = 1;
};

using BatchAnswer = std::optional<BatchLayout>;
inline BatchLayout partial() { return {BatchKind::Partial, -1}; }

// Elementwise with broadcasting.
BatchAnswer batch_aligned(BatchFlow& flow);

// The first input's axis stays where it is, unless the op mixes along it; other inputs are Whole.
using MixesAxis = std::function<bool(const OpReader&, int axis)>;
BatchRule batch_kept(MixesAxis mixes = nullptr);
bool mixes_all_but_first(const OpReader& op, int axis);  // samples on axis 0, as in convolutions
bool mixes_last_two(const OpReader& op, int axis);
// Mixes along the axis that the attribute names, or from that axis on.
MixesAxis mixes_along(std::string_view attribute, std::int64_t fallback);
MixesAxis mixes_from(std::string_view attribute, std::int64_t fallback);

// Index notation, "mk,kn->mn" without the commas: a letter per axis. Where the batch's letter is in
// an operand, that operand carries the batch; where it is not in the result, the result is a sum
// over it.
struct Letters {
  std::vector<std::string> operands;
  std::string result;
};
BatchAnswer batch_contracted(BatchFlow& flow, const Letters& letters);

// Keeps row-major order of the elements: the samples stay a factor of some axis, or get lost.
BatchAnswer batch_reshaped(BatchFlow& flow);

// Reduction over axes (attribute or second input; none: all of them). Over the batch: a sum when
// `sums`.
BatchRule batch_reduced(bool sums);
std::vector<int> reduced_axes(const OpReader& op);  // ascending, in range

}  // namespace strato
