// Ops in index notation (internal to core/graph): a letter for each axis of every input and output.
// Axes of one letter run together: what an op makes at index i of the letter needs no more than
// index i of what carries the letter. kMixed stands for an axis along which elements depend on each
// other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/op_reader.h"

namespace strato {

struct AxisLetters {
  static constexpr char kMixed = '.';
  std::vector<std::string> inputs, outputs;
};

// Returns the letters of a forward, loss or update op, or of a gradient op, whose letters follow
// from its forward op's: the gradient of a tensor has the tensor's. Nothing: they are not known, or
// never worth a split.
std::optional<AxisLetters> axis_letters(const OpReader& op);

}  // namespace strato
