// Shapes of ops that cut, fill up and stretch, as op sets 18 and later have them, which ONNX's own
// inference may not know. Empty where sizes depend on data. Internal to this room.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

TensorTypes split_shape(const OpReader& op);    // by sizes, or in so many parts
TensorTypes padded_shape(const OpReader& op);   // pads of all axes, or of those that are given
TensorTypes resized_shape(const OpReader& op);  // by factors, or to sizes
TensorTypes center_cropped_shape(const OpReader& op);

}  // namespace strato
