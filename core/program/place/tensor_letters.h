// Chooses what the columns of a mesh divide: for each op of a region the letter along which the
// columns compute it in equal parts (core/graph/axes/letter_splits.h), so that computing and
// resharding cost least. On a transformer's block that is the tensor parallelism of Megatron-LM
// (Shoeybi et al. 2019, 3); as a search over layouts by dataflow it is that of Alpa's intra-op
// pass (Zheng et al. 2022, 4.2), with variable elimination (min_sum.h) in place of an integer
// program.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/graph/axes/letter_splits.h"

namespace strato {

// What columns compute of an op: an index into its letter_splits(), or kWholeOp: each computes all.
using ColumnChoice = std::int32_t;
constexpr ColumnChoice kWholeOp = -1;

struct ColumnCosts {
  std::function<Nanos(OpId)> compute;  // of a whole row's samples; a part takes 1 / columns of it
  // Of the row's part of the tensor, among its columns.
  std::function<Nanos(TensorId)> all_reduce, all_gather, reduce_scatter, all_to_all;
  // May be null. What it costs that an op of the region needs all of a parameter, once for each
  // parameter (memory, the rows' longer all-reduce of its gradient). Null: nothing.
  std::function<Nanos(TensorId)> whole_parameter = nullptr;
  // May be null: all that the columns divide evenly. May they divide this letter of the op?
  std::function<bool(OpId, const LetterSplit&)> may_divide = nullptr;
  // May be null: of all. Are the partial sums that this sum reads of its own samples, on its mesh?
  std::function<bool(OpId)> reads_its_samples = nullptr;
};

// Returns a choice for each op of `region` (ascending ids; ops of all phases alike).
//
// - A letter is usable if `columns` divides its extent. What an op makes stands as a copy on every
//   column, as slices along an axis, or as partial sums. A reader that needs a copy pays an
//   all-gather of slices and an all-reduce of sums; one that needs slices pays an all-to-all of
//   slices along another axis and a reduce-scatter of sums, and takes its slice of a copy for
//   nothing. Each (tensor, need) is paid once, however many readers have it. Readers outside of the
//   region need a copy. What comes from outside costs nothing in any need, nor do parameters,
//   constants and optimizer state, which are kept as they are needed (but see whole_parameter). A
//   result that nothing reads stays as it is. Views cost no computation.
// - Forward and loss ops are decided, and sums of gradients (AddN), which may be sums of partial
//   sums: those of just the letters that its producers sum over here. A gradient op follows its
//   forward op: it has the same letter, if it has it. All other ops (updates) follow what they are
//   given: they take the letter that their first input from the region is divided along.
// - The choice costs least of all; of such choices it is one that divides the fewest of the ops
//   that are decided, so that a copy is preferred where slices (a sequence split between a
//   reduce-scatter and an all-gather) gain nothing. Of equals the lower index is taken. The choice
//   is deterministic.
// - Two things are not exact, to bound time and memory: a tensor whose readers' choices have too
//   many combinations is paid by each reader for itself, and of a region whose tensors tangle too
//   much some ops are decided early (min_sum.h).
// Thread-safe if the costs are.
std::vector<ColumnChoice> choose_columns(const Graph& graph, std::span<const OpId> region,
                                         int columns, const ColumnCosts& costs);

}  // namespace strato
