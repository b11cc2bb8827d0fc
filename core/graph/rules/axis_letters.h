// Ops in index notation: a letter for each axis of every input and output. Axes of one letter run
// together: what an op makes at index i of the letter needs no more than index i of what carries
// the letter; what the result lacks is summed over, or reduced otherwise. Thread-safe, no state.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/op_reader.h"

namespace strato {

struct AxisLetters {
  static constexpr char kMixed = '.';  // an axis along which elements depend on each other
  static constexpr std::size_t kMostAxes = 26;
  std::vector<std::string> inputs, outputs;
};
// Nothing: the letters are not known, or never worth a split.
using AxesRule = std::function<std::optional<AxisLetters>(const OpReader&)>;

// "abcd", with kMixed where asked for.
std::string letters_of(std::size_t rank, const std::function<bool(int axis)>& is_mixed = nullptr);
// All of every input is needed.
AxisLetters all_mixed(const OpReader& op);
// Sets the first output, which is made where an op has none (yet), and those with as many axes.
void set_outputs(AxisLetters& letters, const std::string& first);

// Numpy's broadcasting: aligned from the right.
std::optional<AxisLetters> aligned_axes(const OpReader& op);

// The output is like the first `inputs` inputs, unless the op mixes along the axis.
using MixesAxis = std::function<bool(const OpReader&, int axis)>;
AxesRule kept_axes(MixesAxis mixes = nullptr, std::size_t inputs = 1);

// Products of tensors, "mk,kn->mn"; outer axes align from the right: "ABmk,ABkn->ABmn". With the
// transA and transB of com.microsoft's FusedMatMul. `second`: which input it is.
AxisLetters matmul_axes(const OpReader& op, std::size_t second = 1);
AxisLetters gemm_axes(const OpReader& op);  // the bias is the last input
// "bij,bjk->bik"; an equation without "->" keeps the letters that occur once, ascending. An
// ellipsis counts as mixed axes.
AxisLetters einsum_axes(const OpReader& op);

// The extent that a letter stands for in the inputs: an extent of 1 stretches.
std::int64_t letter_extent(const OpReader& op, const AxisLetters& letters, char letter);

}  // namespace strato
