// Attributes in digests of graphs and of their parts.
#pragma once

#include "core/base/digest.h"
#include "core/graph/value/graph.h"

namespace strato {

void hash_attribute(Hasher& hasher, const Attribute& attribute);

}  // namespace strato
