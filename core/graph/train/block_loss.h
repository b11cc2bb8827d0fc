// The cross entropy that a training graph of many classes ends in: in blocks of classes
// (core/graph/ops/class_block_rules.h), so that a vocabulary can be divided (internal to
// core/graph/train).
#pragma once

#include "core/graph/build/graph_builder.h"

namespace strato {

// Of so many classes the blocks that they are reduced in; 1: they are too few, or do not divide.
std::int64_t class_blocks(std::int64_t classes);

// Adds the loss of these scores, whose classes are on the last axis, and the ops that make their
// gradient. Ops are named behind `name`.
void add_block_loss(GraphBuilder& builder, const std::string& name, TensorId scores,
                    TensorId labels, TensorId gradient);

}  // namespace strato
