// Constant folding: a small interpreter for the ops that exporters use to compute shapes, masks and
// positions. It only ever answers when the answer is certain; an op that it does not fold stays in
// the graph. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <vector>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

// The node's outputs from its inputs (null: left out), or nothing. Accepts the attributes of older
// op sets and the inputs of newer ones alike.
std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs);

}  // namespace strato::onnx_import
