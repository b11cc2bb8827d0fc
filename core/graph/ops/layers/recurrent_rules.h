// Recurrent layers, run as one fused op per layer as cuDNN does: a product per step and direction
// for the hidden state, one product for all inputs. What the backward pass needs again (cuDNN's
// reserve space: every gate and the cell state of every step) is a further output of the forward
// op.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules recurrent_rules();

}  // namespace strato
