// Reading and writing by index: embeddings, gathers, scatters, top-k.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules indexing_rules();

}  // namespace strato
