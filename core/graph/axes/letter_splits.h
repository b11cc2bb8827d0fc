// Finds how an op is computed in equal parts along one letter of its axes (axis_letters.h): the
// columns of a matrix product, its rows, or what it sums over; the heads of an attention. This is
// what the role "tensor" of a mesh chooses from (Shoeybi et al. 2019, Megatron-LM, 3; GSPMD).
//
// It says more than split_axes(): outputs may be partial sums, and views are divided, too.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/axes/split_axes.h"

namespace strato {

constexpr int kAllOf = -1;   // of an input: each part needs all of it
constexpr int kSummed = -2;  // of an output: each part makes a partial sum of it
// Of an input, from here on: each part reads a partial sum of it, over the letter of its producer's
// letter_splits()[axis - kSumOver].
constexpr int kSumOver = 64;

// With n parts, n a divisor of `extent`, part i reads [i * E / n, (i + 1) * E / n) of each input
// along the named axis, whose extent is E, and makes the same slice of each output, or a partial
// sum of it. The partial sums of all parts add up to the output. Of a letter of the producer's the
// part is in the same proportion.
struct LetterSplit {
  char letter = 0;           // the forward op's; its gradient ops have the same. A view's: 'a' + i
  std::int64_t extent = 0;   // at least two; every axis named below is a multiple of it
  std::vector<int> inputs;   // by input: an axis, or kAllOf (also for one that is omitted)
  std::vector<int> outputs;  // by output: an axis, or kSummed. Of an update op, which has none: {}
  friend bool operator==(const LetterSplit&, const LetterSplit&) = default;
};

// Ascending by letter, then sums of sums: a sum of gradients (AddN), each of which its producer
// sums up over a letter, can be made of their partial sums, and is a partial sum then. That is how
// a transformer's q, k and v need one AllReduce backward. So can the cast of such a gradient.
// Empty: the op cannot be divided. Never along the axis of the batch. Ops are forward, loss,
// gradient and update ops, and views. A part of a gradient op reads its forward op's settings: of a
// letter that all outputs of the forward op carry, those of the forward op's part; of another
// letter (a mean's, a loss's, an expert's), those of the whole forward op. Parts of Dropout,
// look-ups, experts, causal attention and blocks of classes need to know which part they are. A
// table in which others look up is divided by its rows, too: each part makes what it finds, and
// zeros. Thread-safe, no state.
std::vector<LetterSplit> letter_splits(const Graph& graph, OpId op);

}  // namespace strato
