// The parts of its inputs and outputs that follow from a part of an op's index space, by the
// letters that it is divided along (core/graph/axes/letter_splits.h). Pure; safe from any thread.
//
// A part of an op names its samples, if it has not all, and of its first output (of an update: of
// its parameter) the slices; and where that is summed over a letter, the letter's own range
// (kSummedAxis).
#pragma once

#include <span>
#include <vector>

#include "core/graph/axes/letter_splits.h"
#include "core/strategy/value/part.h"

namespace strato {

struct OpLetter {
  LetterSplit split;
  std::int32_t ordinal = 0;  // among letter_splits()
  AxisRange range;           // of the letter's indices
};

// In the order of the part's cuts, and of the sum behind them. Empty: it is along no letter, or the
// op lacks one of them.
std::vector<OpLetter> letters_of(const Graph& graph, OpId op, const Part& part);

// Of `axes`, by input of the op, that of this one. A tensor that is read in two ways is needed as a
// whole: kAllOf.
int axis_read(const Op& op, std::span<const int> axes, TensorId input);

// By input and by output of the op; an invalid input has all.
std::vector<Part> parts_read(const Graph& graph, OpId op, const Part& part,
                             std::span<const OpLetter> letters);
std::vector<Part> parts_made(const Graph& graph, OpId op, const Part& part,
                             std::span<const OpLetter> letters);

// The part of what a view is a view of for a part of its output; and the other way round, through
// all views from one tensor to another.
Part part_viewed(const Graph& graph, OpId view, const Part& part);
Part part_in_view(const Graph& graph, TensorId tensor, TensorId view, const Part& part);

// The range of a part along an axis (kBatchAxis: in samples; from kSummedAxis on: of the letter
// that the tensor's producer sums over), also where it has all of it.
AxisRange range_along(const Graph& graph, TensorId tensor, const Part& part, int axis);

// These samples of a tensor, in its kind of the batch: all of it, some samples, or a partial sum.
Part samples_part(const Graph& graph, TensorId tensor, std::int32_t begin, std::int32_t end);

// A parameter that is updated: every device that holds it holds all of its samples' effect.
bool is_trained(const Graph& graph, TensorId tensor);

}  // namespace strato
