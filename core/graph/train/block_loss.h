// The cross entropy that a training graph of many classes ends in: in blocks of classes
// (core/graph/ops/class_block_rules.h), so that a vocabulary can be divided (internal to
// core/graph/train).
#pragma once

#include "core/graph/build/graph_builder.h"

namespace strato {

// Are there so many classes that it pays to reduce them apart from the loss?
bool has_block_loss(std::int64_t classes);

// Adds the loss of these scores, whose classes are on the last axis, and the ops that make their
// gradient. Ops are named behind `name`.
void add_block_loss(GraphBuilder& builder, const std::string& name, TensorId scores,
                    TensorId labels, TensorId gradient);

}  // namespace strato
