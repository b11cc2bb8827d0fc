// Views: other shapes of the same bytes. No work, no memory; their gradients are views too.
#pragma once

#include "core/graph/rules/op_rule.h"

namespace strato {

OpRules view_rules();

}  // namespace strato
