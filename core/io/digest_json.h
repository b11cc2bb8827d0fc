// Digests in JSON files: 32 hexadecimal digits.
#pragma once

#include "core/base/digest.h"
#include "core/io/json.h"

namespace strato {

Digest read_digest(const JsonView& view);  // throws InputError with the place

}  // namespace strato
