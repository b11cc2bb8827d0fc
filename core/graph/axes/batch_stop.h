// Finds the work that cannot be divided by samples although there are several, and the op that is
// to blame: it reads samples, and what it makes no longer has them apart. Pure; safe from any
// thread.
#pragma once

#include <optional>
#include <string>

#include "core/graph/value/graph.h"

namespace strato {

struct BatchStop {
  OpId op;           // the first one on the way to most of that work
  double share = 0;  // of all FLOPs but those of updates, 0 to 1: what cannot be split for its sake
};

// Nothing: the batch is of one sample, or all work that follows from samples can be divided.
std::optional<BatchStop> batch_stop(const Graph& graph);

// '62 % of the work cannot be divided by samples: they are no longer apart behind op "x"
// (ScatterND)'. Empty: it is less than a tenth.
std::string describe_batch_stop(const Graph& graph);

}  // namespace strato
