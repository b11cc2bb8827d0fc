// A transport reports with this that something which it asked of others failed.
#pragma once

#include <span>

#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/watch.h"

namespace strato::admission {

// Waits a moment until a death is known everywhere. Throws InputError naming the rank that died, or
// else those of `others` (this rank may be among them) that do not answer.
[[noreturn]] void throw_failure(const Meeting& meeting, const Watch& watch,
                                std::span<const int> others);

}  // namespace strato::admission
