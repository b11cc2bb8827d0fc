// A signature is what an op is known by in a profile.
#pragma once

#include <string>

#include "core/graph/value/graph.h"

namespace strato {

// "Conv{group=1,pads=1x1x1x1}(float32[B,64,56,56],float32[64,64,3,3])->(float32[B,64,56,56])". The
// extent that carries the batch is written relative to it: "B", or "12*B" where steps or heads are
// merged with the samples. Left out: real-valued attributes (they change values, not work) and
// those that the shapes repeat. Parameters and all other inputs are in it. ASCII.
std::string op_signature(const Graph& graph, OpId op);

// Tells whether the op's time depends on the number of samples: a tensor that it reads or writes
// carries the batch ("B" is in its signature). Others (updates, work on weights alone) are measured
// once, as one sample; their measurements count whatever their samples say.
bool follows_batch(const Graph& graph, OpId op);

}  // namespace strato
