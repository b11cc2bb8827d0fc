// Element types as NCCL names them.
#pragma once

#include <nccl.h>

#include "core/graph/value/graph.h"

namespace strato::nccl_transport {

// Throws InputError for a type that NCCL does not sum (Bool, I16).
ncclDataType_t sum_type_of(DataType type);

}  // namespace strato::nccl_transport
