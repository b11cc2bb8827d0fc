// The training graph as train.py reads it. Include in .cpp files only.
#pragma once

#include "core/base/json.h"
#include "core/graph/graph.h"

namespace strato::pytorch_export {

// {"name": ..., "batch": 32, "training": true, "tensors": [...], "ops": [...]}: a tensor is an object
// with name, type, role and shape; batch_axis and blocks when it carries the samples; what it holds
// before the first step (initial: [kind, low, high]; data: a constant's elements, little endian, in
// base 64) when no op makes it. An op has name, type, inputs (-1: omitted), outputs, attributes and
// the number of its forward op.
Json graph_json(const Graph& graph);

}  // namespace strato::pytorch_export
