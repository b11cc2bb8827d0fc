// Checkpoints of `gdp` that versions before the archive of tensors wrote.
#pragma once

#include <string>
#include <string_view>

#include "plugins/planners/learned/kit/training/checkpoint.h"

namespace strato::gdp {

// Throws InputError.
learned::Checkpoint read_old_checkpoint(std::string_view bytes, const std::string& file);

}  // namespace strato::gdp
