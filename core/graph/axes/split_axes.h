// Finds the axes, other than the batch, along which an op can be divided into parts that are
// computed on their own: the channels of a convolution, the columns of a matrix product, the heads
// of an attention (FastT 5.2: "parallelisable dimensions"; FlexFlow's attribute and parameter
// dimensions).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/graph/rules/axis_letters.h"

namespace strato {

constexpr std::int64_t kLongestSplit = std::numeric_limits<std::int32_t>::max() - 1;

bool is_batch_axis(const Tensor& tensor, int axis);

struct SplitAxis {
  int axis = 0;             // of the first output: the parts' outputs concatenate along it
  std::vector<int> inputs;  // by input: the axis of which a part needs its slice; -1: all of it
  friend bool operator==(const SplitAxis&, const SplitAxis&) = default;
};

// Ascending by axis; never the batch axis; empty: the op cannot be split. Extents are at least two,
// and no longer than programs can say (31 bits). Also of gradient ops (a convolution's weight
// gradient splits along its output channels), and of updates, where `axis` is the parameter's.
// Further outputs are divided as the first is, along the axis that stands for the same. Not views:
// they make nothing.
std::vector<SplitAxis> split_axes(const Graph& graph, OpId op);

// Returns the axis along which an output of an op is divided that is split along `axis` of its
// first output; -1: the op cannot be split so.
int split_output_axis(const Graph& graph, OpId op, std::size_t output, int axis);

// Returns the letters of a forward, loss or update op, or of a gradient op, whose letters follow
// from its forward op's: the gradient of a tensor has the tensor's. Nothing: they are not known, or
// never worth a split.
std::optional<AxisLetters> axis_letters(const OpReader& op);

}  // namespace strato
