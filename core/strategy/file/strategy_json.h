// The parts of a strategy as JSON, shared by strategy and plan files. Private to this folder.
#pragma once

#include "core/io/json.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {

// Adds "bucket_bytes" and "order", where the strategy has them, and "groups" to the file's root.
void add_strategy(Json& root, const NamedStrategy& strategy);
NamedStrategy strategy_from_json(const JsonView& root);

}  // namespace strato
