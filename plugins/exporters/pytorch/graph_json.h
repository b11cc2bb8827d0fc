// The training graph as train.py reads it. Include in .cpp files only.
#pragma once

#include "core/graph/value/graph.h"
#include "core/io/json.h"

namespace strato::pytorch_export {

// {"name": ..., "batch": 32, "training": true, "tensors": [...], "ops": [...]}: a tensor is an
// object with name, type, role and shape; batch_axis and blocks when it carries the samples; what
// it holds before the first step (initial: [kind, low, high]; data: a constant's elements, little
// endian, in base 64) when no op makes it. An op has name, type, inputs (-1: omitted), outputs,
// attributes and the number of its forward op.
Json graph_json(const Graph& graph);

// Ids as numbers; -1: nothing.
template <class Ids>
Json numbers_of(const Ids& ids) {
  Json json = Json::array();
  for (const auto id : ids) json.push_back(id.value());
  return json;
}

}  // namespace strato::pytorch_export
